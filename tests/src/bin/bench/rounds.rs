//! Running the tools in turns and taking their figures.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pgsurge_tests::cluster;
use pgsurge_tests::pgbouncer::{PASSWORD, PgBouncer, Pooling};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{self, Running};
use pgsurge_tests::program::beside_this_test;
use pgsurge_tests::usage::{self, Usage};
use serde::Serialize;

use super::cases::{Case, Place, Work};

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
    /// How much of one core the pooler used meanwhile, where there is one.
    pub pooler_cores: Option<f64>,
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
    pooler: PgBouncer,
    folder: tempfile::TempDir,
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
        let pooler = PgBouncer::start(&server, &Pooling::transaction().auth("scram-sha-256"));
        let folder = tempfile::tempdir().expect("there is room for files");
        let mut fake = process::command(beside_this_test("pgsurge-fake-server"));
        let fake = Running::start_with_input("fake server", &mut fake, Stdio::piped());
        let address = fake.wait_for_stdout("listening on", Duration::from_secs(10));
        let fake_port = address.rsplit(':').next().unwrap_or_default().to_owned();
        Self { server, fake, fake_port, pooler, folder, tools, seconds, over_tcp }
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
        let pooler = || usage::processor_time(self.pooler.pid()).expect("the pooler is running");
        let (began, pooler_before) = (Instant::now(), pooler());
        let usage = usage::of(&format!("{tool:?}"), &mut command, deadline);
        let pooler_cores = (pooler() - pooler_before) / began.elapsed().as_secs_f64();
        let said = &usage.finished;
        assert_eq!(said.code(), Some(0), "{tool:?}, {}\n{said}", case.name);
        let pooler_cores = (case.place == Place::Pooler).then_some(pooler_cores);
        Figures { pooler_cores, ..read(&usage, case) }
    }

    fn command(&self, case: &Case, tool: Tool) -> Command {
        let mut command = match tool {
            Tool::Pgsurge => cluster::pgsurge(&["run", "--no-results"]),
            Tool::Pgbench15 => self.server.command_from(Version::V15, "pgbench"),
            Tool::Pgbench18 => self.server.command_from(Version::V18, "pgbench"),
        };
        let port = match case.place {
            Place::Server => self.server.port().to_string(),
            Place::Pooler => self.pooler.port().to_string(),
            Place::FakeServer => self.fake_port.clone(),
        };
        command.args(["-U", "postgres", "-p", &port, "-n", "-j", "1", "-h"]);
        if self.over_tcp || case.place != Place::Server {
            command.arg("127.0.0.1").env("PGPASSWORD", PASSWORD);
        } else {
            command.arg(self.server.socket_dir());
        }
        let (option, amount) = match case.work {
            Work::Time => ("-T", self.seconds),
            Work::Transactions(each_second) => ("-t", each_second * self.seconds),
        };
        command.args(["-c", &case.clients.to_string(), option, &amount.to_string()]);
        command.args(case.options);
        if let Some(script) = case.script {
            command.arg("-f").arg(self.file(script));
        }
        command.arg("postgres");
        command
    }

    fn file(&self, script: &str) -> PathBuf {
        let path = self.folder.path().join("script.sql");
        fs::write(&path, script).expect("there is room for a script");
        path
    }
}

/// Takes the figures out of a report, which is the same for all tools.
fn read(usage: &Usage, case: &Case) -> Figures {
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
        connect_ms: number(if case.options.contains(&"-C") {
            "average connection time = "
        } else {
            "initial connection time = "
        }),
        memory_kib: usage.peak_kib as f64,
        pooler_cores: None,
    }
}
