//! The programs that a case goes through, and what each run of them leaves.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::case::Case;
use crate::cluster::{Cluster, pgsurge};
use crate::postgres::Postgres;
use crate::process::{Finished, Running};

/// Far beyond what any case takes.
const PATIENCE: Duration = Duration::from_secs(90);

/// The seed of cases that name none; that it is told is no part of them.
pub const SEED: &str = "4242";

/// Who executes a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// pgbench of the server's version.
    Pgbench,
    /// pgsurge in one process.
    Local,
    /// pgsurge with two agents.
    Cluster,
}

impl Side {
    /// As failures call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pgbench => "pgbench",
            Self::Local => "pgsurge",
            Self::Cluster => "cluster",
        }
    }
}

/// Where a run happens.
#[derive(Debug)]
pub struct Place<'a> {
    /// The server.
    pub server: &'a Postgres,
    /// A database with pgbench's tables that nobody else uses.
    pub database: &'a str,
    /// Agents, for the side that needs them.
    pub cluster: Option<&'a Cluster>,
}

/// What a run left.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Exit and output.
    pub finished: Finished,
    /// Answer to the case's query.
    pub check: Vec<String>,
    /// Names and contents of log files.
    pub logs: Vec<(String, String)>,
    /// Under which name the server knows the run's sessions.
    pub application: String,
}

/// Runs one command line of a case on one side.
///
/// # Panics
/// If the set-up fails or the run does not end.
#[must_use]
pub fn run(case: &Case, line: usize, side: Side, place: &Place<'_>) -> Outcome {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    for file in &case.files {
        let path = folder.path().join(&file.name);
        std::fs::write(&path, &file.text).expect("the folder can be written");
    }
    for sql in &case.setup {
        let _ = place.server.query_in(place.database, sql);
    }
    let application = format!("{}.{line}.{}", case.id, side.name());
    let mut command = command(side, place);
    let words = &case.options[line];
    if side != Side::Pgbench && !words.iter().any(|word| word == "-i" || word == "--initialize") {
        command.args(own_options(side, place));
    }
    command.args(words).current_dir(folder.path());
    if !words.iter().any(|word| word.starts_with("--random-seed") || word == "-i") {
        command.env("PGBENCH_RANDOM_SEED", SEED);
    }
    command.env("PGAPPNAME", &application).env("PGDATABASE", place.database);
    command.envs(case.env.iter().map(|(name, value)| (name, value)));
    let input = match &case.stdin {
        Some(name) => File::open(folder.path().join(name)).expect("a file of the case").into(),
        None => Stdio::null(),
    };
    let finished = Running::start_with_input(&application, &mut command, input).wait(PATIENCE);
    let check = match &case.check {
        Some(sql) => rows(place, sql),
        None => Vec::new(),
    };
    let logs = case.logs.as_deref().map(|prefix| logs(folder.path(), prefix)).unwrap_or_default();
    Outcome { finished, check, logs, application }
}

fn command(side: Side, place: &Place<'_>) -> Command {
    let server = place.server;
    if side == Side::Pgbench {
        return server.command("pgbench");
    }
    let mut command = pgsurge::<&str>(&[]);
    command.env("PGHOST", "127.0.0.1").env("PGPORT", server.port().to_string());
    command.env("PGUSER", "postgres");
    command
}

/// What pgsurge is told beyond the command line of the case.
fn own_options(side: Side, place: &Place<'_>) -> Vec<String> {
    let mut options = vec!["--no-results".to_owned()];
    if side == Side::Cluster {
        let listen = place.cluster.expect("the side needs a cluster").listen().to_string();
        options.extend(["--agents", "2", "--listen", &listen].map(str::to_owned));
    }
    options
}

fn rows(place: &Place<'_>, sql: &str) -> Vec<String> {
    let rows = match place.server.try_query_in(place.database, sql) {
        Ok(rows) => rows,
        Err(error) => return vec![error],
    };
    let value = |value: Option<String>| value.unwrap_or_else(|| "NULL".to_owned());
    rows.into_iter().map(|row| row.into_iter().map(value).collect::<Vec<_>>().join("|")).collect()
}

fn logs(folder: &Path, prefix: &str) -> Vec<(String, String)> {
    let mut logs: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let text = std::fs::read_to_string(entry.path()).ok()?;
            name.starts_with(prefix).then_some((name, text))
        })
        .collect();
    logs.sort();
    logs
}
