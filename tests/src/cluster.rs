//! pgsurge as its users run it: agents and runs as processes, reports as what they print and leave.
//!
//! Knows the command line and the names in the results folder, nothing of the code behind them.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::process::{self, Finished, Running};
use crate::program;

/// An address of this machine on which nobody listened a moment ago.
///
/// # Panics
/// If no port is free.
#[must_use]
pub fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener.local_addr().expect("a listener has an address")
}

/// `pgsurge` with arguments, and without any setting of the caller's environment.
#[must_use]
pub fn pgsurge<S: AsRef<str>>(arguments: &[S]) -> Command {
    prepare(process::command(program::pgsurge()), arguments)
}

/// Adds arguments to a command that already names the program, for example on a host of its own.
#[must_use]
pub fn prepare<S: AsRef<str>>(mut command: Command, arguments: &[S]) -> Command {
    for (name, _) in std::env::vars_os() {
        // Those of libpq and pgbench, and pgsurge's own.
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    command.args(arguments.iter().map(AsRef::as_ref));
    command
}

/// Agents of one coordinator address; they serve one run after another and end with this handle.
#[derive(Debug)]
pub struct Cluster {
    listen: SocketAddr,
    agents: Vec<Running>,
}

impl Cluster {
    /// Starts agents `a1`, `a2`, ... that dial a free address of this machine.
    #[must_use]
    pub fn start(agents: usize) -> Self {
        let mut cluster = Self::at(free_address());
        for number in 1..=agents {
            let command = pgsurge(&cluster.agent_arguments(&format!("a{number}")));
            cluster.add(command);
        }
        cluster
    }

    /// A cluster without agents yet, whose coordinator is to listen on an address.
    #[must_use]
    pub fn at(listen: SocketAddr) -> Self {
        Self { listen, agents: Vec::new() }
    }

    /// Where the coordinator is to listen.
    #[must_use]
    pub fn listen(&self) -> SocketAddr {
        self.listen
    }

    /// Arguments of an agent of this cluster.
    #[must_use]
    pub fn agent_arguments(&self, name: &str) -> Vec<String> {
        let words = ["agent", "--coordinator", &self.listen.to_string(), "--name", name];
        words.map(str::to_owned).to_vec()
    }

    /// Starts one more agent with a command of its own.
    pub fn add(&mut self, mut command: Command) {
        let name = format!("agent {}", self.agents.len() + 1);
        self.agents.push(Running::start(name, &mut command));
    }

    /// An agent, counted from 0.
    ///
    /// # Panics
    /// If there are not that many.
    #[must_use]
    pub fn agent(&self, index: usize) -> &Running {
        &self.agents[index]
    }

    /// Takes an agent out, to wait for its end.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn take(&mut self, index: usize) -> Running {
        self.agents.remove(index)
    }

    /// A run over all agents there are, with arguments of pgbench's kind.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Run {
        let (agents, listen) = (self.agents.len().to_string(), self.listen.to_string());
        let mut run = Run::local(arguments);
        run.command.args(["--agents", &agents, "--listen", &listen]);
        run
    }
}

/// A run that is not started yet; its results go to a folder of its own.
#[derive(Debug)]
pub struct Run {
    /// The command as far as it is known; arguments and environment can be added.
    pub command: Command,
    results: tempfile::TempDir,
}

impl Run {
    /// A run of the agent inside the coordinator's process.
    #[must_use]
    pub fn local(arguments: &[&str]) -> Self {
        Self::with(pgsurge::<&str>(&[]), arguments)
    }

    /// A run by a command that already names the program.
    ///
    /// # Panics
    /// If there is no room for a folder.
    #[must_use]
    pub fn with(command: Command, arguments: &[&str]) -> Self {
        let results = tempfile::Builder::new().prefix("pgsurge-results-").tempdir();
        let results = results.expect("there is room for results");
        let mut command = prepare(command, &["run", "--results"]);
        // A folder that is not there yet, as a user would name it.
        command.arg(results.path().join("run")).args(arguments);
        Self { command, results }
    }

    /// Starts it.
    #[must_use]
    pub fn start(mut self) -> InProgress {
        InProgress { process: Running::start("run", &mut self.command), results: self.results }
    }

    /// Starts it and waits for its end.
    #[must_use]
    #[track_caller]
    pub fn finish(self, deadline: Duration) -> Report {
        self.start().finish(deadline)
    }
}

/// A run that has been started.
#[derive(Debug)]
pub struct InProgress {
    /// The coordinator.
    pub process: Running,
    results: tempfile::TempDir,
}

impl InProgress {
    /// Where its results will be.
    #[must_use]
    pub fn folder(&self) -> std::path::PathBuf {
        self.results.path().join("run")
    }

    /// Where they are until then.
    #[must_use]
    pub fn partial_folder(&self) -> std::path::PathBuf {
        self.results.path().join("run.partial")
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// If it has not ended at the deadline.
    #[must_use]
    #[track_caller]
    pub fn finish(self, deadline: Duration) -> Report {
        Report { finished: self.process.wait(deadline), results: self.results }
    }
}

/// One column of an `intervals.csv`, of the measured part only; a row that is not whole yet is left out.
///
/// # Panics
/// If there is no such column.
#[must_use]
#[track_caller]
pub fn measured(table: &str, name: &str) -> Vec<String> {
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let index = |name: &str| {
        let found = header.iter().position(|column| *column == name);
        found.unwrap_or_else(|| panic!("no column {name} in {header:?}"))
    };
    let (phase, index) = (index("phase"), index(name));
    let whole = lines.filter(|line| line.len() == header.len());
    let measured = whole.filter(|line| line[phase] == "measure");
    measured.map(|line| line[index].to_owned()).collect()
}

/// What a run printed and left.
#[derive(Debug)]
pub struct Report {
    /// The coordinator's end and output.
    pub finished: Finished,
    results: tempfile::TempDir,
}

impl Report {
    /// The same, if the exit code is the expected one.
    ///
    /// # Panics
    /// If it is another, with everything that was said.
    #[must_use]
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        let finished = self.finished.expect_code(code);
        Self { finished, ..self }
    }

    /// The results folder.
    #[must_use]
    pub fn folder(&self) -> std::path::PathBuf {
        self.results.path().join("run")
    }

    /// `summary.json`.
    ///
    /// # Panics
    /// If it is missing or not JSON.
    #[must_use]
    #[track_caller]
    pub fn summary(&self) -> Value {
        serde_json::from_str(&self.text("summary.json")).expect("the summary is JSON")
    }

    /// A figure of the summary by its JSON pointer, such as `/totals/tps`.
    ///
    /// # Panics
    /// If it is not there or not a number.
    #[must_use]
    #[track_caller]
    pub fn figure(&self, pointer: &str) -> f64 {
        let summary = self.summary();
        let value = summary.pointer(pointer).and_then(Value::as_f64);
        value.unwrap_or_else(|| panic!("no figure {pointer} in {summary:#}"))
    }

    /// The codes of the verdict's findings.
    #[must_use]
    #[track_caller]
    pub fn findings(&self) -> Vec<String> {
        let summary = self.summary();
        let findings = summary["verdict"]["findings"].as_array().cloned().unwrap_or_default();
        findings.iter().filter_map(|finding| Some(finding["code"].as_str()?.to_owned())).collect()
    }

    /// One column of `intervals.csv`, of the measured part only.
    ///
    /// # Panics
    /// If there is no such column.
    #[must_use]
    #[track_caller]
    pub fn measured(&self, name: &str) -> Vec<String> {
        measured(&self.text("intervals.csv"), name)
    }

    /// Sum over a column of `intervals.csv`, over the measured part.
    ///
    /// # Panics
    /// If there is no such column of whole numbers.
    #[must_use]
    #[track_caller]
    pub fn sum_measured(&self, column: &str) -> u64 {
        let values = self.measured(column);
        values.iter().map(|value| value.parse::<u64>().expect("a whole number")).sum()
    }

    #[track_caller]
    fn text(&self, name: &str) -> String {
        let path: &Path = &self.folder().join(name);
        std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", path.display(), self.finished))
    }
}
