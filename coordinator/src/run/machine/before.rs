//! From preparing to the common start.

use std::time::Duration;

use pgsurge_common::ids::AgentId;

use super::{Action, Ending, Failure, Machine, Note, Opened, Phase, Running};

/// An instant is never named further ahead.
const LONGEST_LEAD: Duration = Duration::from_secs(20);

impl Machine {
    pub(super) fn opened(&mut self, id: AgentId, opened: Opened, actions: &mut Vec<Action>) {
        if !matches!(self.phase, Phase::Preparing { .. }) {
            return;
        }
        self.agent(id).opened = Some(opened);
        let all: Vec<_> = self.agents.iter().filter_map(|agent| agent.opened.as_ref()).collect();
        if all.len() < self.agents.len() {
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
        self.set(|agent| {
            (agent.slowest, agent.armed, agent.called_off) = (None, false, false);
        });
        self.tell_active(Action::MeasureClock, actions);
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
        let doubled = 2_u32.saturating_pow(attempt - 1);
        let lead = self.rules.start_lead.max(8 * slowest).saturating_mul(doubled).min(LONGEST_LEAD);
        let at = self.now + lead;
        // What is called off must be so everywhere before the instant.
        let spare = (lead / 4).max(2 * slowest).min(lead / 2);
        let decide_by = at.saturating_sub(spare);
        self.phase = Phase::Arming { attempt, at, decide_by };
        self.tell_active(|agent| Action::Start { agent, attempt, at }, actions);
    }

    /// Handles [`Event::Armed`].
    pub(super) fn armed(
        &mut self,
        id: AgentId,
        attempt: u32,
        in_time: bool,
        actions: &mut Vec<Action>,
    ) {
        let Phase::Arming { attempt: named, at, .. } = self.phase else { return };
        if attempt != named {
            return;
        }
        if !in_time {
            self.call_off(attempt, actions);
            return;
        }
        self.agent(id).armed = true;
        if self.agents.iter().all(|agent| agent.armed) {
            let stop_now_at = self.planned_end(at);
            self.set(|agent| agent.delivered = at);
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
        let missing = self.those(|agent| !agent.armed);
        self.phase = Phase::CallingOff { attempt, deadline: self.now + self.rules.answer_within };
        actions.push(Action::Note(Note::CalledOff(missing)));
        self.tell_active(|agent| Action::CallOff { agent, attempt }, actions);
    }

    /// Handles [`Event::CalledOff`].
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
        self.agent(id).called_off = true;
        if !self.agents.iter().all(|agent| agent.called_off) {
            return;
        }
        if attempt >= self.rules.attempts {
            let missing = self.those(|agent| !agent.armed);
            self.end(Ending::Failed(Failure::NotArmed { attempt, missing }), actions);
        } else {
            self.measure_clocks(attempt + 1, actions);
        }
    }
}
