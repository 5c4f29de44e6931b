//! From the common start to the end of all load.

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_proto::message::Stop;

use super::{Action, Ending, Failure, Machine, Note, OnAgentLoss, Part, Phase, Running};

impl Machine {
    fn running(&mut self) -> Option<&mut Running> {
        match &mut self.phase {
            Phase::Running(running) => Some(running),
            _ => None,
        }
    }

    /// No new transactions anywhere; load ends at once when the bound is over.
    pub(super) fn drain(&mut self, bound: Option<Duration>, actions: &mut Vec<Action>) {
        let limit = bound.map(|bound| self.now + bound + self.rules.grace);
        let Some(running) = self.running().filter(|running| running.stop.is_none()) else { return };
        running.stop = Some(Stop::Drain);
        running.stop_now_at = earliest(running.stop_now_at, limit);
        self.tell_active(|agent| Action::Stop(agent, Stop::Drain), actions);
    }

    /// Load ends at once everywhere; nobody is waited for beyond the bound.
    pub(super) fn stop_now(&mut self, bound: Duration, actions: &mut Vec<Action>) {
        let limit = self.now + bound;
        let Some(running) = self.running().filter(|r| r.stop != Some(Stop::Now)) else { return };
        running.stop = Some(Stop::Now);
        running.give_up_at = Some(limit);
        self.tell_active(|agent| Action::Stop(agent, Stop::Now), actions);
    }

    /// A client aborted under `--exit-on-abort`.
    pub(super) fn abort(&mut self, actions: &mut Vec<Action>) {
        self.stop_now(self.rules.abort_within + self.rules.grace, actions);
    }

    pub(super) fn after_loss(&mut self, actions: &mut Vec<Action>) {
        if self.rules.on_agent_loss == OnAgentLoss::Fail {
            self.drain(Some(self.rules.drain_timeout.unwrap_or(self.rules.grace)), actions);
        }
        self.end_if_done(actions);
    }

    pub(super) fn finished(&mut self, id: AgentId, actions: &mut Vec<Action>) {
        if self.agent(id).part != Part::Active {
            return;
        }
        self.agent(id).part = Part::Finished;
        match self.phase {
            Phase::Running(_) => self.end_if_done(actions),
            Phase::Over => {}
            _ => {
                let reason = "its load ended before it began".to_owned();
                self.end(Ending::Failed(Failure::Lost(id, reason)), actions);
            }
        }
    }

    fn end_if_done(&mut self, actions: &mut Vec<Action>) {
        if self.active().is_empty() {
            self.end(Ending::Done, actions);
        }
    }

    pub(super) fn leaving(&mut self, id: AgentId, reason: String, actions: &mut Vec<Action>) {
        match self.phase {
            Phase::Running(_) => {
                actions.push(Action::Note(Note::Left(id, reason)));
                // What it leaves undone is as much another test as what a lost one does.
                self.after_loss(actions);
            }
            Phase::Over => {}
            _ => self.end(Ending::Failed(Failure::Lost(id, reason)), actions),
        }
    }

    pub(super) fn fault(&mut self, id: AgentId, reason: String, actions: &mut Vec<Action>) {
        if self.agent(id).part == Part::Active && self.phase != Phase::Over {
            self.lose(id, reason, false, actions);
        }
    }

    /// What an expelled agent does is not known before its lease is over.
    pub(super) fn expelled(&mut self, id: AgentId, reason: &str, actions: &mut Vec<Action>) {
        if self.agent(id).part != Part::Active {
            return;
        }
        let reason = format!("it broke the protocol: {reason}");
        match self.phase {
            Phase::Running(_) => self.agent(id).fault = Some(reason),
            Phase::Over => {}
            _ => self.end(Ending::Failed(Failure::Lost(id, reason)), actions),
        }
    }

    pub(super) fn look_at_running(&mut self, actions: &mut Vec<Action>) {
        let now = self.now;
        let every = self.rules.clocks_every;
        let Some(running) = self.running() else { return };
        let (stop_now_at, give_up_at) = (running.stop_now_at, running.give_up_at);
        if now >= running.clocks_at {
            running.clocks_at = now + every;
            self.tell_active(Action::MeasureClock, actions);
        }
        if stop_now_at.is_some_and(|at| now >= at) {
            self.stop_now(self.rules.abort_within + self.rules.grace, actions);
        }
        self.look_for_stalls(actions);
        if give_up_at.is_some_and(|at| now >= at) {
            for id in self.active() {
                let reason = "it did not end its load when told to".to_owned();
                self.lose(id, reason, true, actions);
            }
        }
    }

    /// An agent may answer while its load hangs.
    fn look_for_stalls(&mut self, actions: &mut Vec<Action>) {
        for id in self.active() {
            let silent = self.now.saturating_sub(self.agent(id).delivered);
            if silent >= self.rules.stalled_after && !self.agent(id).unreachable {
                let reason = format!("it delivered no interval for {} s", silent.as_secs());
                self.lose(id, reason, true, actions);
            }
        }
    }
}

fn earliest(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
