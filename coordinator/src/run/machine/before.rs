//! From preparing to the common start.

use std::time::Duration;

use pgsurge_common::ids::AgentId;

use super::{Action, Ending, Failure, Machine, Note, Opened, Phase, Running};

/// An instant is never named further ahead.
const LONGEST_LEAD: Duration = Duration::from_secs(20);

impl Machine {
    pub(super) fn opened(&mut self, id: AgentId, opened: Opened, actions: &mut Vec<Action>) {
        match self.phase {
            Phase::Preparing { .. } => {}
            Phase::Running(_) => return self.opened_again(id, opened, actions),
            _ => return,
        }
        self.part(id).opened = Some(opened);
        let all: Vec<_> = self.parts.iter().filter_map(|part| part.opened.as_ref()).collect();
        if all.len() < self.parts.len() {
            return;
        }
        let sum = |f: fn(&Opened) -> u32| all.iter().map(|opened| u64::from(f(opened))).sum();
        let (wanted, obtained): (u64, u64) = (sum(|o| o.wanted), sum(|o| o.obtained));
        let enough = obtained == wanted || self.rules.allow_fewer_clients && obtained > 0;
        if !enough {
            self.end(Ending::Failed(Failure::TooFewSessions), actions);
        } else if self.servers().len() > 1 && !self.rules.any_server {
            self.end(Ending::Failed(Failure::DifferentServers), actions);
        } else {
            self.phase = Phase::Held;
            actions.push(Action::Note(Note::Ready));
        }
    }

    pub(super) fn go(&mut self, actions: &mut Vec<Action>) {
        if self.phase == Phase::Held {
            self.measure_clocks(1, actions);
        }
    }

    fn measure_clocks(&mut self, attempt: u32, actions: &mut Vec<Action>) {
        let deadline = self.now + self.rules.answer_within;
        self.phase = Phase::Clocks { attempt, deadline };
        self.agents.iter_mut().for_each(|agent| agent.slowest = None);
        for part in &mut self.parts {
            (part.armed, part.called_off) = (false, false);
        }
        self.measure_all(actions);
    }

    pub(super) fn clock(&mut self, id: AgentId, slowest: Duration, actions: &mut Vec<Action>) {
        self.agent(id).slowest = Some(slowest);
        let Phase::Clocks { attempt, .. } = self.phase else { return };
        let slowest: Option<Vec<_>> = self.agents.iter().map(|agent| agent.slowest).collect();
        if let Some(slowest) = slowest {
            let slowest = slowest.into_iter().max().unwrap_or_default();
            self.name_instant(attempt, slowest, actions);
        }
    }

    /// Far enough ahead for the slowest message to arrive and its answer to come back, twice as far each
    /// time that it was not.
    fn name_instant(&mut self, attempt: u32, slowest: Duration, actions: &mut Vec<Action>) {
        let lead = self.lead(attempt, slowest);
        let at = self.now + lead;
        let decide_by = if self.agents.len() == 1 {
            // There is nobody to be together with: its answer counts also when it is read late.
            at + self.rules.answer_within
        } else {
            // What is called off must be so everywhere before the instant.
            at.saturating_sub((lead / 4).max(2 * slowest).min(lead / 2))
        };
        self.phase = Phase::Arming { attempt, at, decide_by };
        self.tell_active(|agent| Action::Start { agent, attempt, at }, actions);
    }

    /// How far ahead an instant is named.
    pub(super) fn lead(&self, attempt: u32, slowest: Duration) -> Duration {
        let doubled = 2_u32.saturating_pow(attempt - 1);
        self.rules.start_lead.max(8 * slowest).saturating_mul(doubled).min(LONGEST_LEAD)
    }

    /// Handles [`super::Event::Armed`].
    pub(super) fn armed(
        &mut self,
        id: AgentId,
        attempt: u32,
        in_time: bool,
        actions: &mut Vec<Action>,
    ) {
        if let Phase::Running(_) = self.phase {
            return self.armed_again(id, attempt, in_time, actions);
        }
        let Phase::Arming { attempt: named, at, .. } = self.phase else { return };
        if attempt != named {
            return;
        }
        if !in_time {
            self.call_off(attempt, actions);
            return;
        }
        self.part(id).armed = true;
        if self.parts.iter().all(|part| part.armed) {
            let stop_now_at = self.planned_end(at);
            self.parts.iter_mut().for_each(|part| part.delivered = at);
            self.phase = Phase::Running(Running {
                at,
                stop: None,
                stop_now_at,
                give_up_at: None,
                clocks_at: at + self.rules.clocks_every,
            });
            actions.push(Action::Note(Note::Armed(at)));
        }
    }

    /// When agents must have drained by themselves, if that is bounded.
    fn planned_end(&self, at: Duration) -> Option<Duration> {
        Some(at + self.rules.length? + self.rules.drain_timeout? + self.rules.grace)
    }

    pub(super) fn call_off(&mut self, attempt: u32, actions: &mut Vec<Action>) {
        let missing = self.those(|part| !part.armed);
        self.phase = Phase::CallingOff { attempt, deadline: self.now + self.rules.answer_within };
        actions.push(Action::Note(Note::CalledOff(missing)));
        self.tell_active(|agent| Action::CallOff { agent, attempt }, actions);
    }

    /// Handles [`super::Event::CalledOff`].
    pub(super) fn called_off(
        &mut self,
        id: AgentId,
        attempt: u32,
        begun: bool,
        actions: &mut Vec<Action>,
    ) {
        let Phase::CallingOff { attempt: called, .. } = self.phase else { return };
        if attempt != called {
            return;
        }
        if begun {
            self.end(Ending::Failed(Failure::BeganAlone(id)), actions);
            return;
        }
        self.part(id).called_off = true;
        if !self.parts.iter().all(|part| part.called_off) {
            return;
        }
        if attempt >= self.rules.attempts {
            let missing = self.those(|part| !part.armed);
            self.end(Ending::Failed(Failure::NotArmed { attempt, missing }), actions);
        } else {
            self.measure_clocks(attempt + 1, actions);
        }
    }
}
