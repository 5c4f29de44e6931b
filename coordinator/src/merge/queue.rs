//! The open intervals of one phase, one after the other; the first is the next to yield.
//!
//! Each agent delivers in order, so what is new follows the last open one, unless nobody had load for a
//! while: what lies between is empty then.

use std::collections::VecDeque;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Interval, Phase};

use super::slot::{Origin, Slot};

#[derive(Debug)]
pub(super) struct Queue {
    phase: Phase,
    open: VecDeque<Slot>,
    /// Intervals yielded so far.
    yielded: u32,
}

impl Queue {
    pub(super) fn new(phase: Phase) -> Self {
        Self { phase, open: VecDeque::new(), yielded: 0 }
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// The index of the next interval to yield.
    pub(super) fn next(&self) -> u32 {
        self.yielded
    }

    /// Open intervals.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Adds an agent's interval; gives it back if the cluster's was yielded without it. A new one is
    /// marked with those who are silent.
    pub(super) fn add(
        &mut self,
        interval: Interval,
        origin: Origin,
        silent: impl Iterator<Item = AgentId>,
    ) -> Option<Interval> {
        let Some(place) = interval.index.checked_sub(self.yielded) else { return Some(interval) };
        if let Some(slot) = self.open.get_mut(place as usize) {
            slot.add(&interval, origin);
            return None;
        }
        while self.open.len() < place as usize {
            let index = self.yielded + u32::try_from(self.open.len()).unwrap_or(u32::MAX);
            let (scripts, rate_limited) = (interval.scripts.len(), interval.lag.is_some());
            let nothing = Interval::new(self.phase, index, scripts, rate_limited);
            self.open.push_back(Slot::empty(nothing));
        }
        self.open.push_back(Slot::new(interval, origin, silent));
        None
    }

    /// Marks the open intervals that the agent, having delivered so many, has not delivered.
    pub(super) fn mark_unreachable(&mut self, agent: AgentId, received: u32) {
        let delivered = received.saturating_sub(self.yielded);
        for slot in self.open.iter_mut().skip(delivered as usize) {
            slot.mark_unreachable(agent);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Slot> {
        let slot = self.open.pop_front()?;
        self.yielded += 1;
        Some(slot)
    }
}
