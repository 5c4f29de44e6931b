//! What the rules look at: plain numbers, cut out of a run's result.

use std::time::Duration;

/// All that the rules may know of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// One entry an agent.
    pub agents: Vec<AgentEvidence>,
    /// Samples in the histogram of response times.
    pub samples: u64,
    /// Samples beyond the bounds of a histogram, with the histogram's name.
    pub clipped: Vec<(&'static str, u64)>,
    /// Intervals of live agents that never came.
    pub missing: Vec<MissingEvidence>,
    /// Counts of the same thing, kept apart by the agents, that differ.
    pub disagreements: Vec<Disagreement>,
    /// Sessions asked for.
    pub sessions_wanted: u32,
    /// Sessions obtained.
    pub sessions_obtained: u32,
    /// Clients that ended before their time.
    pub aborted_clients: u32,
    /// When clients were without their sessions.
    pub outage: Option<OutageEvidence>,
    /// The run did not come to its planned end.
    pub cut: Option<Cut>,
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
    /// Why it left before the end, in good order.
    pub left: Option<String>,
    /// Lines of its log that could not be written.
    pub lost_log_lines: u64,
    /// Why its log was not collected completely, where it was to be.
    pub logs_missing: Option<String>,
}

/// Intervals that one agent owes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingEvidence {
    /// Its name.
    pub agent: String,
    /// The first one, from 0.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// Two counts of the same thing that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Whose; the cluster's if absent.
    pub agent: Option<String>,
    /// By one way.
    pub first: u64,
    /// By the other.
    pub second: u64,
    /// What was counted and how, with both counts.
    pub statement: String,
}

/// Times in which clients were without their sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutageEvidence {
    /// How many such times.
    pub count: u64,
    /// All of them together, as far as they are listed.
    pub length: Duration,
    /// What the first loss was.
    pub first_error: String,
    /// Transactions whose outcome nobody knows.
    pub unknown: u64,
    /// Response times run on through an outage (`-R`).
    pub in_response_time: bool,
}

/// What was measured of a run that did not come to its planned end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Somebody ended it (a signal); else it had a reason of its own.
    pub interrupted: bool,
    /// The measured part, to the end of its last transaction.
    pub measured: Duration,
    /// Transactions that were begun and came to an end.
    pub transactions: u64,
    /// How long or how many.
    pub planned: Planned,
}

/// What `-R` asked for and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RateEvidence {
    /// Transactions per second asked for.
    pub requested_tps: f64,
    /// Transactions that were begun and came to an end.
    pub begun: u64,
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
    /// Work that no agent could report may have been committed too, but no more than was in flight.
    Between {
        /// By the server.
        server: u64,
        /// By the agents.
        fleet: u64,
        /// The same with all that may have been committed unseen.
        most: u64,
    },
    /// Work that no agent could report may have been committed too, nobody knows how much.
    AtLeast {
        /// By the server.
        server: u64,
        /// By the agents.
        fleet: u64,
    },
}

impl Comparison {
    /// The server says what cannot be, if the agents are right.
    #[must_use]
    pub fn is_contradicted(&self) -> bool {
        match *self {
            Self::NotCheckable(_) => false,
            Self::Exactly { server, fleet } => server != fleet,
            Self::AtLeast { server, fleet } => server < fleet,
            Self::Between { server, fleet, most } => !(fleet..=most).contains(&server),
        }
    }
}

#[cfg(test)]
impl Evidence {
    /// One agent, 100,000 transactions, nothing wrong; tests spoil one thing each.
    pub(super) fn sound() -> Self {
        let agent = AgentEvidence {
            name: "one".into(),
            clients: 10,
            start_offset_us: Some(120),
            clock_error_us: 80,
            clock_drift_us: -20,
            cpu_fraction: 0.3,
            loop_lag_us: 1500,
            lost: None,
            left: None,
            lost_log_lines: 0,
            logs_missing: None,
        };
        Self {
            agents: vec![agent],
            samples: 100_000,
            clipped: vec![("response time", 0)],
            missing: Vec::new(),
            disagreements: Vec::new(),
            sessions_wanted: 10,
            sessions_obtained: 10,
            aborted_clients: 0,
            outage: None,
            cut: None,
            rate: None,
            server_commits: Comparison::Exactly { server: 100_010, fleet: 100_010 },
            history_rows: Comparison::Exactly { server: 100_000, fleet: 100_000 },
        }
    }
}
