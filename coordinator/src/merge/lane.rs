//! One agent's sequence of intervals: what it must send next, and the sum of what it sent.

use std::cmp::Ordering;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Counts, ErrorCounts, Histogram, Interval, Phase, Totals, Vitals};

use super::MergeError;

/// Where an agent stands.
#[derive(Debug)]
pub(super) enum State {
    Live,
    Unreachable,
    Lost,
    Finished(Box<Totals>),
}

/// See the module.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) agent: AgentId,
    pub(super) state: State,
    pub(super) measured: Counts,
    pub(super) warmup: Counts,
    pub(super) response: Histogram,
    pub(super) errors: ErrorCounts,
    pub(super) vitals: Vitals,
    /// The agent that has this part, by its first part.
    pub(super) host: AgentId,
    /// It took over clients of a lost agent.
    pub(super) moved: bool,
    /// It ended before the rest, in good order.
    pub(super) left: bool,
    /// Parts that took over its clients.
    pub(super) heirs: Vec<AgentId>,
    /// Its first interval; `None` while it has not joined yet.
    begins: Option<(Phase, u32)>,
    /// The next interval of the warm-up, and of the measured part.
    next: [u32; 2],
    /// Intervals before these were late, since the agent was unreachable when they were due.
    late_until: [u32; 2],
}

impl Lane {
    pub(super) fn new(agent: AgentId) -> Self {
        Self {
            agent,
            state: State::Live,
            measured: Counts::default(),
            warmup: Counts::default(),
            response: Histogram::new(),
            errors: ErrorCounts::default(),
            vitals: Vitals::default(),
            host: agent,
            moved: false,
            left: false,
            heirs: Vec::new(),
            begins: Some((Phase::Warmup, 0)),
            next: [0; 2],
            late_until: [0; 2],
        }
    }

    /// Clients that will join a run in course. They owe nothing before they do.
    pub(super) fn joining(agent: AgentId, host: AgentId) -> Self {
        Self { host, moved: true, begins: None, next: [u32::MAX; 2], ..Self::new(agent) }
    }

    /// They are to join with this interval.
    pub(super) fn join(&mut self, phase: Phase, index: u32) {
        self.begins = Some((phase, index));
        self.next = match phase {
            Phase::Warmup => [index, 0],
            Phase::Measure => [u32::MAX, index],
        };
    }

    /// It has load in this interval, or had some before.
    pub(super) fn has_begun(&self, phase: Phase, index: u32) -> bool {
        self.begins.is_some_and(|begins| begins <= (phase, index))
    }

    /// Its intervals of the measured part.
    pub(super) fn measured_intervals(&self) -> std::ops::Range<u32> {
        match self.begins {
            None => 0..0,
            Some((Phase::Warmup, _)) => 0..self.received(Phase::Measure),
            Some((Phase::Measure, first)) => first..self.received(Phase::Measure),
        }
    }

    /// What is delivered of the intervals before this one was late.
    pub(super) fn was_late(&mut self, phase: Phase, until: u32) {
        self.late_until[phase as usize] = until;
    }

    /// This interval was late.
    pub(super) fn is_late(&self, phase: Phase, index: u32) -> bool {
        matches!(self.state, State::Unreachable) || index < self.late_until[phase as usize]
    }

    /// Intervals of the phase received so far.
    pub(super) fn received(&self, phase: Phase) -> u32 {
        self.next[phase as usize]
    }

    /// It has delivered this interval.
    pub(super) fn has(&self, phase: Phase, index: u32) -> bool {
        self.received(phase) > index
    }

    /// Intervals still have to come from it.
    pub(super) fn is_awaited(&self) -> bool {
        matches!(self.state, State::Live | State::Unreachable)
    }

    /// Checks that this interval is the next one of its phase. The phases overlap where a transaction
    /// outlasts the warm-up.
    pub(super) fn check_order(&self, phase: Phase, index: u32) -> Result<(), MergeError> {
        let agent = self.agent;
        match self.state {
            State::Lost => return Err(MergeError::AfterLoss(agent)),
            State::Finished(_) => return Err(MergeError::AfterFinish(agent)),
            State::Live | State::Unreachable => {}
        }
        let expected = self.received(phase);
        match index.cmp(&expected) {
            Ordering::Equal => Ok(()),
            Ordering::Less => Err(MergeError::Duplicate { agent, phase, index }),
            Ordering::Greater => Err(MergeError::OutOfOrder { agent, phase, index, expected }),
        }
    }

    /// Adds the next interval.
    pub(super) fn add(&mut self, interval: &Interval) {
        self.next[interval.phase as usize] = interval.index.saturating_add(1);
        self.errors.merge(&interval.errors);
        match interval.phase {
            Phase::Warmup => self.warmup.merge(&interval.counts),
            Phase::Measure => {
                self.measured.merge(&interval.counts);
                self.response.merge(&interval.response);
                self.vitals.worsen(&interval.vitals);
            }
        }
    }
}
