//! Running the tools in turns and taking their figures.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pgsurge_tests::cluster;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{self, Running};
use pgsurge_tests::program::beside_this_test;
use pgsurge_tests::usage::{self, Usage};
use serde::Serialize;

use super::cases::{Case, Work};

const SCALE: &str = "10";

/// A run that takes so much longer than it should has gone wrong.
const GRACE: Duration = Duration::from_secs(300);

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// This project's.
    Pgsurge,
    /// Debian's.
    Pgbench15,
    /// The wheel's.
    Pgbench18,
}

/// The figures of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Processor time of the whole process for each transaction.
    pub cpu_us: f64,
    /// The part of it in user mode.
    pub user_us: f64,
    /// Transactions per second as the tool says.
    pub tps: f64,
    /// Time to open all connections as the tool says.
    pub connect_ms: f64,
    /// Peak memory of the process.
    pub memory_kib: f64,
}

/// All rounds of one case.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// What was run.
    pub name: &'static str,
    /// For each tool the figures of each round.
    pub tools: Vec<(Tool, Vec<Figures>)>,
    #[serde(skip)]
    pub case: &'static Case,
}

/// Servers that are the same for all cases.
pub struct Bench {
    server: Postgres,
    fake: Running,
    fake_port: String,
    script: PathBuf,
    _folder: tempfile::TempDir,
    tools: Vec<Tool>,
    seconds: u32,
    over_tcp: bool,
}

/// What is chosen for all cases.
pub struct Choice {
    /// Major version of the server.
    pub server: u32,
    /// Who takes part.
    pub tools: Vec<Tool>,
    /// Length of a run.
    pub seconds: u32,
    /// By TCP, not by the unix socket.
    pub over_tcp: bool,
}

impl Bench {
    /// Starts the servers and fills the tables.
    pub fn start(choice: Choice) -> Self {
        let Choice { server, tools, seconds, over_tcp } = choice;
        let version = Version::ALL.into_iter().find(|v| v.major() == server);
        let version = version.expect("the server is 15 or 18");
        let settings = Settings::new().connections(1050).set("shared_buffers", "256MB");
        let server = Postgres::start(version, &settings);
        let mut init = server.command("pgbench");
        let filled = init.args(["-i", "-q", "-s", SCALE]).stderr(Stdio::null()).status();
        assert!(filled.expect("pgbench starts").success(), "pgbench -i failed");
        let folder = tempfile::tempdir().expect("there is room for a file");
        let script = folder.path().join("ceiling.sql");
        fs::write(&script, "SELECT :client_id;\n").expect("there is room for a script");
        let mut fake = process::command(beside_this_test("pgsurge-fake-server"));
        let fake = Running::start_with_input("fake server", &mut fake, Stdio::piped());
        let address = fake.wait_for_stdout("listening on", Duration::from_secs(10));
        let fake_port = address.rsplit(':').next().unwrap_or_default().to_owned();
        Self { server, fake, fake_port, script, _folder: folder, tools, seconds, over_tcp }
    }

    /// Runs a case in turns; who begins changes from round to round.
    pub fn rounds(&self, case: &'static Case, rounds: u32) -> Outcome {
        let mut tools: Vec<(Tool, Vec<Figures>)> =
            self.tools.iter().map(|tool| (*tool, Vec::new())).collect();
        for round in 0..rounds {
            let mut order: Vec<usize> = (0..tools.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for index in order {
                let figures = self.figures(case, tools[index].0);
                tools[index].1.push(figures);
            }
        }
        Outcome { name: case.name, tools, case }
    }

    fn figures(&self, case: &Case, tool: Tool) -> Figures {
        assert!(!self.fake.stdout().contains("Counts"), "the fake server has ended");
        let mut command = self.command(case, tool);
        let deadline = Duration::from_secs(u64::from(self.seconds)) + GRACE;
        let usage = usage::of(&format!("{tool:?}"), &mut command, deadline);
        let said = &usage.finished;
        assert_eq!(said.code(), Some(0), "{tool:?}, {}\n{said}", case.name);
        read(&usage)
    }

    fn command(&self, case: &Case, tool: Tool) -> Command {
        let mut command = match tool {
            Tool::Pgsurge => cluster::pgsurge(&["run", "--no-results"]),
            Tool::Pgbench15 => self.server.command_from(Version::V15, "pgbench"),
            Tool::Pgbench18 => self.server.command_from(Version::V18, "pgbench"),
        };
        let port = self.server.port().to_string();
        let port = if case.is_ceiling { &self.fake_port } else { &port };
        command.args(["-U", "postgres", "-p", port, "-n", "-j", "1", "-h"]);
        if self.over_tcp || case.is_ceiling {
            command.arg("127.0.0.1");
        } else {
            command.arg(self.server.socket_dir());
        }
        let (option, amount) = match case.work {
            Work::Time => ("-T", self.seconds),
            Work::Transactions(each_second) => ("-t", each_second * self.seconds),
        };
        command.args(["-c", &case.clients.to_string(), option, &amount.to_string()]);
        command.args(case.options);
        if case.is_ceiling {
            command.arg(&self.script);
        }
        command.arg("postgres");
        command
    }
}

/// Takes the figures out of a report, which is the same for all tools.
fn read(usage: &Usage) -> Figures {
    let report = &usage.finished.stdout;
    let number = |before: &str| -> f64 {
        let line = report.lines().find_map(|line| line.strip_prefix(before));
        let digits = |c: char| c.is_ascii_digit() || c == '.';
        let number = line.map(|rest| rest.split(|c| !digits(c)).next().unwrap_or_default());
        let number = number.and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("no {before:?} in the report:\n{}", usage.finished))
    };
    let transactions = number("number of transactions actually processed: ");
    let per_transaction_us = |seconds: f64| seconds * 1e6 / transactions;
    Figures {
        cpu_us: per_transaction_us(usage.cpu_s),
        user_us: per_transaction_us(usage.user_s),
        tps: number("tps = "),
        connect_ms: number("initial connection time = "),
        memory_kib: usage.peak_kib as f64,
    }
}
