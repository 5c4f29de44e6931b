//! The options of a run as its summary shows them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of the run as resolved; absent ones are null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "independent options of the command line")]
pub struct Config {
    /// Where sessions were opened, `host:port` or a socket's path.
    pub hosts: Vec<String>,
    /// The database.
    pub database: String,
    /// The role.
    pub user: String,
    /// `sslmode`.
    pub sslmode: String,
    /// `-c`.
    pub clients: u32,
    /// `-j`: workers per agent; null is the agent's cores.
    pub workers_per_agent: Option<u32>,
    /// `--agents`; 0 is the agent inside the coordinator's process.
    pub agents: u32,
    /// `--split`: `even` or `cores`.
    pub split: String,
    /// `-M`.
    pub protocol: String,
    /// `-t`, transactions per client.
    pub transactions_per_client: Option<u64>,
    /// `-T`.
    pub duration_s: Option<f64>,
    /// `--warmup`.
    pub warmup_s: f64,
    /// `-R`.
    pub rate_tps: Option<f64>,
    /// `-L`.
    pub latency_limit_ms: Option<f64>,
    /// `-C`.
    pub connect_per_transaction: bool,
    /// `--reconnect`.
    pub reconnect: bool,
    /// `--max-tries`; null is unlimited.
    pub max_tries: Option<u32>,
    /// `--continue-on-error`.
    pub continue_on_error: bool,
    /// `--exit-on-abort`.
    pub exit_on_abort: bool,
    /// Scale of pgbench's tables, or `-s`.
    pub scale: i64,
    /// `-D`.
    pub defines: Vec<(String, String)>,
    /// `--random-seed`.
    pub random_seed: u64,
    /// `--connect-rate`, connections per second.
    pub connect_rate_per_s: Option<f64>,
    /// `--connect-concurrency`.
    pub connect_concurrency: u32,
    /// `--allow-fewer-clients`.
    pub allow_fewer_clients: bool,
    /// `--drain-timeout`.
    pub drain_timeout_s: Option<f64>,
    /// Length of an interval.
    pub interval_s: f64,
    /// `--lease`.
    pub lease_s: f64,
    /// `--on-agent-loss`: `fail`, `continue` or `rebalance`.
    pub on_agent_loss: String,
    /// `--fail-if`, one entry a condition.
    pub fail_if: Vec<String>,
    /// `--require valid`.
    pub require_valid: bool,
}
