//! The arguments of a benchmark run: folds what was given, in order, into checked values.
//!
//! Knows no server and opens no connection; scripts are read here, since a wrong one must be reported
//! before anything is touched.

mod cluster;
mod log;
mod scripts;
mod seed;
mod tls;

use std::time::Duration;

use pgsurge_common::plan::{End, Log, Protocol, ScriptSource};
use pgsurge_common::script::parse_define;
use pgsurge_common::wording::counted;

pub use cluster::{ClusterArgs, Format, listen_address};

pub use seed::Seed;
pub use tls::{CA, CERT, KEY, TlsFiles};

use super::init::InitArgs;
use super::read::{CommandLine, Given};
use super::table::Group;
use super::usage::UsageError;
use super::values::{atoi, count, latency_limit_us, rate};
use crate::run::OnAgentLoss;

/// Everything `pgsurge run` was told, checked as far as that is possible without a server.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // pgbench's flags are independent of each other
pub struct BenchArgs {
    /// Scripts in the order given; never empty.
    pub scripts: Vec<ScriptSource>,
    /// `-c`.
    pub clients: u32,
    /// `-j`.
    pub jobs: Option<u32>,
    /// `-t` or `-T`.
    pub end: End,
    /// `-M`.
    pub protocol: Protocol,
    /// `-R`.
    pub rate_tps: Option<f64>,
    /// `-L`, in microseconds.
    pub latency_limit_us: Option<u64>,
    /// `-C`.
    pub connect_per_transaction: bool,
    /// `-D`.
    pub defines: Vec<(String, String)>,
    /// `-P`, in seconds.
    pub progress: Option<u32>,
    /// `--progress-timestamp`.
    pub progress_timestamp: bool,
    /// `-r`.
    pub report_per_command: bool,
    /// `-s`.
    pub scale: Option<u32>,
    /// `-n`.
    pub no_vacuum: bool,
    /// `-v`.
    pub vacuum_all: bool,
    /// `--failures-detailed`.
    pub failures_detailed: bool,
    /// `--max-tries`; `None` is unlimited.
    pub max_tries: Option<u32>,
    /// `--continue-on-error`.
    pub continue_on_error: bool,
    /// `--exit-on-abort`.
    pub exit_on_abort: bool,
    /// `--verbose-errors`.
    pub verbose_errors: bool,
    /// `--random-seed`.
    pub seed: Seed,
    /// `-l` and what goes with it.
    pub log: Option<Log>,
    /// What pgbench does not have.
    pub cluster: ClusterArgs,
}

/// Values while they are being collected.
struct Collected {
    args: BenchArgs,
    transactions: Option<u32>,
    time: Option<u32>,
    log: log::LogArgs,
}

impl BenchArgs {
    /// Folds a command line. `default_seed` is what `--random-seed=time` stands for, and `PGBENCH_RANDOM_SEED`
    /// is looked up in `variable`.
    pub fn fold(
        line: &CommandLine,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, UsageError> {
        let mut collected =
            Collected::new(Seed::initial(variable("PGBENCH_RANDOM_SEED").as_deref())?);
        // What belongs to the other mode is only looked at, for its value is judged before its place.
        let mut init = InitArgs::default();
        for given in &line.given {
            let judged = match given.opt.group {
                Group::Init => init.option(given),
                _ => collected.option(given),
            };
            judged.map_err(|error| given.blame(error))?;
        }
        line.readable()?;
        if line.given.iter().any(|given| given.opt.group == Group::Init) {
            return Err(UsageError::new(
                "some of the specified options cannot be used in benchmarking mode",
            ));
        }
        collected.finish().map_err(|error| line.blame(error))
    }

    /// Judges the values of options one by one, for a command line of the other mode.
    pub fn checker() -> impl FnMut(&Given) -> Result<(), UsageError> {
        let mut collected = Collected::new(Seed::fixed(0));
        move |given| collected.option(given)
    }
}

impl Collected {
    fn new(seed: Seed) -> Self {
        let args = BenchArgs {
            scripts: Vec::new(),
            clients: 1,
            jobs: None,
            end: End::Transactions(10),
            protocol: Protocol::Simple,
            rate_tps: None,
            latency_limit_us: None,
            connect_per_transaction: false,
            defines: Vec::new(),
            progress: None,
            progress_timestamp: false,
            report_per_command: false,
            scale: None,
            no_vacuum: false,
            vacuum_all: false,
            failures_detailed: false,
            max_tries: Some(1),
            continue_on_error: false,
            exit_on_abort: false,
            verbose_errors: false,
            seed,
            log: None,
            cluster: ClusterArgs::default(),
        };
        Self { args, transactions: None, time: None, log: log::LogArgs::default() }
    }

    fn option(&mut self, given: &Given) -> Result<(), UsageError> {
        let known = self.workload_option(given)?
            || self.load_option(given)?
            || self.log.option(given)?
            || self.args.cluster.option(given)?;
        debug_assert!(known || given.opt.group != Group::Cluster, "{}", given.opt.long);
        Ok(())
    }

    /// Options that say what is executed; `false` if the option is not one of them.
    fn workload_option(&mut self, given: &Given) -> Result<bool, UsageError> {
        let (args, value) = (&mut self.args, given.value.as_str());
        match given.opt.long {
            "builtin" => args.scripts.push(scripts::builtin(value)?),
            "file" => args.scripts.push(scripts::file(value)?),
            "skip-some-updates" => args.scripts.push(scripts::builtin("simple-update")?),
            "select-only" => args.scripts.push(scripts::builtin("select-only")?),
            "protocol" => args.protocol = protocol(value)?,
            "define" => args.defines.push(definition(value)?),
            "scale" => args.scale = Some(count(given.opt, value)?),
            "max-tries" => args.max_tries = max_tries(value)?,
            "continue-on-error" => args.continue_on_error = true,
            "exit-on-abort" => args.exit_on_abort = true,
            "verbose-errors" => args.verbose_errors = true,
            "failures-detailed" => args.failures_detailed = true,
            "report-per-command" => args.report_per_command = true,
            "random-seed" => args.seed = Seed::from_option(value)?,
            "no-vacuum" => args.no_vacuum = true,
            "vacuum-all" => args.vacuum_all = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Options that say how much and how fast; `false` if the option is not one of them.
    fn load_option(&mut self, given: &Given) -> Result<bool, UsageError> {
        let (opt, value) = (given.opt, given.value.as_str());
        match opt.long {
            "client" => self.args.clients = count(opt, value)?,
            "jobs" => self.args.jobs = Some(count(opt, value)?),
            "transactions" => self.transactions = Some(count(opt, value)?),
            "time" => self.time = Some(count(opt, value)?),
            "connect" => self.args.connect_per_transaction = true,
            "progress" => self.args.progress = Some(count(opt, value)?),
            "progress-timestamp" => self.args.progress_timestamp = true,
            "rate" => self.args.rate_tps = Some(rate(value)?),
            "latency-limit" => self.args.latency_limit_us = latency_limit_us(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn finish(mut self) -> Result<BenchArgs, UsageError> {
        let args = &mut self.args;
        if args.scripts.is_empty() {
            args.scripts.push(scripts::builtin("tpcb-like")?);
        }
        scripts::check_weights(&args.scripts)?;
        args.end = match (self.transactions, self.time) {
            (Some(_), Some(_)) => {
                return Err(UsageError::new(
                    "specify either a number of transactions (-t) or a duration (-T), not both",
                ));
            }
            (_, Some(seconds)) => End::Duration(Duration::from_secs(seconds.into())),
            (Some(n), None) => End::Transactions(n.into()),
            (None, None) => End::Transactions(10),
        };
        args.log = self.log.finish(&log::Beside {
            end: args.end,
            failures_detailed: args.failures_detailed,
            agents: args.cluster.agents.is_some(),
            results: &args.cluster.results,
        })?;
        if args.progress_timestamp && args.progress.is_none() {
            return Err(UsageError::new("--progress-timestamp is allowed only under --progress"));
        }
        if args.max_tries.is_none() && args.latency_limit_us.is_none() && self.time.is_none() {
            return Err(UsageError::new(
                "an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)",
            ));
        }
        args.cluster.check()?;
        check_agent_loss(args)?;
        check_expectations(args)?;
        if let Some(agents) = args.cluster.agents.filter(|&agents| agents > args.clients) {
            return Err(UsageError::new(format!(
                "{} cannot be spread over {agents} agents: each needs one",
                counted(args.clients.into(), "client")
            ))
            .hint("raise -c or lower --agents"));
        }
        Ok(self.args)
    }
}

/// What each client of a lost agent had done is not known, so what it still has to do is not either.
fn check_agent_loss(args: &BenchArgs) -> Result<(), UsageError> {
    let moves = args.cluster.on_agent_loss == OnAgentLoss::Rebalance;
    if moves && matches!(args.end, End::Transactions(_)) {
        return Err(UsageError::new("--on-agent-loss rebalance needs a duration (-T)").detail(
            "how many of its transactions (-t) each client of a lost agent had done is not known",
        ));
    }
    Ok(())
}

/// A condition about what is not measured would fail every run.
fn check_expectations(args: &BenchArgs) -> Result<(), UsageError> {
    for expected in &args.cluster.fail_if {
        let text = expected.text();
        if expected.needs_rate() && args.rate_tps.is_none() {
            return Err(UsageError::new(format!(
                "--fail-if '{text}' is measured only under --rate (-R)"
            )));
        }
        if expected.needs_limit() && args.latency_limit_us.is_none() {
            let message = format!("--fail-if '{text}' is measured only under --latency-limit (-L)");
            return Err(UsageError::new(message));
        }
    }
    Ok(())
}

fn protocol(value: &str) -> Result<Protocol, UsageError> {
    match value {
        "simple" => Ok(Protocol::Simple),
        "extended" => Ok(Protocol::Extended),
        "prepared" => Ok(Protocol::Prepared),
        other => Err(UsageError::new(format!("invalid query mode (-M): \"{other}\""))),
    }
}

fn definition(value: &str) -> Result<(String, String), UsageError> {
    parse_define(value).map_err(|error| UsageError::new(error.to_string()))
}

/// `--max-tries`: 0 is unlimited, negative is refused, trailing garbage is ignored as pgbench does.
fn max_tries(value: &str) -> Result<Option<u32>, UsageError> {
    match u32::try_from(atoi(value)) {
        Ok(0) => Ok(None),
        Ok(tries) => Ok(Some(tries)),
        Err(_) => Err(UsageError::new(format!("invalid number of maximum tries: \"{value}\""))),
    }
}

#[cfg(test)]
mod tests;
