//! Why load never began, with the names of those that are missing.

use std::time::Duration;

use pgsurge_common::stats::ConnectStats;
use pgsurge_common::wording::{counted, plural};
use thiserror::Error;

/// Agents that something waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(pub Vec<String>);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", plural(self.0.len() as u64, "agent"), self.0.join(", "))
    }
}

/// Why load never began. Every agent was told to close its sessions.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RunError {
    /// The user did not want it any more.
    #[error("interrupted before the start")]
    Interrupted,
    /// Fewer sessions than asked for, and that was not allowed, or none at all.
    #[error("{} of {} connected{}", .0.obtained, counted(.0.wanted.into(), "client"), reasons(.0))]
    TooFewSessions(Box<ConnectStats>),
    /// Agents reached different servers.
    #[error("agents reached different servers ({}), use --any-server if that is wanted", .0.join("; "))]
    DifferentServers(Vec<String>),
    /// Not everybody was ready in time.
    #[error("{missing} did not report open sessions within {} s", waited.as_secs())]
    NotReady {
        /// Who.
        missing: Missing,
        /// How long they had.
        waited: Duration,
    },
    /// Clocks could not be measured in time.
    #[error("{missing} did not answer clock probes within {} s", waited.as_secs())]
    NoClock {
        /// Whose.
        missing: Missing,
        /// How long they had.
        waited: Duration,
    },
    /// No instant was taken by all.
    #[error("{missing} did not take a start instant in time, {attempts} were named")]
    NotArmed {
        /// Who did not take the last one.
        missing: Missing,
        /// How many were named.
        attempts: u32,
    },
    /// An agent had begun before its start was called off.
    #[error("agent {0} began alone, since the message that called its start off came too late")]
    BeganAlone(String),
    /// An agent is out.
    #[error("agent {agent} does not take part: {reason}")]
    Lost {
        /// Who.
        agent: String,
        /// Why.
        reason: String,
    },
}

/// The kinds of errors with their numbers, one of them in full, and what can be done.
fn reasons(connect: &ConnectStats) -> String {
    let kinds: Vec<_> =
        connect.errors.0.iter().map(|(kind, count)| format!("{kind}: {count}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let example = connect.example.as_ref().map(|example| format!(": {example}"));
    let hint = if connect.obtained == 0 {
        ""
    } else {
        "\nhint: --allow-fewer-clients goes on with those that connected"
    };
    kinds + &example.unwrap_or_default() + hint
}
