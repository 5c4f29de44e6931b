//! What the rules look at: plain numbers, cut out of a run's result.

use std::time::Duration;

use pgsurge_common::stats::Counts;

/// All that the rules may know of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// One entry an agent.
    pub agents: Vec<AgentEvidence>,
    /// The cluster's counters of the measured part.
    pub merged: Counts,
    /// Of each script, where there are several; else empty.
    pub scripts: Vec<Counts>,
    /// Samples in the histogram of response times.
    pub samples: u64,
    /// Samples beyond the bounds of a histogram, with the histogram's name.
    pub clipped: Vec<(&'static str, u64)>,
    /// Intervals of a live agent that never came.
    pub intervals_missing: u64,
    /// Sessions asked for.
    pub sessions_wanted: u32,
    /// Sessions obtained.
    pub sessions_obtained: u32,
    /// Clients that ended before their time.
    pub aborted_clients: u32,
    /// Under `-R`.
    pub rate: Option<RateEvidence>,
    /// Commits, by the server and by the agents.
    pub server_commits: Comparison,
    /// Rows added to `pgbench_history` against the transactions that add one.
    pub history_rows: Comparison,
}

/// One agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentEvidence {
    /// Its name.
    pub name: String,
    /// Its clients.
    pub clients: u32,
    /// Sum of its intervals.
    pub intervals: Counts,
    /// Its own counters; absent if it was lost.
    pub totals: Option<Counts>,
    /// Sum of its clients' own counters of successful transactions.
    pub by_client: Option<u64>,
    /// First transaction against the common start, in microseconds.
    pub start_offset_us: Option<i64>,
    /// Bound on the error of its clock's offset, in microseconds.
    pub clock_error_us: u64,
    /// Movement of its clock's offset during the run, in microseconds.
    pub clock_drift_us: i64,
    /// CPU time over wall time of its busiest worker in the measured part.
    pub cpu_fraction: f64,
    /// The longest time by which a worker's own timer fired late, in microseconds.
    pub loop_lag_us: u64,
    /// When (seconds since the measured part began) and why it was lost.
    pub lost: Option<(f64, String)>,
}

/// What `-R` asked for and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RateEvidence {
    /// Transactions per second asked for.
    pub requested_tps: f64,
    /// How long or how many.
    pub planned: Planned,
    /// The measured part, to the end of its last transaction.
    pub duration: Duration,
    /// Mean schedule lag of consecutive stretches of the measured part, in microseconds.
    pub lag_means_us: Vec<f64>,
}

/// What bounds the measured part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planned {
    /// Transactions of all clients.
    Transactions(u64),
    /// A time.
    Time(Duration),
}

/// A count of the server's against the fleet's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The server's count cannot be predicted, with the reason.
    NotCheckable(String),
    /// Both must be equal.
    Exactly {
        /// By the server.
        server: u64,
        /// By the agents.
        fleet: u64,
    },
    /// Work that no agent could report may have been committed too.
    AtLeast {
        /// By the server.
        server: u64,
        /// By the agents.
        fleet: u64,
    },
}

#[cfg(test)]
impl Evidence {
    /// One agent, 100,000 transactions, nothing wrong; tests spoil one thing each.
    pub(super) fn sound() -> Self {
        let counts = Counts { transactions: 100_000, commits: 100_000, ..Counts::default() };
        let agent = AgentEvidence {
            name: "one".into(),
            clients: 10,
            intervals: counts,
            totals: Some(counts),
            by_client: Some(100_000),
            start_offset_us: Some(120),
            clock_error_us: 80,
            clock_drift_us: -20,
            cpu_fraction: 0.3,
            loop_lag_us: 1500,
            lost: None,
        };
        Self {
            agents: vec![agent],
            merged: counts,
            scripts: Vec::new(),
            samples: 100_000,
            clipped: vec![("response time", 0)],
            intervals_missing: 0,
            sessions_wanted: 10,
            sessions_obtained: 10,
            aborted_clients: 0,
            rate: None,
            server_commits: Comparison::Exactly { server: 100_010, fleet: 100_010 },
            history_rows: Comparison::Exactly { server: 100_000, fleet: 100_000 },
        }
    }
}
