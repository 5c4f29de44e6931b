//! `pgsurge man`: the manual pages, made from the same tables as the help texts.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, Parser};
use clap_mangen::Man;
use thiserror::Error;

use super::help;

/// Write the manual pages, one a subcommand
#[derive(Clone, Debug, Parser)]
#[command(
    name = "man",
    display_name = "pgsurge-man",
    bin_name = "pgsurge man",
    version = super::version::number()
)]
pub struct ManArgs {
    /// folder of the pages; made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// A page cannot be written.
#[derive(Debug, Error)]
#[error("cannot write {}", path.display())]
pub struct ManError {
    path: PathBuf,
    #[source]
    error: io::Error,
}

/// What the codes mean that a script sees.
const EXIT_STATUS: [(&str, &str); 6] = [
    ("0", "Done, and the verdict is valid."),
    ("1", "Wrong usage, or something failed before the start."),
    ("2", "A client did not finish."),
    ("3", "The run finished, but its verdict is invalid."),
    ("4", "An expectation was missed (\\-\\-fail\\-if, \\-\\-fail\\-on\\-regression)."),
    ("130", "Interrupted; what was measured until then is reported."),
];

/// Writes `pgsurge.1` and a page for each subcommand; returns how many.
///
/// # Errors
/// The folder or a page cannot be written.
pub fn write(args: &ManArgs) -> Result<usize, ManError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| ManError { path, error }
    };
    fs::create_dir_all(&args.folder).map_err(failed(&args.folder))?;
    let pages = pages();
    for page in &pages {
        let man = Man::new(page.clone());
        let path = args.folder.join(man.get_filename());
        let text = render(&man).map_err(failed(&path))?;
        fs::write(&path, text).map_err(failed(&path))?;
    }
    Ok(pages.len())
}

/// The program and its subcommands, each as a page of its own.
fn pages() -> Vec<Command> {
    let mut program = help::program();
    program.build();
    let subcommands = program.get_subcommands().filter(|sub| sub.get_name() != "help");
    let mut pages = subcommands.cloned().collect::<Vec<_>>();
    pages.insert(0, program);
    pages
}

fn render(man: &Man) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render(&mut page)?;
    writeln!(page, ".SH \"EXIT STATUS\"")?;
    for (code, meaning) in EXIT_STATUS {
        writeln!(page, ".TP\n{code}\n{meaning}")?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_subcommand_has_a_page_with_its_options() {
        let folder = tempfile::tempdir().unwrap();
        let count = write(&ManArgs { folder: folder.path().to_owned() }).unwrap();
        assert_eq!(count, fs::read_dir(folder.path()).unwrap().count());
        for (page, word) in [
            ("pgsurge.1", "pgsurge\\-capacity(1)"),
            ("pgsurge-run.1", "\\-\\-agents"),
            ("pgsurge-agent.1", "\\-\\-give\\-up\\-after"),
            ("pgsurge-init.1", "EXIT STATUS"),
        ] {
            let text = fs::read_to_string(folder.path().join(page)).unwrap();
            assert!(text.contains(word), "{page}: {text}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let error = write(&ManArgs { folder: "/dev/null/man".into() }).unwrap_err();
        assert_eq!(error.to_string(), "cannot write /dev/null/man");
    }
}
