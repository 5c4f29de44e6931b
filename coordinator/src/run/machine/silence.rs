//! Who is heard, who is unreachable, who is lost.

use pgsurge_common::ids::AgentId;

use super::{Action, Ending, Failure, Machine, Note, Part, Phase};

impl Machine {
    pub(super) fn heard(&mut self, id: AgentId, actions: &mut Vec<Action>) {
        let now = self.now;
        let agent = self.agent(id);
        if agent.fault.is_some() {
            return;
        }
        let silent = now.saturating_sub(agent.heard);
        agent.heard = now;
        if std::mem::take(&mut agent.unreachable) && agent.part == Part::Active {
            actions.push(Action::Note(Note::Back(id, silent)));
        }
    }

    /// Nobody ages, but those that were silent before stay so until they are heard.
    pub(super) fn behind(&mut self) {
        let now = self.now;
        for agent in self.agents.iter_mut().filter(|agent| !agent.unreachable) {
            (agent.heard, agent.delivered) = (now, now.max(agent.delivered));
        }
    }

    /// Marks and gives up agents that are silent for too long.
    pub(super) fn look_for_silence(&mut self, actions: &mut Vec<Action>) {
        for id in self.active() {
            let (now, patience) = (self.now, self.rules.lease + self.rules.margin);
            let unreachable_after = self.rules.unreachable_after;
            let agent = self.agent(id);
            let silent = now.saturating_sub(agent.heard);
            if silent >= unreachable_after && !agent.unreachable {
                agent.unreachable = true;
                actions.push(Action::Note(Note::Unreachable(id)));
            }
            if silent >= patience && self.phase != Phase::Over {
                let heard = format!("it was not heard from for {} s", silent.as_secs());
                let reason = self.agent(id).fault.take().unwrap_or(heard);
                self.lose(id, reason, true, actions);
            }
        }
    }

    /// An agent is out. Before the start that ends the run.
    pub(super) fn lose(
        &mut self,
        id: AgentId,
        reason: String,
        forget: bool,
        actions: &mut Vec<Action>,
    ) {
        let running = matches!(self.phase, Phase::Running(_));
        self.agent(id).part = Part::Lost;
        if forget {
            actions.push(Action::Forget(id));
        }
        if running {
            actions.push(Action::Note(Note::Lost(id, reason)));
            self.after_loss(actions);
        } else {
            self.end(Ending::Failed(Failure::Lost(id, reason)), actions);
        }
    }
}
