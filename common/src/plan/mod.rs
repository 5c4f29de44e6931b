//! The plan: everything that fixes a run, resolved once by the coordinator and shipped to every
//! agent. An agent reads no option, file or environment variable of its own that a plan could carry.

mod check;
mod digest;
mod log;
pub mod split;

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::RunId;
use crate::target::Target;

pub use check::{LONGEST, MOST_SCRIPTS, PlanError};
pub use digest::{plan_digest, workload_digest};
pub use log::{Log, LogKind};

/// Everything that fixes a run. Two runs of equal plans send the same statements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Which execution this is; takes no part in the digests.
    pub run_id: RunId,
    /// What is executed.
    pub workload: Workload,
    /// How much of it, for how long, how fast.
    pub load: Load,
    /// Against what.
    pub target: Target,
    /// Where all random values come from.
    pub seeds: Seeds,
    /// The log of transactions (`-l`); none if absent.
    pub log: Option<Log>,
}

/// What is executed: scripts and the rules under which they run.
#[allow(clippy::struct_excessive_bools)] // independent switches of the command line
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// 1 to 128 scripts, in the order of the command line.
    pub scripts: Vec<ScriptSource>,
    /// How statements travel.
    pub protocol: Protocol,
    /// pgbench's scale: the number of branches, or `-s` for custom scripts.
    pub scale: i64,
    /// `-D` variables in command line order; later ones win.
    pub defines: Vec<(String, String)>,
    /// Tries per transaction for serialization and deadlock errors; `None` is unlimited.
    pub max_tries: Option<u32>,
    /// Other SQL errors fail the transaction instead of ending the client.
    pub continue_on_error: bool,
    /// The first aborted client ends the whole run.
    pub exit_on_abort: bool,
    /// Each error, retry and failure becomes a notice.
    pub verbose_errors: bool,
    /// Per-statement figures are kept (`-r`).
    pub report_per_command: bool,
}

/// One script as text; agents compile it themselves, so that nothing else has to travel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptSource {
    /// As reports name it: `<builtin: TPC-B (sort of)>` or the file's name.
    pub name: String,
    /// The text; bytes that are not UTF-8 are kept as they are in the file.
    pub text: Vec<u8>,
    /// Share of transactions, relative to the other scripts; 0 is never drawn.
    pub weight: u32,
    /// The text is one of pgbench's own three.
    pub builtin: bool,
}

impl ScriptSource {
    /// Each successful transaction adds one row to `pgbench_history`: so do all built-in scripts but the one
    /// that only reads. Of other scripts nothing is known.
    #[must_use]
    pub fn adds_history_row(&self) -> bool {
        let table = b"pgbench_history";
        self.builtin && self.text.windows(table.len()).any(|part| part == table)
    }
}

/// How statements travel to the server (`-M`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// One Query message with the values in the text.
    Simple,
    /// Parse, Bind, Describe, Execute, Sync each time.
    Extended,
    /// Parsed once per connection under a name.
    Prepared,
}

/// How much load, for how long, how fast. All figures are for the whole cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Sessions (`-c`).
    pub clients: u32,
    /// When the measured part is over.
    pub end: End,
    /// Same load before the measured part, excluded from every figure; zero for none.
    pub warmup: Duration,
    /// Transactions per second over all clients (`-R`); closed loop if absent.
    pub rate_tps: Option<f64>,
    /// Late and skip limit in microseconds (`-L`).
    pub latency_limit_us: Option<u64>,
    /// A new connection for every transaction (`-C`).
    pub connect_per_transaction: bool,
    /// A client whose session is lost opens another (`--reconnect`).
    pub reconnect: bool,
    /// How fast connections are opened.
    pub connect: ConnectBudget,
    /// Fewer sessions than asked for are accepted.
    pub allow_fewer_clients: bool,
    /// Bound on the time in-flight transactions get after the end; unbounded if absent.
    pub drain_timeout: Option<Duration>,
}

/// When the measured part ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// After so many transactions of each client (`-t`); failed and skipped ones count.
    Transactions(u64),
    /// After this time (`-T`); what is in flight then finishes and counts.
    Duration(Duration),
}

/// Bounds on opening connections, over the whole cluster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectBudget {
    /// New connections per second; unlimited if absent.
    pub rate_per_s: Option<f64>,
    /// Connections being opened at the same time.
    pub concurrency: u32,
    /// How long the whole phase may take before the clients that are missing count as missing.
    pub timeout: Duration,
}

/// Where all random values come from (pgbench's seeding order, see [`crate::random`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seeds {
    /// `--random-seed`.
    pub random_seed: u64,
}
