//! Everything that is known about a run once it is over, as plain data.
//!
//! One value of [`RunResult`] feeds every printer, so that the text, the JSON and the files cannot
//! disagree. It holds sums and histograms, never a list that grows with the length of the run (I7).

use std::collections::BTreeMap;
use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_common::outcome::ExitCode;
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_common::stats::{
    ConnectStats, Counts, ErrorCounts, Histogram, LogTotals, Outages, ScriptStats, StatementStats,
    Totals, Vitals,
};

use super::evidence;
use super::intervals::Lasted;
use super::summary::{Observation, PrewarmSummary};
use super::timeline::TimelineEntry;
use crate::logs::Collected;
use crate::merge::{Mismatch, Missing};
use crate::run::OnAgentLoss;
use crate::verdict::{self, Checked, Ending, Expectation, Measured, Severity, Verdict};

/// A run and its outcome.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// What was executed; holds secrets, which print as `***` only (I6).
    pub plan: Plan,
    /// Digests of the plan.
    pub digests: Digests,
    /// Options that do not travel to the agents.
    pub options: Options,
    /// Wall clock of the coordinator at the start of the measured part; labels, never arithmetic.
    pub started: jiff::Timestamp,
    /// One entry an agent, in the order of admission.
    pub agents: Vec<AgentResult>,
    /// All agents together.
    pub merged: Merged,
    /// With `-r`: one entry a script, in it one a command; else empty.
    pub statements: Vec<Vec<StatementResult>>,
    /// Opening the sessions, all agents together.
    pub connections: ConnectStats,
    /// The measured part over time, coarsened where it would grow too long.
    pub timeline: Vec<TimelineEntry>,
    /// Intervals of live agents that never came.
    pub missing: Vec<Missing>,
    /// Counts that were kept apart and differ.
    pub mismatches: Vec<Mismatch>,
    /// The target.
    pub server: ServerResult,
    /// Whether the run went to its planned end.
    pub status: Status,
    /// Filled in by [`RunResult::judge`].
    pub verdict: Verdict,
    /// What became of each `--fail-if`; filled in by [`RunResult::judge`].
    pub expectations: Vec<Checked>,
    /// Filled in by [`RunResult::judge`].
    pub exit_code: ExitCode,
}

impl RunResult {
    /// So many transactions per second over the measured part.
    #[must_use]
    pub fn tps(&self, transactions: u64) -> f64 {
        let seconds = self.merged.duration.as_secs_f64();
        if seconds > 0.0 { transactions as f64 / seconds } else { 0.0 }
    }

    /// An agent's successful transactions per second, over the time that its clients ran.
    #[must_use]
    pub fn agent_tps(&self, agent: &AgentResult) -> f64 {
        let done = agent.counts.transactions;
        match agent.ran.map(|ran| ran.seconds()) {
            Some(seconds) if seconds > 0.0 => done as f64 / seconds,
            Some(_) => 0.0,
            None => self.tps(done),
        }
    }

    /// How long each phase really lasted.
    #[must_use]
    pub fn lasted(&self) -> Lasted {
        let warmup = self.merged.warmup_cut.unwrap_or(self.plan.load.warmup);
        Lasted { warmup, measured: self.merged.duration }
    }

    /// From the first agent's first transaction to the last agent's, each against its due time;
    /// unknown if one of them could not say.
    #[must_use]
    pub fn start_spread_us(&self) -> Option<u64> {
        let offsets = || self.agents.iter().filter_map(AgentResult::start_offset_us);
        let beginning = self.agents.iter().filter(|agent| agent.took_over_from.is_none());
        if offsets().count() < beginning.count() {
            return None;
        }
        Some(offsets().max()?.abs_diff(offsets().min()?))
    }

    /// Applies the rules of the verdict, looks at the expectations, and works out the exit code.
    pub fn judge(&mut self) {
        self.verdict = verdict::judge(&evidence::of(self));
        self.expectations = self.check_expectations();
        self.exit_code = verdict::exit_code(Ending {
            interrupted: self.status == Status::Interrupted,
            clients_unfinished: self.merged.aborted_clients > 0,
            invalid: self.is_to_fail(),
            expectation_missed: self.expectations.iter().any(|checked| checked.missed),
        });
    }

    /// Whether the verdict makes the run fail. Where clients aborted, having no transaction is their doing,
    /// and exit code 2 says so as in pgbench.
    fn is_to_fail(&self) -> bool {
        let forgiven = |code| code == "no-transactions" && self.merged.aborted_clients > 0;
        let mut invalid = self.verdict.findings.iter().filter(|f| f.severity == Severity::Invalid);
        invalid.any(|finding| !forgiven(finding.code))
            || (self.options.require_valid && !self.verdict.is_spotless())
    }

    fn check_expectations(&self) -> Vec<Checked> {
        let merged = &self.merged;
        let measured = Measured {
            tps: self.tps(merged.measured.transactions),
            counts: &merged.measured,
            response: &merged.response,
            service: merged.service.as_ref(),
            lag: merged.lag.as_ref(),
        };
        self.options.fail_if.iter().map(|expected| expected.check(&measured)).collect()
    }
}

/// Fingerprints by which runs are told apart and paired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digests {
    /// Of everything that fixes a run.
    pub plan: String,
    /// Of what is run: no seed, target, agents.
    pub workload: String,
}

/// Options of `run` that do not travel to the agents, as resolved.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent options of the command line")]
pub struct Options {
    /// `--failures-detailed`.
    pub failures_detailed: bool,
    /// `-P`, in seconds.
    pub progress_s: Option<u32>,
    /// `--progress-timestamp`.
    pub progress_timestamp: bool,
    /// `--agents`; 0 is the agent inside this process.
    pub agents: u32,
    /// `-j`; absent is the agent's cores.
    pub workers_per_agent: Option<u32>,
    /// `--split cores` instead of equal shares.
    pub split_by_cores: bool,
    /// Length of an interval.
    pub interval: Duration,
    /// `--lease`.
    pub lease: Duration,
    /// `--on-agent-loss`.
    pub on_agent_loss: OnAgentLoss,
    /// `--fail-if`.
    pub fail_if: Vec<Expectation>,
    /// `--require valid`: warnings count as invalid.
    pub require_valid: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            failures_detailed: false,
            progress_s: None,
            progress_timestamp: false,
            agents: 0,
            workers_per_agent: Some(1),
            split_by_cores: false,
            interval: Duration::from_secs(1),
            lease: Duration::from_secs(10),
            on_agent_loss: OnAgentLoss::default(),
            fail_if: Vec::new(),
            require_valid: false,
        }
    }
}

/// One agent's part in the run.
#[derive(Clone, Debug)]
pub struct AgentResult {
    /// Its number.
    pub id: AgentId,
    /// As it named itself, unique within the run.
    pub name: String,
    /// Its workers and clients.
    pub share: Share,
    /// Sum of its intervals of the measured part.
    pub counts: Counts,
    /// Response time, merged from its intervals.
    pub response: Histogram,
    /// What it counted itself; absent if it was lost before it could say so.
    pub totals: Option<Totals>,
    /// How well its clock is known.
    pub clock: Clock,
    /// The worst of its intervals.
    pub vitals: Vitals,
    /// Why and when it was lost, if it was.
    pub lost: Option<Lost>,
    /// Why it left before the end, in good order, if it did.
    pub left: Option<String>,
    /// What came of its logs, where they were collected.
    pub logs: Option<Collected>,
    /// From whom it took these clients over; absent if it had them from the beginning.
    pub took_over_from: Option<String>,
    /// When its clients ran; absent if that was the whole measured part.
    pub ran: Option<Span>,
    /// When it was unreachable and came back; the first hundred.
    pub unreachable: Vec<Span>,
}

/// A stretch of the measured part, in seconds since it began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Its beginning.
    pub from_s: f64,
    /// Its end.
    pub until_s: f64,
}

impl Span {
    /// Its length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        (self.until_s - self.from_s).max(0.0)
    }
}

impl AgentResult {
    /// Its clients.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.share.workers.iter().map(|w| w.clients).sum()
    }

    /// Its workers that have clients.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.share.workers.iter().map(|w| u32::from(w.clients > 0)).sum()
    }

    /// CPU time over wall time of its busiest worker, over the measured part; of its worst interval if
    /// it was lost.
    #[must_use]
    pub fn cpu_fraction(&self) -> f64 {
        self.totals.as_ref().map_or(self.vitals.cpu_fraction, |t| t.cpu_fraction)
    }

    /// Its log of transactions, as it counted that itself; absent without one, or if it was lost.
    #[must_use]
    pub fn log(&self) -> Option<LogTotals> {
        self.totals.as_ref()?.log
    }

    /// Lateness of its first transaction against the common start in microseconds, its clock's error
    /// not included; unknown if it was lost, and there is none where its clients joined later.
    #[must_use]
    pub fn start_offset_us(&self) -> Option<i64> {
        let totals = self.totals.as_ref().filter(|_| self.took_over_from.is_none());
        totals.map(|t| t.start_offset_us)
    }
}

/// How well an agent's clock is known to the coordinator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Half the round trip of the best probe: the offset cannot be further off.
    pub error_us: u64,
    /// By how much the offset moved between the first and the last measurement.
    pub drift_us: i64,
}

/// The loss of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// Seconds since the measured part began; negative if before.
    pub at_s: f64,
    /// What was seen.
    pub reason: String,
}

/// All agents together.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// The measured part: sum of all intervals.
    pub measured: Counts,
    /// The warm-up.
    pub warmup: Counts,
    /// Response time: from when a transaction was due (or began, in a closed loop).
    pub response: Histogram,
    /// Service time: from when it began; only under `-R`.
    pub service: Option<Histogram>,
    /// Schedule lag; only under `-R`.
    pub lag: Option<Histogram>,
    /// One entry a script where there are several; else empty.
    pub scripts: Vec<ScriptStats>,
    /// Errors of the whole run.
    pub errors: ErrorCounts,
    /// From the common start of the measured part to the end of its last transaction.
    pub duration: Duration,
    /// The warm-up's length where it was cut short.
    pub warmup_cut: Option<Duration>,
    /// Transactions that were due before the measured part and not yet begun.
    pub inherited_backlog: u64,
    /// Clients that ended before their time.
    pub aborted_clients: u32,
    /// Some of them with the reason.
    pub aborted: Vec<(u32, String)>,
    /// When clients were without their sessions, as far as agents lived to say.
    pub outages: Outages,
    /// From the loss of each session to the one that took its place.
    pub reconnecting: Histogram,
}

/// One command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementResult {
    /// Its first line, as pgbench shows it.
    pub line: String,
    /// Its figures, all agents together.
    pub stats: StatementStats,
}

/// What was seen of the target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerResult {
    /// `server_version`.
    pub version: String,
    /// `pgbench_accounts`' partitions, if it has any.
    pub partitions: Option<Partitions>,
    /// Settings worth keeping with a result.
    pub settings: BTreeMap<String, String>,
    /// Commits that the server counted during the run, or why they cannot be told.
    pub commits: ServerCount,
    /// Rows added to `pgbench_history` during the run, or why they cannot be told.
    pub history_rows: ServerCount,
    /// What its own statistics say of the run; absent with `--no-observe`.
    pub observation: Option<Observation>,
    /// What `--prewarm` loaded.
    pub prewarm: Option<PrewarmSummary>,
}

/// How `pgbench_accounts` is partitioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitions {
    /// `range` or `hash`.
    pub method: String,
    /// How many.
    pub count: u64,
}

/// A figure of the server's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerCount {
    /// What it counted from before the first session to after the last, the coordinator's own
    /// sessions taken off.
    Counted(u64),
    /// The same, but some of it may be work of the server's own, as of autovacuum.
    CountedAmongOthers(u64),
    /// It cannot be told, with the reason.
    NotCheckable(String),
}

impl Default for ServerCount {
    fn default() -> Self {
        Self::NotCheckable("not read".into())
    }
}

/// Whether the run went to its planned end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did.
    Complete,
    /// It ended early for a reason of its own, such as `--exit-on-abort` or the loss of an agent.
    CutShort,
    /// Somebody ended it (a signal).
    Interrupted,
}
