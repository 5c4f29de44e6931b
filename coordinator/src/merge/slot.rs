//! An interval that not all agents have delivered yet, and what becomes of it.

use std::collections::BTreeSet;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::Interval;

/// One interval of the whole cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterInterval {
    /// All agents' results; `clients` is their sum, `vitals` the worst.
    pub interval: Interval,
    /// Agents whose results are in it. One that has done its work has none to give any more.
    pub agents: u32,
    /// Nobody is missing.
    pub complete: bool,
    /// Agents that should have delivered it and had not when it was closed: lost ones, and (only where
    /// too many intervals were open) ones that are behind.
    pub missing: Vec<AgentId>,
    /// Agents that were unreachable while it was open. Their results are in it unless they are missing.
    pub unreachable: Vec<AgentId>,
}

#[derive(Debug)]
pub(super) struct Slot {
    interval: Interval,
    agents: u32,
    unreachable: BTreeSet<AgentId>,
}

impl Slot {
    pub(super) fn new(first: Interval, unreachable: impl Iterator<Item = AgentId>) -> Self {
        Self { interval: first, agents: 1, unreachable: unreachable.collect() }
    }

    pub(super) fn add(&mut self, interval: &Interval) {
        self.interval.merge(interval);
        self.agents += 1;
    }

    pub(super) fn mark_unreachable(&mut self, agent: AgentId) {
        self.unreachable.insert(agent);
    }

    pub(super) fn close(self, missing: Vec<AgentId>) -> ClusterInterval {
        ClusterInterval {
            interval: self.interval,
            agents: self.agents,
            complete: missing.is_empty(),
            missing,
            unreachable: self.unreachable.into_iter().collect(),
        }
    }
}
