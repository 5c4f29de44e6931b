//! One agent as a run sees it.

use std::sync::Arc;
use std::time::Instant;

use pgsurge_common::ids::{AgentId, RunId};
use pgsurge_proto::message::Command;
use tokio::sync::mpsc;

use super::clock::ClockReading;
use super::hub::Hub;
use super::registry::{AgentFacts, FleetEvent, Key, RunLink};

/// An agent that was admitted. Cheap to clone; stays valid, but idle, after the agent is gone.
#[derive(Clone, Debug)]
pub struct AgentHandle {
    hub: Arc<Hub>,
    key: Key,
    facts: Arc<AgentFacts>,
}

/// All agents that could take part in a run, in the order of admission.
pub(super) fn free(hub: &Arc<Hub>) -> Vec<AgentHandle> {
    let registry = hub.lock();
    let free = registry.agents.iter().filter(|(_, agent)| agent.is_free());
    free.map(|(key, agent)| AgentHandle::new(Arc::clone(hub), *key, agent.facts.clone())).collect()
}

impl AgentHandle {
    fn new(hub: Arc<Hub>, key: Key, facts: AgentFacts) -> Self {
        Self { hub, key, facts: Arc::new(facts) }
    }

    pub(super) fn hub(&self) -> &Hub {
        &self.hub
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    /// What it said of itself.
    #[must_use]
    pub fn facts(&self) -> &AgentFacts {
        &self.facts
    }

    /// Takes the agent into a run; `false` if it is gone or serves another one.
    #[must_use]
    pub fn join(&self, run: &RunId, agent: AgentId, events: mpsc::Sender<FleetEvent>) -> bool {
        let joined = self.hub.with(self.key, |known| {
            let free = known.run.is_none();
            if free {
                known.run = Some(RunLink::new(run.clone(), agent, events));
                known.peer.serve();
            }
            free
        });
        joined == Some(true)
    }

    /// Sends a command about a part of the run; it arrives once, also over a connection that comes back.
    pub fn command(&self, part: AgentId, command: Command) {
        self.hub.with(self.key, |agent| agent.command(part, command));
    }

    /// Agents of the same fleet that could take part in a run.
    #[must_use]
    pub fn spares(&self) -> Vec<Self> {
        free(&self.hub)
    }

    /// Begins a round of clock probes, which ends in an event.
    pub fn measure_clock(&self) {
        let now_ns = self.hub.now_ns();
        self.hub.with(self.key, |agent| agent.measure(now_ns));
    }

    /// The last reading of its clock.
    #[must_use]
    pub fn clock(&self) -> Option<ClockReading> {
        self.hub.with(self.key, |agent| agent.clock).flatten()
    }

    /// When it was last heard; `None` once it is forgotten.
    #[must_use]
    pub fn last_heard(&self) -> Option<Instant> {
        self.hub.with(self.key, |agent| agent.last_heard)
    }

    /// The agent is lost: its stream ends and it cannot come back to its session.
    pub fn forget(&self) {
        self.hub.forget(self.key);
    }

    /// Nanoseconds of the clock that readings refer to.
    #[must_use]
    pub fn coordinator_ns(&self) -> u64 {
        self.hub.now_ns()
    }
}
