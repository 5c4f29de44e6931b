//! Who is heard, who is unreachable, who is lost.

use pgsurge_common::ids::AgentId;

use super::{Action, Ending, Failure, Machine, Note, Phase, State};

impl Machine {
    pub(super) fn heard(&mut self, id: AgentId, actions: &mut Vec<Action>) {
        let now = self.now;
        let place = self.part(id).agent;
        let agent = &mut self.agents[place];
        if agent.fault.is_some() {
            return;
        }
        let silent = now.saturating_sub(agent.heard);
        agent.heard = now;
        if std::mem::take(&mut agent.unreachable) && self.works(place) && self.phase != Phase::Over
        {
            actions.push(Action::Note(Note::Back(id, silent)));
        }
    }

    /// Nobody ages, but those that were silent before stay so until they are heard.
    pub(super) fn behind(&mut self) {
        let now = self.now;
        for agent in self.agents.iter_mut().filter(|agent| !agent.unreachable) {
            agent.heard = now;
        }
        for part in &mut self.parts {
            if !self.agents[part.agent].unreachable {
                part.delivered = now.max(part.delivered);
            }
        }
    }

    /// Marks and gives up agents that are silent for too long.
    pub(super) fn look_for_silence(&mut self, actions: &mut Vec<Action>) {
        for id in self.at_work() {
            // The first one that is lost before the start ends the run.
            if self.phase == Phase::Over {
                return;
            }
            let (now, patience) = (self.now, self.rules.lease + self.rules.margin);
            let unreachable_after = self.rules.unreachable_after;
            let agent = self.agent(id);
            let silent = now.saturating_sub(agent.heard);
            if silent >= unreachable_after && !agent.unreachable {
                agent.unreachable = true;
                actions.push(Action::Note(Note::Unreachable(id)));
            }
            if silent >= patience {
                let heard = format!("it was not heard from for {} s", silent.as_secs());
                let reason = self.agent(id).fault.take().unwrap_or(heard);
                self.lose(id, &reason, true, actions);
            }
        }
    }

    /// An agent is out with all its parts. Before the start that ends the run.
    pub(super) fn lose(
        &mut self,
        id: AgentId,
        reason: &str,
        forget: bool,
        actions: &mut Vec<Action>,
    ) {
        let agent = self.part(id).agent;
        if self.phase == Phase::Over || std::mem::replace(&mut self.agents[agent].lost, true) {
            return;
        }
        if forget {
            actions.push(Action::Forget(self.agents[agent].first));
        }
        let parts = self.those(|part| part.agent == agent && part.is_active());
        self.lose_parts(&parts, reason, actions);
    }

    /// Parts are out.
    pub(super) fn lose_parts(
        &mut self,
        parts: &[AgentId],
        reason: &str,
        actions: &mut Vec<Action>,
    ) {
        let running = matches!(self.phase, Phase::Running(_));
        for &id in parts {
            self.part(id).state = State::Lost;
            if running {
                actions.push(Action::Note(Note::Lost(id, reason.to_owned())));
            } else {
                self.end(Ending::Failed(Failure::Lost(id, reason.to_owned())), actions);
            }
        }
        if running && !parts.is_empty() {
            self.after_loss(parts, actions);
        }
    }
}
