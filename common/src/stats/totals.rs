//! What an agent says at the end of a run: counted apart from its intervals, so that the two check
//! each other (I1).

use super::{Counts, ErrorCounts, Histogram, Moments, Outages};

/// An agent's own totals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// The measured part.
    pub measured: Counts,
    /// The warm-up.
    pub warmup: Counts,
    /// Commits outside any transaction of a script: sessions opened, look-ups, prepares.
    pub extra_commits: u64,
    /// Why the server's commit count cannot be predicted from this agent's statements; empty if it can.
    pub commits_unpredictable: Vec<String>,
    /// Opening the sessions.
    pub connect: ConnectStats,
    /// Errors of the whole run.
    pub errors: ErrorCounts,
    /// Clients that ended before their time, with the reason; bounded by the sender.
    pub aborted: Vec<(u32, String)>,
    /// How many clients ended before their time.
    pub aborted_clients: u32,
    /// Lateness of the first transaction of this agent against its due time, in microseconds.
    pub start_offset_us: i64,
    /// End of the last transaction, in microseconds since the measured part began.
    pub last_end_us: u64,
    /// Backlog that the measured part inherited from the warm-up under `-R`, in transactions.
    pub inherited_backlog: u64,
    /// One entry a statement, script by script, with `-r`; else empty.
    pub statements: Vec<Vec<StatementStats>>,
    /// Successful transactions of each client in the measured part, ascending by client.
    pub clients: Vec<ClientCount>,
    /// CPU time over wall time of the busiest worker in the measured part, 0 to 1.
    pub cpu_fraction: f64,
    /// When clients were without their sessions (`--reconnect`).
    pub outages: Outages,
    /// From the loss of each session to the one that took its place; apart from the connection phase.
    pub reconnecting: Histogram,
    /// What became of the log of transactions; absent without `-l`.
    pub log: Option<LogTotals>,
}

/// The log files of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogTotals {
    /// How many.
    pub files: u32,
    /// Lines in them.
    pub lines: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Lines that could not be written, as on a full disk.
    pub lost_lines: u64,
}

impl LogTotals {
    /// Adds another's.
    pub fn merge(&mut self, other: &Self) {
        self.files = self.files.saturating_add(other.files);
        self.lines = self.lines.saturating_add(other.lines);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.lost_lines = self.lost_lines.saturating_add(other.lost_lines);
    }
}

/// One client's result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCount {
    /// Its number in the cluster.
    pub client: u32,
    /// Its successful transactions.
    pub transactions: u64,
}

/// How opening the sessions went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectStats {
    /// Sessions asked for.
    pub wanted: u32,
    /// Sessions obtained.
    pub obtained: u32,
    /// From the first attempt to the last success, in microseconds.
    pub elapsed_us: u64,
    /// Time to open each, including its retries.
    pub latency: Histogram,
    /// When each was obtained, in microseconds since the first attempt of its agent.
    pub opened: Histogram,
    /// Attempts that failed, by SQLSTATE or errno.
    pub errors: ErrorCounts,
    /// One full error message as an example, if any attempt failed.
    pub example: Option<String>,
    /// Which server answered: postmaster start time and, where readable, system identifier.
    pub server_identity: Option<String>,
}

impl ConnectStats {
    /// Takes in those of another part: counts add up, the slowest gives the time.
    pub fn merge(&mut self, other: &Self) {
        self.wanted += other.wanted;
        self.obtained += other.obtained;
        self.elapsed_us = self.elapsed_us.max(other.elapsed_us);
        self.latency.merge(&other.latency);
        self.opened.merge(&other.opened);
        self.errors.merge(&other.errors);
        if self.example.is_none() {
            self.example.clone_from(&other.example);
        }
        if self.server_identity.is_none() {
            self.server_identity.clone_from(&other.server_identity);
        }
    }
}

/// One command of a script (`-r`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementStats {
    /// Successful executions.
    pub latency: Moments,
    /// Errors at this command that ended the transaction as failed.
    pub failures: u64,
    /// Errors at this command that were followed by another try.
    pub retries: u64,
}
