//! What is left when a run is over.

use std::time::{Duration, Instant};

use pgsurge_common::ids::AgentId;
use pgsurge_common::plan::split::Share;
use pgsurge_common::stats::ConnectStats;
use pgsurge_proto::message::Ready;

use crate::fleet::{AgentFacts, ClockSummary};
use crate::logs::Collected;
use crate::merge::Merged;

/// A run that had load on.
#[derive(Debug)]
pub struct RunOutcome {
    /// One entry a part of the run, numbered in this order: the agents of the beginning first, then what was
    /// taken over from lost ones.
    pub agents: Vec<AgentOutcome>,
    /// Sums, timeline and proofs; holds the agents' totals, too.
    pub merged: Merged,
    /// The common start, on the coordinator's monotonic clock.
    pub started: Instant,
    /// Instants that were named until all agents took one.
    pub start_attempts: u32,
    /// From the common start to the moment at which load was told to end before its time, if it was.
    pub stopped_after: Option<Duration>,
    /// How often the user interrupted: 0 is a run that went to its end.
    pub interrupts: u8,
    /// A client met what ends the whole run.
    pub aborted: Option<Aborted>,
    /// An agent was lost or left, and the run was to end then.
    pub cut_short: bool,
}

/// What a client met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aborted {
    /// Its own end, and the plan wanted the run to end then.
    ClientEnded,
    /// Something that no client can do its work with.
    Because(String),
}

/// One agent's part in it.
#[derive(Debug)]
pub struct AgentOutcome {
    /// Its number.
    pub id: AgentId,
    /// What it said of itself.
    pub facts: AgentFacts,
    /// What it had to do.
    pub share: Share,
    /// How its connection phase ended; nothing wanted where it never did.
    pub ready: Ready,
    /// How well its clock was known.
    pub clock: ClockSummary,
    /// It was given up.
    pub lost: Option<Loss>,
    /// It was told to leave by someone else, and why; its totals are there.
    pub left: Option<String>,
    /// When it was unreachable and came back; the first hundred.
    pub silences: Vec<Silence>,
    /// Whose clients these were before, if they were taken over.
    pub took_over: Option<TookOver>,
    /// What came of its logs, all parts of the agent together; absent where nobody collected them.
    pub logs: Option<Collected>,
}

/// Clients that an agent took over from a lost one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TookOver {
    /// The part that had them before.
    pub from: AgentId,
    /// When they began here, in seconds since the measured part began; absent if they never did.
    pub at_s: Option<f64>,
}

/// The loss of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// When it was last heard, in seconds since the measured part began; negative if before.
    pub at_s: f64,
    /// What was seen.
    pub reason: String,
}

/// A time in which an agent was not heard from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Silence {
    /// Its end, in seconds since the measured part began.
    pub until_s: f64,
    /// Its length.
    pub length: Duration,
}

/// Opening the sessions, all agents together: counts add up, the slowest agent gives the time.
#[must_use]
pub fn connections<'a>(agents: impl IntoIterator<Item = &'a Ready>) -> ConnectStats {
    let mut all = ConnectStats::default();
    for Ready { connect, direct: _ } in agents {
        all.merge(connect);
    }
    all
}
