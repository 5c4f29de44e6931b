//! The parts of the summary document below its totals.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LatencyMs, Observation, PrewarmSummary};

/// Opening the sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionsSummary {
    /// Asked for.
    pub wanted: u32,
    /// Obtained.
    pub obtained: u32,
    /// From the first attempt to the last success.
    pub seconds: f64,
    /// Time to open one.
    pub latency_ms: Option<LatencyMs>,
    /// Attempts that failed, by SQLSTATE or errno.
    pub errors: BTreeMap<String, u64>,
    /// How many sessions there were when, at most 100 points, each with one or more sessions than the one before; time runs
    /// from the first attempt of each agent.
    #[serde(default)]
    pub ramp: Vec<RampSummary>,
}

/// A moment of the connection phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RampSummary {
    /// In seconds.
    pub t_s: f64,
    /// Sessions by then.
    pub sessions: u64,
}

/// One agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSummary {
    /// Its name.
    pub name: String,
    /// Its clients.
    pub clients: u32,
    /// Its workers.
    pub workers: u32,
    /// Its successful transactions.
    pub transactions: u64,
    /// Those over the cluster's duration, so that agents add up; over the time that it ran where that is
    /// shorter.
    pub tps: f64,
    /// Its response time.
    pub latency_ms: Option<LatencyMs>,
    /// CPU time over wall time of its busiest worker.
    pub cpu_fraction: f64,
    /// The longest time by which a worker's own timer fired late.
    pub loop_lag_ms: f64,
    /// First transaction against the common start; null if unknown.
    pub start_offset_us: Option<i64>,
    /// Bound on the error of its clock's offset.
    pub clock_error_us: u64,
    /// Movement of its clock's offset during the run.
    pub clock_drift_us: i64,
    /// It was lost, or left before the end.
    pub lost: bool,
    /// Why.
    pub lost_reason: Option<String>,
    /// Seconds since the measured part began; null if it left in good order.
    pub lost_at_s: Option<f64>,
    /// The agent from which it took these clients over; null if it had them from the beginning.
    pub took_over_from: Option<String>,
    /// When its clients ran; null if that was the whole measured part.
    pub ran: Option<SpanSummary>,
    /// When it was unreachable and came back; the first hundred.
    pub unreachable: Vec<SpanSummary>,
    /// Its log of transactions; null without `-l`, or if it was lost.
    pub log: Option<LogSummary>,
    /// What of its log was collected; null without `--collect-logs`.
    pub logs_collected: Option<CollectedSummary>,
}

/// The log of transactions of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogSummary {
    /// Its files.
    pub files: u32,
    /// Lines in them.
    pub lines: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Lines that could not be written.
    pub lost_lines: u64,
}

/// The collected log of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CollectedSummary {
    /// Its folder in the results folder; with `.partial` behind it where not all arrived.
    pub folder: String,
    /// Files that arrived.
    pub files: u32,
    /// Bytes that arrived.
    pub bytes: u64,
    /// Why they are not all; null if they are.
    pub problem: Option<String>,
}

/// One script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptSummary {
    /// Its name.
    pub name: String,
    /// Its weight.
    pub weight: u32,
    /// Its successful transactions.
    pub transactions: u64,
    /// Its failed ones.
    pub failed: u64,
    /// Its skipped ones.
    pub skipped: u64,
    /// Its response time.
    pub latency_ms: Option<LatencyMs>,
}

/// One command of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatementSummary {
    /// Its script, from 0.
    pub script: usize,
    /// Its place in the script, from 0.
    pub command: usize,
    /// Its first line.
    pub text: String,
    /// Successful executions.
    pub executions: u64,
    /// Mean time of those.
    pub mean_ms: f64,
    /// Population standard deviation.
    pub stddev_ms: f64,
    /// Least.
    pub min_ms: f64,
    /// Greatest.
    pub max_ms: f64,
    /// Errors that ended the transaction as failed.
    pub failures: u64,
    /// Errors that were followed by another try.
    pub retries: u64,
}

/// One interval, or several joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalSummary {
    /// Seconds from the start of the measured part to its beginning.
    pub t_s: f64,
    /// Its length.
    pub width_s: f64,
    /// Successful transactions that ended in it.
    pub transactions: u64,
    /// Failed ones.
    pub failed: u64,
    /// Successful ones over its length.
    pub tps: f64,
    /// Median response time; null if there was none.
    pub p50_ms: Option<f64>,
    /// 99th percentile.
    pub p99_ms: Option<f64>,
    /// Sessions opened in place of lost ones.
    pub reconnects: u64,
    /// Time that clients spent without a session after a loss, summed over clients.
    pub unreachable_s: f64,
    /// Errors by SQLSTATE or errno.
    pub errors: BTreeMap<String, u64>,
    /// Clients at work at its end, with a session.
    pub clients: u32,
    /// Those whose session is lost.
    pub disconnected: u32,
    /// Agents alive.
    pub agents: u32,
    /// Nobody's results are missing, neither a live agent's nor those of a lost one whose clients have not
    /// gone on elsewhere.
    pub complete: bool,
    /// Agents that were unreachable meanwhile.
    pub agents_unreachable: u32,
    /// Clients at work at its end that were taken over from lost agents.
    pub clients_moved: u32,
}

/// From when on how many clients were meant to be at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageSummary {
    /// Seconds from the start of the measured part.
    pub from_s: f64,
    /// So many clients from then on.
    pub clients: u32,
    /// Those of them that were taken over from lost agents.
    pub moved: u32,
}

/// A stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpanSummary {
    /// Its beginning, in seconds from the start of the measured part.
    pub from_s: f64,
    /// Its end.
    pub until_s: f64,
}

/// A time in which at least one client was without its session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutageSummary {
    /// Seconds from the start of the measured part to the first loss; negative in the warm-up.
    pub t_s: f64,
    /// Until no client was without a session any more.
    pub length_s: f64,
    /// All clients had a session again; otherwise the run ended before.
    pub over: bool,
    /// Clients that lost a session.
    pub clients: u32,
    /// What the first loss was.
    pub first_error: String,
    /// What kept clients away at last.
    pub last_error: String,
}

/// The target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerSummary {
    /// `server_version`.
    pub version: String,
    /// Partitions of `pgbench_accounts`: `range` or `hash`.
    pub partition_method: Option<String>,
    /// How many; 0 for none.
    pub partitions: u64,
    /// Commits that it counted during the run; null where that cannot be told.
    pub xact_commit_delta: Option<u64>,
    /// Its commits against the agents'.
    pub commit_check: CheckSummary,
    /// Rows added to `pgbench_history` against the transactions that add one.
    pub history_check: CheckSummary,
    /// Settings that differ from the built-in defaults, secrets left out.
    pub settings: BTreeMap<String, String>,
    /// What its own statistics say of the run; null with `--no-observe`.
    pub observation: Option<Observation>,
    /// What was loaded into its cache before; null without `--prewarm`.
    pub prewarm: Option<PrewarmSummary>,
}

/// A count of the server's against the agents'.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum CheckSummary {
    /// It cannot be predicted.
    NotCheckable {
        /// Why.
        reason: String,
    },
    /// Both are equal.
    Equal {
        /// The count.
        server: u64,
        /// The same.
        fleet: u64,
    },
    /// The server counts more than the agents, which is no contradiction in this run.
    AtLeast {
        /// By the server.
        server: u64,
        /// By the agents.
        fleet: u64,
    },
    /// The server contradicts the agents.
    Contradicted {
        /// By the server.
        server: u64,
        /// By the agents.
        fleet: u64,
    },
}

/// Whether the figures can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictSummary {
    /// No finding invalidates them.
    pub valid: bool,
    /// Reasons to distrust them.
    pub findings: Vec<FindingSummary>,
}

/// One reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingSummary {
    /// Its fixed name.
    pub code: String,
    /// How bad.
    pub severity: SeveritySummary,
    /// The agent it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// What was seen.
    pub value: f64,
    /// The last value that would have been accepted.
    pub threshold: f64,
    /// For people.
    pub message: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SeveritySummary {
    /// The figures stand, with a reservation.
    Warning,
    /// The figures must not be used.
    Invalid,
}

/// What became of one condition of `--fail-if`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectationSummary {
    /// The condition, as it was written.
    pub fail_if: String,
    /// The figure: milliseconds, a share of 1, or per second; null if the run did not yield it.
    pub value: Option<f64>,
    /// The condition holds, or could not be looked at.
    pub failed: bool,
}
