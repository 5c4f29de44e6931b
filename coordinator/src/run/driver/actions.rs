//! What the state machine wants done.

use std::time::{Duration, Instant};

use pgsurge_common::ids::AgentId;
use pgsurge_proto::message::Command;

use super::{Driver, id, now};
use crate::fleet::ClockSummary;
use crate::merge::{MergeError, Merger};
use crate::run::RunEvent;
use crate::run::machine::{Action, Event, Note};
use crate::run::outcome::{Loss, Silence};

/// Silences that are kept for each agent.
const SILENCES: usize = 100;

impl Driver {
    /// Does it; some actions have an answer.
    pub(super) async fn act(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::Place { lost, among } => {
                let by = self.place(lost, &among).await;
                return Some(Event::Placed { lost, by });
            }
            Action::MeasureClock(agent) => self.seat(agent).handle.measure_clock(),
            Action::Start { agent, attempt, at } => self.start(agent, attempt, at),
            Action::CallOff { agent, attempt } => {
                self.seat(agent).handle.command(agent, Command::CallOff { attempt });
            }
            Action::Stop(part, stop) => {
                let now = now(&self.seats);
                self.stopped.get_or_insert(now);
                self.seat(part).handle.command(part, Command::Stop(stop));
            }
            Action::Join { part, attempt, after } => self.join(part, attempt, after).await,
            Action::Forget(agent) => self.seat(agent).handle.forget(),
            Action::Note(note) => self.note(note).await,
            Action::End(ending) => self.ending = Some(ending),
        }
        None
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
        seat.handle.command(agent, Command::Start { attempt, at_ns, join_us: 0 });
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
                for part in self.parts_of(agent) {
                    self.mark(part, Merger::unreachable).await;
                }
                let line = format!("agent {} is unreachable", self.name(agent));
                self.tell(RunEvent::Warning(line)).await;
            }
            Note::Back(agent, silent) => self.back(agent, silent).await,
            Note::Lost(agent, reason) => self.lost(agent, reason).await,
            Note::Joined(part, after) => self.joined(part, after).await,
            Note::NoHeir(part) => {
                let line = format!(
                    "no agent is there to take over {} of agent {}",
                    self.clients(part),
                    self.name(part)
                );
                self.tell(RunEvent::Warning(line)).await;
            }
            Note::Left(agent, reason) => {
                let line = format!("agent {} leaves the run: {reason}", self.name(agent));
                for part in self.parts_of(agent) {
                    self.seat(part).left = Some(reason.clone());
                    self.mark(part, Merger::left).await;
                }
                self.tell(RunEvent::Warning(line)).await;
            }
        }
    }

    /// All parts that an agent has.
    fn parts_of(&self, agent: AgentId) -> Vec<AgentId> {
        let parts = self.seats.iter().enumerate().filter(|(_, seat)| seat.host == agent);
        parts.map(|(number, _)| id(number)).collect()
    }

    /// The merger is told of every change of an agent's state.
    pub(super) async fn mark(
        &mut self,
        agent: AgentId,
        change: impl FnOnce(&mut Merger, AgentId) -> Result<(), MergeError>,
    ) {
        if let Err(error) = self.merge(|merger| change(merger, agent)).await {
            tracing::error!(%agent, %error, "the merger does not know an agent of its run");
        }
    }

    async fn back(&mut self, agent: AgentId, silent: Duration) {
        let elapsed = now(&self.seats).saturating_sub(self.started.unwrap_or_default());
        let interval = self.rules.interval_at(elapsed);
        for part in self.parts_of(agent) {
            self.mark(part, |merger, part| merger.reachable(part, interval)).await;
        }
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

    async fn lost(&mut self, part: AgentId, reason: String) {
        let at_s = self.last_heard_s(part);
        self.seat(part).lost = Some(Loss { at_s, reason: reason.clone() });
        self.mark(part, Merger::lost).await;
        let agent = self.name(part);
        let event = if self.seat(part).took.is_none() {
            RunEvent::Lost { agent, reason }
        } else {
            let clients = self.clients(part);
            RunEvent::Warning(format!("{clients} on agent {agent} were lost: {reason}"))
        };
        self.tell(event).await;
    }
}
