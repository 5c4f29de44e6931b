//! An interval that not all agents have delivered yet, and what becomes of it.

use std::collections::BTreeSet;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Counts, Interval, Vitals};

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
    /// What each agent's part added, as it came.
    pub parts: Vec<PartInterval>,
}

/// One part's share of a cluster interval, in a few figures: its histogram is not kept.
#[derive(Clone, Debug, PartialEq)]
pub struct PartInterval {
    /// The part.
    pub part: AgentId,
    /// Its transactions.
    pub counts: Counts,
    /// Median, 99th percentile and greatest of its response times in microseconds, if it has any.
    pub response_us: Option<[u64; 3]>,
    /// Its clients at work at the end.
    pub clients: u32,
    /// How its host fared.
    pub vitals: Vitals,
}

impl PartInterval {
    fn of(part: AgentId, interval: &Interval) -> Self {
        let response = Some(&interval.response).filter(|h| !h.is_empty());
        Self {
            part,
            counts: interval.counts,
            response_us: response.map(|h| [0.5, 0.99, 1.0].map(|q| h.quantile_us(q))),
            clients: interval.clients,
            vitals: interval.vitals,
        }
    }
}

#[derive(Debug)]
pub(super) struct Slot {
    interval: Interval,
    agents: BTreeSet<AgentId>,
    unreachable: BTreeSet<AgentId>,
    moved: u32,
    parts: Vec<PartInterval>,
}

/// Whose interval it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The part itself.
    pub(super) part: AgentId,
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
        Self { interval, agents, unreachable, moved: 0, parts: Vec::new() }
    }

    pub(super) fn new(
        first: Interval,
        origin: Origin,
        unreachable: impl Iterator<Item = AgentId>,
    ) -> Self {
        let part = PartInterval::of(origin.part, &first);
        let mut slot = Self { unreachable: unreachable.collect(), ..Self::empty(first) };
        slot.enter(origin, part);
        slot
    }

    pub(super) fn add(&mut self, interval: &Interval, origin: Origin) {
        self.interval.merge(interval);
        self.enter(origin, PartInterval::of(origin.part, interval));
    }

    fn enter(&mut self, origin: Origin, part: PartInterval) {
        self.agents.insert(origin.host);
        if origin.late {
            self.unreachable.insert(origin.host);
        }
        if origin.moved {
            self.moved += part.clients;
        }
        self.parts.push(part);
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
            parts: self.parts,
        }
    }
}
