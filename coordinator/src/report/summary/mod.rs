//! The summary document: what machines read of a run. Its keys are a promise.
//!
//! The schema made from these types is committed as `docs/summary.schema.json`. A key may be added; one
//! that is renamed, removed or given another meaning takes a new [`SCHEMA`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod config;
mod make;
mod observation;
mod parts;
pub mod read;

pub use config::Config;
pub use observation::{
    BuffersSummary, CacheSummary, CheckpointsSummary, Observation, PrewarmSummary, RelationSummary,
    ReplicationSummary, WaitSummary, WalSummary,
};
pub use parts::{
    AgentSummary, CheckSummary, CollectedSummary, ConnectionsSummary, CoverageSummary,
    ExpectationSummary, FindingSummary, IntervalSummary, LogSummary, OutageSummary, RampSummary,
    ScriptSummary, ServerSummary, SeveritySummary, SpanSummary, StatementSummary, VerdictSummary,
};

/// Name and version of the document's form.
pub const SCHEMA: &str = "pgsurge.summary/1";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Summary of a pgsurge run")]
pub struct Summary {
    /// Always `pgsurge.summary/1`.
    pub schema: String,
    /// Version of the program that wrote it.
    pub pgsurge_version: String,
    /// Name of the run.
    pub run_id: String,
    /// Wall clock of the coordinator at the start of the measured part, RFC 3339.
    pub started_at: String,
    /// Whether the run went to its planned end.
    pub status: RunStatus,
    /// Exit code of the program.
    pub exit_code: u8,
    /// Options as resolved.
    pub config: Config,
    /// Fingerprint of everything that fixes a run.
    pub plan_digest: String,
    /// Fingerprint of what is run: no seed, target, agents.
    pub workload_digest: String,
    /// The measured part of the whole cluster.
    pub totals: TotalsSummary,
    /// Opening the sessions.
    pub connections: ConnectionsSummary,
    /// One entry an agent.
    pub agents: Vec<AgentSummary>,
    /// One entry a script.
    pub scripts: Vec<ScriptSummary>,
    /// With `-r`, one entry a command; else empty.
    pub statements: Vec<StatementSummary>,
    /// The measured part over time; beyond 3600 entries each stands for several intervals.
    pub intervals: Vec<IntervalSummary>,
    /// How many clients the figures hold for, and from when on; empty if it was all of them all the time.
    pub coverage: Vec<CoverageSummary>,
    /// When clients were without their sessions (`--reconnect`), in order, at most a hundred.
    pub outages: Vec<OutageSummary>,
    /// The target.
    pub server: ServerSummary,
    /// Whether the figures can be trusted.
    pub verdict: VerdictSummary,
    /// One entry for each condition of `--fail-if`.
    pub expectations: Vec<ExpectationSummary>,
}

/// Whether the run went to its planned end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It did.
    Complete,
    /// It was interrupted or cut short.
    Partial,
}

/// Percentiles and moments in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyMs {
    /// Mean, exact.
    pub mean: f64,
    /// Population standard deviation, exact.
    pub stddev: f64,
    /// Least, exact.
    pub min: f64,
    /// Median, as all percentiles to three significant digits.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// Greatest, exact.
    pub max: f64,
}

/// The measured part of the whole cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalsSummary {
    /// Successful transactions.
    pub transactions: u64,
    /// Failed for good.
    pub failed: u64,
    /// Of those with 40001.
    pub serialization_failures: u64,
    /// Of those with 40P01.
    pub deadlock_failures: u64,
    /// Of those with another error.
    pub other_failures: u64,
    /// Of those with the loss of their session; the server may have committed them.
    pub connection_failures: u64,
    /// Never sent, since they would have been too late.
    pub skipped: u64,
    /// Took more than one try.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Successful ones above the latency limit.
    pub late: u64,
    /// From the common start to the end of the last transaction.
    pub duration_s: f64,
    /// Successful transactions over `duration_s`.
    pub tps: f64,
    /// Response time: from when a transaction was due; null if there was none.
    pub latency_ms: Option<LatencyMs>,
    /// Service time: from when it began; null without `-R`.
    pub service_ms: Option<LatencyMs>,
    /// Schedule lag; null without `-R`.
    pub lag_ms: Option<LatencyMs>,
    /// Successful transactions of the warm-up, in no other figure.
    pub warmup_transactions: u64,
    /// Transactions due before the measured part and not begun when it began.
    pub inherited_backlog: u64,
    /// Clients that ended before their time.
    pub aborted_clients: u32,
    /// Sessions opened in place of lost ones.
    pub reconnects: u64,
    /// From the loss of a session to the one that took its place; null if none was replaced.
    pub reconnecting_ms: Option<LatencyMs>,
    /// Time that clients spent without a session after a loss, summed over clients.
    pub unreachable_s: f64,
    /// Errors of the whole run by SQLSTATE or errno.
    pub errors: BTreeMap<String, u64>,
}

/// The schema of [`Summary`], as committed.
#[must_use]
pub fn schema() -> String {
    schema_of::<Summary>()
}

/// The schema of a document, as it is committed.
#[must_use]
pub fn schema_of<T: JsonSchema>() -> String {
    let schema = schemars::schema_for!(T);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    text.push('\n');
    text
}
