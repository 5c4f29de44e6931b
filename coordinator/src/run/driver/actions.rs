//! What the state machine wants done.

use std::time::{Duration, Instant};

use pgsurge_common::ids::AgentId;
use pgsurge_proto::message::Command;

use super::{Driver, now};
use crate::fleet::ClockSummary;
use crate::merge::{MergeError, Merger};
use crate::run::RunEvent;
use crate::run::machine::{Action, Note};
use crate::run::outcome::{Loss, Silence};

/// Silences that are kept for each agent.
const SILENCES: usize = 100;

impl Driver {
    pub(super) async fn act(&mut self, action: Action) {
        match action {
            Action::MeasureClock(agent) => self.seat(agent).handle.measure_clock(),
            Action::Start { agent, attempt, at } => self.start(agent, attempt, at),
            Action::CallOff { agent, attempt } => {
                self.seat(agent).handle.command(Command::CallOff { attempt });
            }
            Action::Stop(agent, stop) => self.seat(agent).handle.command(Command::Stop(stop)),
            Action::Forget(agent) => self.seat(agent).handle.forget(),
            Action::Note(note) => self.note(note).await,
            Action::End(ending) => self.ending = Some(ending),
        }
    }

    /// Names the instant on the agent's own clock.
    fn start(&mut self, agent: AgentId, attempt: u32, at: Duration) {
        self.attempts = attempt;
        let seat = self.seat(agent);
        // Measured just before; without a reading the machine would not be here.
        let Some(reading) = seat.handle.clock() else { return };
        seat.clock = ClockSummary::at_start(&reading);
        let at_ns = u64::try_from(at.as_nanos()).unwrap_or(u64::MAX);
        let at_ns = reading.to_agent_ns(at_ns);
        seat.handle.command(Command::Start { attempt, at_ns });
    }

    async fn note(&mut self, note: Note) {
        match note {
            Note::Ready => self.tell(RunEvent::Ready).await,
            Note::CalledOff(missing) => {
                let missing = self.missing(&missing);
                let line = format!(
                    "the start was called off and is named again, {missing} did not take it in time"
                );
                self.tell(RunEvent::Warning(line)).await;
            }
            Note::Armed(at) => {
                self.started = Some(at);
                let ahead = at.saturating_sub(now(&self.seats));
                self.tell(RunEvent::Starts(Instant::now() + ahead)).await;
            }
            Note::Unreachable(agent) => {
                self.mark(agent, Merger::unreachable).await;
                let line = format!("agent {} is unreachable", self.name(agent));
                self.tell(RunEvent::Warning(line)).await;
            }
            Note::Back(agent, silent) => self.back(agent, silent).await,
            Note::Lost(agent, reason) => self.lost(agent, reason).await,
            Note::Left(agent, reason) => {
                let line = format!("agent {} leaves the run: {reason}", self.name(agent));
                self.seat(agent).left = Some(reason);
                self.tell(RunEvent::Warning(line)).await;
            }
        }
    }

    /// The merger is told of every change of an agent's state.
    async fn mark(
        &mut self,
        agent: AgentId,
        change: impl FnOnce(&mut Merger, AgentId) -> Result<(), MergeError>,
    ) {
        if let Err(error) = self.merge(|merger| change(merger, agent)).await {
            tracing::error!(%agent, %error, "the merger does not know an agent of its run");
        }
    }

    async fn back(&mut self, agent: AgentId, silent: Duration) {
        self.mark(agent, Merger::reachable).await;
        let until_s = self.measured_s();
        let seat = self.seat(agent);
        if seat.silences.len() < SILENCES {
            seat.silences.push(Silence { until_s, length: silent });
        }
        let line = format!(
            "agent {} is back, it was not heard from for {:.1} s",
            self.name(agent),
            silent.as_secs_f64()
        );
        self.tell(RunEvent::Warning(line)).await;
    }

    async fn lost(&mut self, agent: AgentId, reason: String) {
        let at_s = self.last_heard_s(agent);
        self.seat(agent).lost = Some(Loss { at_s, reason: reason.clone() });
        self.mark(agent, Merger::lost).await;
        let agent = self.name(agent);
        self.tell(RunEvent::Lost { agent, reason }).await;
    }
}
