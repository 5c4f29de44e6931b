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
    /// Those of its clients that were taken over from lost agents.
    pub moved: u32,
}

#[derive(Debug)]
pub(super) struct Slot {
    interval: Interval,
    agents: BTreeSet<AgentId>,
    unreachable: BTreeSet<AgentId>,
    moved: u32,
}

/// Whose interval it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The agent, by its first part.
    pub(super) host: AgentId,
    /// The clients were taken over from a lost agent.
    pub(super) moved: bool,
    /// The agent was unreachable when the interval was due.
    pub(super) late: bool,
}

impl Slot {
    /// Nobody has delivered it.
    pub(super) fn empty(interval: Interval) -> Self {
        let (agents, unreachable) = (BTreeSet::new(), BTreeSet::new());
        Self { interval, agents, unreachable, moved: 0 }
    }

    pub(super) fn new(
        first: Interval,
        origin: Origin,
        unreachable: impl Iterator<Item = AgentId>,
    ) -> Self {
        let mut slot = Self { unreachable: unreachable.collect(), ..Self::empty(first) };
        slot.enter(origin, slot.interval.clients);
        slot
    }

    pub(super) fn add(&mut self, interval: &Interval, origin: Origin) {
        self.interval.merge(interval);
        self.enter(origin, interval.clients);
    }

    fn enter(&mut self, origin: Origin, clients: u32) {
        self.agents.insert(origin.host);
        if origin.late {
            self.unreachable.insert(origin.host);
        }
        if origin.moved {
            self.moved += clients;
        }
    }

    pub(super) fn mark_unreachable(&mut self, agent: AgentId) {
        self.unreachable.insert(agent);
    }

    pub(super) fn close(self, missing: Vec<AgentId>) -> ClusterInterval {
        ClusterInterval {
            interval: self.interval,
            agents: u32::try_from(self.agents.len()).unwrap_or(u32::MAX),
            complete: missing.is_empty(),
            missing,
            unreachable: self.unreachable.into_iter().collect(),
            moved: self.moved,
        }
    }
}
