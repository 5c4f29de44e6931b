//! Running either program with the same arguments.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::parallel::LANES;
use super::said::Said;
use crate::cluster;
use crate::generate::{DEFINES, TABLE};
use crate::postgres::{Postgres, Version};
use crate::process::{Running, let_pass};

/// A run that has not ended by then hangs, which is an answer too.
const PATIENCE: Duration = Duration::from_secs(20);

/// Steps of shrinking unless another number is asked for.
const SHRINKS: u32 = 150;

/// Differences of one comparison that are made smaller.
const SHRUNK: usize = 3;

/// The two programs, and the server that both talk to.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    server: &'a Postgres,
    database: usize,
    shrinks: u32,
}

/// Which program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The judge.
    Pgbench,
    /// The judged.
    Pgsurge,
}

/// One run of one program.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The folder with the scripts, for both programs to name them alike.
    pub folder: &'a Path,
    /// Options and scripts.
    pub arguments: &'a [String],
    /// `application_name` of the sessions.
    pub name: &'a str,
    /// Port on 127.0.0.1, if not that of the real server.
    pub port: Option<u16>,
}

impl<'a> Tools<'a> {
    /// pgbench of the server's version, and pgsurge; makes the databases for all lanes.
    ///
    /// # Panics
    /// If the server does not make them.
    #[must_use]
    pub fn new(server: &'a Postgres) -> Self {
        for lane in 0..LANES {
            server.execute(&format!("create database lane{lane}"));
            let table = server.try_query_in(&format!("lane{lane}"), TABLE);
            table.unwrap_or_else(|error| panic!("{TABLE}: {error}"));
        }
        Self { server, database: 0, shrinks: SHRINKS }
    }

    /// The same with another number of steps towards the smallest case of a difference; each step is a run of
    /// either program.
    #[must_use]
    pub fn shrinking(self, shrinks: u32) -> Self {
        Self { shrinks, ..self }
    }

    /// Steps towards the smallest case of the difference with this number: the first ones are worth it.
    #[must_use]
    pub(super) fn shrinks(&self, number: usize) -> u32 {
        if number < SHRUNK { self.shrinks } else { 0 }
    }

    /// The same for another lane.
    #[must_use]
    pub(super) fn lane(self, lane: usize) -> Self {
        Self { database: lane, ..self }
    }

    /// The server.
    #[must_use]
    pub(super) fn server(&self) -> &'a Postgres {
        self.server
    }

    /// The major version of pgbench and server.
    #[must_use]
    pub fn version(&self) -> Version {
        self.server.version()
    }

    /// Runs one program to its end.
    #[must_use]
    pub(super) fn run(&self, tool: Tool, call: &Call<'_>) -> Said {
        let mut command = match tool {
            Tool::Pgbench => self.server.command("pgbench"),
            Tool::Pgsurge => cluster::pgsurge(&["run", "--no-results"]),
        };
        let port = call.port.unwrap_or(self.server.port()).to_string();
        command.args(["-h", "127.0.0.1", "-p", &port, "-U", "postgres"]);
        command.args(call.arguments).arg(format!("lane{}", self.database));
        command.env("PGAPPNAME", call.name).current_dir(call.folder);
        Said::new(&finish(&mut command), self.version())
    }
}

/// Exit code, stdout and stderr; no exit code if it had to be killed.
fn finish(command: &mut Command) -> (Option<i32>, String, String) {
    let mut running = Running::start("a compared program", command);
    let until = Instant::now() + PATIENCE;
    while !running.has_ended() {
        if Instant::now() > until {
            return (None, running.stdout(), running.stderr() + "(it did not end)\n");
        }
        let_pass(Duration::from_millis(2));
    }
    let finished = running.wait(PATIENCE);
    (finished.code(), finished.stdout, finished.stderr)
}

/// `-D` for every variable of the generated texts.
pub fn defines() -> impl Iterator<Item = String> {
    DEFINES.iter().flat_map(|(name, value)| ["-D".to_owned(), format!("{name}={value}")])
}
