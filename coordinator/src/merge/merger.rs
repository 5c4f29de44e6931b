//! Takes what agents send, yields cluster intervals.
//!
//! An interval is yielded as soon as every agent that still has work delivered it, and strictly in
//! order within its phase. The phases do not wait for each other: a transaction that outlasts the
//! warm-up keeps the warm-up's last interval open while the measured part goes on. An unreachable agent
//! is waited for (it resends what it kept, so figures are late, not lost) until it is lost or too
//! many intervals are open; what comes later than that still enters all sums.

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Counts, ErrorCounts, Interval, Phase, Totals, micros};

use super::lane::{Lane, State};
use super::queue::Queue;
use super::slot::Origin;
use super::{AgentMerged, ClusterInterval, MergeError, Merged, Setup, Sums, Timeline, proof};

/// See the module.
#[derive(Debug)]
pub struct Merger {
    setup: Setup,
    open_most: usize,
    lanes: Vec<Lane>,
    /// Of the warm-up, and of the measured part.
    queues: [Queue; 2],
    closed: bool,
    measured: Sums,
    warmup: Counts,
    errors: ErrorCounts,
    timeline: Timeline,
}

impl Merger {
    /// Waits for the first interval of every agent.
    #[must_use]
    pub fn new(setup: Setup) -> Self {
        Self {
            open_most: setup.open_most(),
            lanes: setup.agents.iter().copied().map(Lane::new).collect(),
            queues: [Queue::new(Phase::Warmup), Queue::new(Phase::Measure)],
            closed: false,
            measured: Sums::new(setup.scripts, setup.rate_limited),
            warmup: Counts::default(),
            errors: ErrorCounts::default(),
            timeline: Timeline::new(setup.interval),
            setup,
        }
    }

    /// Takes the next interval of an agent. Ask [`Merger::next_ready`] afterwards.
    pub fn accept(&mut self, agent: AgentId, interval: Interval) -> Result<(), MergeError> {
        self.check_shape(agent, &interval)?;
        let lane = self.lane_mut(agent)?;
        lane.check_order(interval.phase, interval.index)?;
        lane.add(&interval);
        let origin = Origin {
            part: agent,
            host: lane.host,
            moved: lane.moved,
            late: lane.is_late(interval.phase, interval.index),
        };
        let silent = self.lanes.iter().filter(|lane| matches!(lane.state, State::Unreachable));
        let silent = silent.map(|lane| lane.host);
        if let Some(late) = self.queues[interval.phase as usize].add(interval, origin, silent) {
            self.add(&late);
            if late.phase == Phase::Measure {
                self.timeline.amend(&late);
            }
        }
        Ok(())
    }

    /// The agent is silent; it is still waited for.
    pub fn unreachable(&mut self, agent: AgentId) -> Result<(), MergeError> {
        let lane = self.lane_mut(agent)?;
        if !matches!(lane.state, State::Live) {
            return Ok(());
        }
        lane.state = State::Unreachable;
        let received = [Phase::Warmup, Phase::Measure].map(|phase| lane.received(phase));
        let host = lane.host;
        for (queue, received) in self.queues.iter_mut().zip(received) {
            queue.mark_unreachable(host, received);
        }
        Ok(())
    }

    /// The agent is heard from again, in this interval of the run. What it delivers of earlier ones is
    /// late.
    pub fn reachable(
        &mut self,
        agent: AgentId,
        (phase, index): (Phase, u32),
    ) -> Result<(), MergeError> {
        let lane = self.lane_mut(agent)?;
        if matches!(lane.state, State::Unreachable) {
            lane.state = State::Live;
            if phase == Phase::Measure {
                lane.was_late(Phase::Warmup, u32::MAX);
            }
            lane.was_late(phase, index);
        }
        Ok(())
    }

    /// Clients of a lost (or left) agent will go on as a new part of another agent, or of the same as it
    /// comes back; nothing is waited for until they [join](Self::join). `host` is the agent's first part.
    pub fn moving(
        &mut self,
        part: AgentId,
        host: AgentId,
        from: AgentId,
    ) -> Result<(), MergeError> {
        self.lane_mut(from)?.heirs.push(part);
        self.lanes.push(Lane::joining(part, host));
        Ok(())
    }

    /// They are to join with this interval, on which nobody has reported yet.
    pub fn join(&mut self, part: AgentId, (phase, index): (Phase, u32)) -> Result<(), MergeError> {
        self.lane_mut(part)?.join(phase, index);
        Ok(())
    }

    /// The agent is told to leave: what it does not do any more is missing.
    pub fn left(&mut self, agent: AgentId) -> Result<(), MergeError> {
        self.lane_mut(agent)?.left = true;
        Ok(())
    }

    /// The agent is given up: nothing is waited for or taken from it any more, what it delivered stays.
    /// Does nothing if it had finished before.
    pub fn lost(&mut self, agent: AgentId) -> Result<(), MergeError> {
        let lane = self.lane_mut(agent)?;
        if !matches!(lane.state, State::Finished(_)) {
            lane.state = State::Lost;
        }
        Ok(())
    }

    /// The agent has delivered its last interval; these are its own totals.
    pub fn finished(&mut self, agent: AgentId, totals: Totals) -> Result<(), MergeError> {
        let lane = self.lane_mut(agent)?;
        match lane.state {
            State::Lost => Err(MergeError::AfterLoss(agent)),
            State::Finished(_) => Err(MergeError::AfterFinish(agent)),
            State::Live | State::Unreachable => {
                lane.state = State::Finished(Box::new(totals));
                Ok(())
            }
        }
    }

    /// Every agent has finished or was lost.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !self.lanes.iter().any(Lane::is_awaited)
    }

    /// Agents that are waited for: they have not delivered an interval that others have.
    #[must_use]
    pub fn behind(&self) -> Vec<AgentId> {
        let open = self.queues.iter().filter(|queue| queue.len() > 0);
        let open: Vec<_> = open.map(|queue| (queue.phase(), queue.next())).collect();
        let lags = |lane: &&Lane| {
            lane.is_awaited() && open.iter().any(|&(phase, index)| !lane.has(phase, index))
        };
        self.lanes.iter().filter(lags).map(|lane| lane.agent).collect()
    }

    /// Waits for nobody any more: whatever is open becomes ready as it is.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The next cluster interval, if one is ready; ask again until there is none.
    pub fn next_ready(&mut self) -> Option<ClusterInterval> {
        self.ready_of(Phase::Warmup).or_else(|| self.ready_of(Phase::Measure))
    }

    fn ready_of(&mut self, phase: Phase) -> Option<ClusterInterval> {
        let queue = &self.queues[phase as usize];
        let index = queue.next();
        let waits = self.lanes.iter().any(|lane| lane.is_awaited() && !lane.has(phase, index));
        if waits && !self.closed && queue.len() <= self.open_most {
            return None;
        }
        let slot = self.queues[phase as usize].pop()?;
        let owes = |lane: &&Lane| self.owes(lane, phase, index);
        let missing = self.lanes.iter().filter(owes).map(|lane| lane.agent).collect();
        let ready = slot.close(missing);
        self.add(&ready.interval);
        if phase == Phase::Measure {
            self.timeline.push(&ready);
        }
        Some(ready)
    }

    /// The part's clients should have worked in this interval, and nothing of it is there: neither from it
    /// nor from those that took its clients over.
    fn owes(&self, lane: &Lane, phase: Phase, index: u32) -> bool {
        let done = matches!(lane.state, State::Finished(_)) && !lane.left;
        if done || lane.has(phase, index) {
            return false;
        }
        let heir = |id: &AgentId| self.lanes.iter().find(|lane| lane.agent == *id);
        let taken = |id| heir(id).is_some_and(|heir| heir.has_begun(phase, index));
        lane.heirs.is_empty() || !lane.heirs.iter().all(taken)
    }

    /// Ends the merge and proves the sums. Call it after the last [`Merger::next_ready`]; what is still
    /// open then is closed first.
    #[must_use]
    pub fn finish(mut self) -> Merged {
        self.close();
        while self.next_ready().is_some() {}
        let mismatches = proof::mismatches(&self.lanes, &self.measured, &self.warmup);
        let missing = proof::missing(&self.lanes, micros(self.setup.interval));
        Merged {
            measured: self.measured,
            warmup: self.warmup,
            errors: self.errors,
            agents: self.lanes.into_iter().map(AgentMerged::from).collect(),
            timeline: self.timeline,
            mismatches,
            missing,
        }
    }

    fn lane_mut(&mut self, agent: AgentId) -> Result<&mut Lane, MergeError> {
        let lane = self.lanes.iter_mut().find(|lane| lane.agent == agent);
        lane.ok_or(MergeError::UnknownAgent(agent))
    }

    fn check_shape(&self, agent: AgentId, interval: &Interval) -> Result<(), MergeError> {
        let rate_limited = self.setup.rate_limited;
        if interval.scripts.len() != self.setup.scripts {
            return Err(MergeError::Shape { agent, what: "scripts" });
        }
        if interval.service.is_some() != rate_limited || interval.lag.is_some() != rate_limited {
            return Err(MergeError::Shape { agent, what: "histograms" });
        }
        Ok(())
    }

    fn add(&mut self, interval: &Interval) {
        self.errors.merge(&interval.errors);
        match interval.phase {
            Phase::Warmup => self.warmup.merge(&interval.counts),
            Phase::Measure => self.measured.add(interval),
        }
    }
}
