//! Clients of lost agents go on elsewhere: a place is found, sessions are opened, and they begin with an
//! interval of their own.
//!
//! Nobody is given clients of an agent before that agent is lost, so not before its lease is over. Clients
//! that cannot join in time, or not at all, are given up and not moved again.

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_proto::message::Stop;

use super::{Action, Heir, Joining, Machine, Note, Opened, Part, Phase, State};

impl Machine {
    /// Looks for a place for the clients of a part, if there is still something for them to do.
    pub(super) fn place(&mut self, lost: AgentId, actions: &mut Vec<Action>) {
        let began = self.part(lost).armed;
        let Phase::Running(running) = &self.phase else { return };
        if running.stop.is_some() || !began || self.boundary_ahead(self.rules.start_lead).is_none()
        {
            return;
        }
        // One on which they failed is not given them again, even if it is still there.
        let failed = self.agent(lost).first;
        let able = |agent: &&super::Agent| {
            // Nobody listens for an agent that has nothing to do, so silence alone counts.
            let heard = self.now.saturating_sub(agent.heard) < self.rules.unreachable_after;
            let there = heard && !agent.unreachable && !agent.lost && !agent.leaving;
            there && agent.fault.is_none() && agent.first != failed
        };
        let among = self.agents.iter().filter(able).map(|agent| agent.first).collect();
        self.homeless.push(lost);
        actions.push(Action::Place { lost, among });
    }

    /// Handles [`super::Event::Placed`].
    pub(super) fn placed(&mut self, lost: AgentId, by: &[Heir], actions: &mut Vec<Action>) {
        let Some(place) = self.homeless.iter().position(|id| *id == lost) else { return };
        self.homeless.remove(place);
        let now = self.now;
        if by.is_empty() {
            actions.push(Action::Note(Note::NoHeir(lost)));
        }
        let stop = self.running().and_then(|running| running.stop);
        for heir in by {
            let agent = match *heir {
                Heir::Agent(id) => self.part(id).agent,
                Heir::Spare(slowest) => self.admit(Some(slowest)),
            };
            let id = super::number(self.parts.len());
            let state = match stop {
                None => State::Joining(Joining::Opening(now + self.rules.prepare_within)),
                Some(_) => State::Active,
            };
            self.parts.push(Part::new(agent, now, state));
            actions.extend(stop.map(|stop| Action::Stop(id, stop)));
        }
        self.end_if_done(actions);
    }

    /// Sessions of clients that were taken over are open.
    pub(super) fn opened_again(&mut self, id: AgentId, opened: Opened, actions: &mut Vec<Action>) {
        if !matches!(self.part(id).state, State::Joining(Joining::Opening(_))) {
            return;
        }
        let obtained = opened.obtained;
        self.part(id).opened = Some(opened);
        if obtained == 0 {
            self.give_up(id, "it could open no session for the clients that it took over", actions);
        } else if self.servers().len() > 1 && !self.rules.any_server {
            self.give_up(id, "it reached another server than the others", actions);
        } else {
            self.name_joining(id, 1, actions);
        }
    }

    /// Names the beginning of an interval at which they are to begin.
    fn name_joining(&mut self, id: AgentId, attempt: u32, actions: &mut Vec<Action>) {
        let slowest = self.agent(id).slowest.unwrap_or_default();
        let lead = self.lead(attempt, slowest);
        let Some((after, at)) = self.boundary_ahead(lead) else {
            return self.stop_joining(id, actions);
        };
        let answer_by = at + self.rules.answer_within;
        self.part(id).state = State::Joining(Joining::Armed { attempt, after, answer_by });
        actions.push(Action::Join { part: id, attempt, after });
    }

    /// They have taken the instant, or it was over when it reached them.
    pub(super) fn armed_again(
        &mut self,
        id: AgentId,
        attempt: u32,
        in_time: bool,
        actions: &mut Vec<Action>,
    ) {
        let State::Joining(Joining::Armed { attempt: named, after, .. }) = self.part(id).state
        else {
            return;
        };
        if attempt != named {
            return;
        }
        if !in_time {
            return if attempt < self.rules.attempts {
                self.name_joining(id, attempt + 1, actions);
            } else {
                self.give_up(id, "it did not take an instant to begin at in time", actions);
            };
        }
        let Some(at) = self.running().map(|running| running.at + after) else { return };
        let part = self.part(id);
        (part.state, part.armed, part.delivered) = (State::Active, true, at);
        actions.push(Action::Note(Note::Joined(id, after)));
    }

    pub(super) fn look_at_joining(&mut self, actions: &mut Vec<Action>) {
        let over = self.boundary_ahead(self.rules.start_lead).is_none();
        for id in self.those(|part| matches!(part.state, State::Joining(_))) {
            let now = self.now;
            match self.part(id).state {
                State::Joining(Joining::Opening(_)) if over => self.stop_joining(id, actions),
                State::Joining(Joining::Opening(deadline)) if now >= deadline => {
                    self.give_up(id, "it did not report open sessions in time", actions);
                }
                State::Joining(Joining::Armed { answer_by, .. }) if now >= answer_by => {
                    self.give_up(id, "it did not answer when it was told to begin", actions);
                }
                _ => {}
            }
        }
    }

    /// There is nothing left to do for them; they end without having begun.
    fn stop_joining(&mut self, id: AgentId, actions: &mut Vec<Action>) {
        let now = self.now;
        let part = self.part(id);
        (part.state, part.delivered) = (State::Active, now);
        actions.push(Action::Stop(id, Stop::Drain));
    }

    /// The same without saying so, since they have been told.
    pub(super) fn forget_joining(&mut self) {
        let now = self.now;
        for part in &mut self.parts {
            if let State::Joining(_) = part.state {
                (part.state, part.delivered) = (State::Active, now);
            }
        }
    }

    /// They will not begin, and nobody else takes them.
    fn give_up(&mut self, id: AgentId, reason: &str, actions: &mut Vec<Action>) {
        actions.push(Action::Stop(id, Stop::Now));
        self.lose_parts(&[id], reason, actions);
    }

    /// The beginning of an interval that lies at least so far ahead, since the common start and on the
    /// coordinator's clock; `None` if the time is over by then.
    fn boundary_ahead(&self, lead: Duration) -> Option<(Duration, Duration)> {
        let Phase::Running(running) = &self.phase else { return None };
        let after = self.rules.boundary((self.now + lead).saturating_sub(running.at));
        let within = self.rules.length.is_none_or(|length| after < length);
        within.then_some((after, running.at + after))
    }
}
