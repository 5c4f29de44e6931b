//! The open intervals of one phase, one after the other; the first is the next to yield.
//!
//! Each agent delivers in order, so what is new always follows the last open one.

use std::collections::VecDeque;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Interval, Phase};

use super::slot::Slot;

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
        silent: impl Iterator<Item = AgentId>,
    ) -> Option<Interval> {
        let Some(place) = interval.index.checked_sub(self.yielded) else { return Some(interval) };
        match self.open.get_mut(place as usize) {
            Some(slot) => slot.add(&interval),
            None => self.open.push_back(Slot::new(interval, silent)),
        }
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
