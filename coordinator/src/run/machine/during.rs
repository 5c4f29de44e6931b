//! From the common start to the end of all load.

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_proto::message::Stop;

use super::{Action, Ending, Failure, Machine, Note, OnAgentLoss, Phase, Running, State};

impl Machine {
    pub(super) fn running(&mut self) -> Option<&mut Running> {
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
        self.stop_active(Stop::Drain, actions);
    }

    /// Load ends at once everywhere; nobody is waited for beyond the bound.
    pub(super) fn stop_now(&mut self, bound: Duration, actions: &mut Vec<Action>) {
        let limit = self.now + bound;
        let Some(running) = self.running().filter(|r| r.stop != Some(Stop::Now)) else { return };
        running.stop = Some(Stop::Now);
        running.give_up_at = Some(limit);
        self.stop_active(Stop::Now, actions);
    }

    /// Clients that have not joined yet do not any more.
    fn stop_active(&mut self, stop: Stop, actions: &mut Vec<Action>) {
        self.tell_active(|part| Action::Stop(part, stop), actions);
        self.forget_joining();
    }

    /// A client aborted under `--exit-on-abort`.
    pub(super) fn abort(&mut self, actions: &mut Vec<Action>) {
        self.stop_now(self.rules.abort_within + self.rules.grace, actions);
    }

    /// Parts of the run have ended before the rest.
    pub(super) fn after_loss(&mut self, lost: &[AgentId], actions: &mut Vec<Action>) {
        match self.rules.on_agent_loss {
            OnAgentLoss::Fail => {
                self.drain(Some(self.rules.drain_timeout.unwrap_or(self.rules.grace)), actions);
            }
            OnAgentLoss::Continue => {}
            OnAgentLoss::Rebalance => lost.iter().for_each(|part| self.place(*part, actions)),
        }
        self.end_if_done(actions);
    }

    pub(super) fn finished(&mut self, id: AgentId, actions: &mut Vec<Action>) {
        if !self.part(id).is_active() {
            return;
        }
        self.part(id).state = State::Finished;
        let leaving = self.agent(id).leaving;
        match self.phase {
            // What it has left undone is for others to do.
            Phase::Running(_) if leaving => self.after_loss(&[id], actions),
            Phase::Running(_) => self.end_if_done(actions),
            Phase::Over => {}
            _ => {
                let reason = "its load ended before it began".to_owned();
                self.end(Ending::Failed(Failure::Lost(id, reason)), actions);
            }
        }
    }

    pub(super) fn end_if_done(&mut self, actions: &mut Vec<Action>) {
        if self.active().is_empty() && self.homeless.is_empty() {
            self.end(Ending::Done, actions);
        }
    }

    pub(super) fn leaving(&mut self, id: AgentId, reason: String, actions: &mut Vec<Action>) {
        match self.phase {
            Phase::Running(_) => {
                self.agent(id).leaving = true;
                actions.push(Action::Note(Note::Left(id, reason)));
                if self.rules.on_agent_loss == OnAgentLoss::Fail {
                    self.after_loss(&[], actions);
                }
            }
            Phase::Over => {}
            _ => self.end(Ending::Failed(Failure::Lost(id, reason)), actions),
        }
    }

    pub(super) fn fault(&mut self, id: AgentId, reason: &str, actions: &mut Vec<Action>) {
        if self.part(id).is_active() && self.phase != Phase::Over {
            self.lose_parts(&[id], reason, actions);
        }
    }

    pub(super) fn gone(&mut self, id: AgentId, reason: &str, actions: &mut Vec<Action>) {
        if self.phase != Phase::Over {
            self.lose(id, reason, false, actions);
        }
    }

    /// What an expelled agent does is not known before its lease is over.
    pub(super) fn expelled(&mut self, id: AgentId, reason: &str, actions: &mut Vec<Action>) {
        let reason = format!("it broke the protocol: {reason}");
        match self.phase {
            Phase::Running(_) => {
                self.agent(id).fault.get_or_insert(reason);
            }
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
            self.measure_all(actions);
        }
        if stop_now_at.is_some_and(|at| now >= at) {
            self.stop_now(self.rules.abort_within + self.rules.grace, actions);
        }
        self.look_for_stalls(actions);
        self.look_at_joining(actions);
        if give_up_at.is_some_and(|at| now >= at) {
            for id in self.at_work() {
                let reason = "it did not end its load when told to".to_owned();
                self.lose(id, &reason, true, actions);
            }
        }
    }

    /// An agent may answer while its load hangs.
    fn look_for_stalls(&mut self, actions: &mut Vec<Action>) {
        for id in self.those(|part| part.state == State::Active) {
            let silent = self.now.saturating_sub(self.part(id).delivered);
            if silent >= self.rules.stalled_after && !self.agent(id).unreachable {
                let reason = format!("it delivered no interval for {} s", silent.as_secs());
                self.lose(id, &reason, true, actions);
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
