//! Feeds the state machine and does what it says: the only part of a run that waits.

mod actions;
mod conclude;
mod heirs;
mod logs;
mod signs;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use pgsurge_common::ids::AgentId;
use pgsurge_common::plan::split::Share;
use pgsurge_proto::message::{Command, Ready};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::machine::{Ending, Event, Machine, Phase, Rules};
use super::outcome::{Aborted, Loss, Silence};
use super::{RunError, RunEvent, RunOutcome, RunSpec};
use crate::fleet::{AgentHandle, ClockSummary, FleetEvent};
use crate::merge::{Merger, Setup};

/// Deadlines are looked at so often.
const TICK: Duration = Duration::from_millis(50);

/// Events of agents that may wait for the run; then agents wait.
const EVENTS: usize = 1024;

/// What the driver keeps of one part of the run.
#[derive(Debug)]
struct Seat {
    handle: AgentHandle,
    /// The first part of its agent; voice and clock are kept there.
    host: AgentId,
    share: Share,
    took: Option<Took>,
    heard: Option<Instant>,
    ready: Option<Ready>,
    clock: ClockSummary,
    lost: Option<Loss>,
    /// What it still had on its way is not listened to.
    expelled: bool,
    left: Option<String>,
    silences: Vec<Silence>,
}

/// Clients that were taken over.
#[derive(Clone, Copy, Debug)]
struct Took {
    from: AgentId,
    /// When they began, since the common start.
    joined: Option<Duration>,
}

impl Seat {
    fn new(handle: AgentHandle, host: AgentId, share: Share) -> Self {
        Self {
            handle,
            host,
            share,
            took: None,
            heard: None,
            ready: None,
            clock: ClockSummary::default(),
            lost: None,
            expelled: false,
            left: None,
            silences: Vec::new(),
        }
    }
}

/// A run in course; dropping it releases its agents.
#[derive(Debug)]
struct Driver {
    spec: RunSpec,
    rules: Rules,
    machine: Machine,
    seats: Vec<Seat>,
    signs: mpsc::Receiver<FleetEvent>,
    /// For spare agents that come in.
    sender: mpsc::Sender<FleetEvent>,
    merger: Option<Merger>,
    ending: Option<Ending>,
    started: Option<Duration>,
    /// When load was first told to end.
    stopped: Option<Duration>,
    attempts: u32,
    aborted: Option<Aborted>,
}

/// A run whose sessions are open. Dropping it ends the run.
#[derive(Debug)]
pub struct Prepared(Driver);

/// Opens all sessions.
///
/// # Errors
/// Not all of them could be had, an agent is out, or the user interrupted; the run is over then.
///
/// # Panics
/// The specification names no agent.
pub async fn prepare(spec: RunSpec) -> Result<Prepared, RunError> {
    assert!(!spec.agents.is_empty(), "a run has at least one agent");
    let mut driver = Driver::new(spec);
    driver.begin().await;
    driver.pump(|machine| *machine.phase() == Phase::Held).await;
    if let Some(Ending::Failed(failure)) = driver.ending.take() {
        return Err(driver.error(failure));
    }
    Ok(Prepared(driver))
}

impl Prepared {
    /// How each agent's connection phase ended, in their order.
    #[must_use]
    pub fn ready(&self) -> Vec<&Ready> {
        self.0.ready().collect()
    }

    /// Starts, measures, drains, collects logs, and returns when every agent has finished or was lost.
    ///
    /// # Errors
    /// The load never began.
    pub async fn measure(mut self) -> Result<RunOutcome, RunError> {
        self.0.event(Event::Go).await;
        self.0.pump(|_| false).await;
        if let Some(Ending::Failed(failure)) = self.0.ending.take() {
            return Err(self.0.error(failure));
        }
        let mut outcome = self.0.outcome().await;
        self.0.collect(&mut outcome).await;
        Ok(outcome)
    }
}

impl Driver {
    fn new(spec: RunSpec) -> Self {
        let (events, signs) = mpsc::channel(EVENTS);
        let mut rules = Rules::of(&spec.plan, spec.fleet, spec.options.interval);
        rules.any_server |= spec.options.any_server;
        rules.on_agent_loss = spec.options.on_agent_loss;
        let ids = (0..).map(AgentId).take(spec.agents.len());
        let mut seats = Vec::with_capacity(spec.agents.len());
        for (id, (handle, share)) in ids.clone().zip(&spec.agents) {
            // One that is gone is noticed by its silence.
            let _ = handle.join(&spec.plan.run_id, id, events.clone());
            seats.push(Seat::new(handle.clone(), id, share.clone()));
        }
        let now = now(&seats);
        let setup = Setup::of(&spec.plan, ids.collect(), spec.options.interval);
        Self {
            machine: Machine::new(
                rules.clone(),
                u32::try_from(seats.len()).unwrap_or(u32::MAX),
                now,
            ),
            merger: Some(Merger::new(setup)),
            rules,
            spec,
            seats,
            signs,
            sender: events,
            ending: None,
            started: None,
            stopped: None,
            attempts: 0,
            aborted: None,
        }
    }

    async fn begin(&mut self) {
        for number in 0..self.seats.len() {
            self.prepare(id(number));
        }
        self.event(Event::Tick).await;
    }

    /// Lets an agent open the sessions of a part.
    fn prepare(&self, part: AgentId) {
        let plan = Box::new((*self.spec.plan).clone());
        let seat = &self.seats[part.0 as usize];
        seat.handle.command(part, Command::Prepare { plan, share: seat.share.clone() });
    }

    /// Goes on until the run is over or `enough` is true of its state.
    async fn pump(&mut self, enough: impl Fn(&Machine) -> bool) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (drain, abort) = (&self.spec.interrupts.drain, &self.spec.interrupts.abort);
        let (drain, abort) = (drain.clone(), abort.clone());
        while self.ending.is_none() && !enough(&self.machine) {
            let interrupts = self.machine.interrupts();
            tokio::select! {
                // After a standstill time must pass before anything else is judged.
                biased;
                _ = ticks.tick() => {
                    self.hear().await;
                    self.event(Event::Tick).await;
                }
                () = abort.cancelled(), if interrupts < 2 => self.event(Event::Interrupt).await,
                () = drain.cancelled(), if interrupts < 1 => self.event(Event::Interrupt).await,
                Some(sign) = self.signs.recv() => self.sign(sign).await,
            }
        }
    }

    /// Tells the machine who was heard since the last tick. Where agents have to wait for this run to take
    /// what they sent, that says nothing of them.
    async fn hear(&mut self) {
        if self.signs.len() >= EVENTS / 2 {
            self.event(Event::Behind).await;
        }
        for number in 0..self.seats.len() {
            let seat = &mut self.seats[number];
            if seat.host != id(number) {
                continue;
            }
            let heard = seat.handle.last_heard();
            if heard.is_some() && heard != seat.heard {
                seat.heard = heard;
                self.event(Event::Heard(id(number))).await;
            }
        }
    }

    /// Lets the machine take an event and does what it answers.
    async fn event(&mut self, event: Event) {
        let mut events = VecDeque::from([event]);
        while let Some(event) = events.pop_front() {
            for action in self.machine.step(now(&self.seats), event) {
                events.extend(self.act(action).await);
            }
        }
    }

    /// Tells the caller; one who does not listen any more misses it.
    async fn tell(&self, event: RunEvent) {
        let _ = self.spec.events.send(event).await;
    }

    fn seat(&mut self, agent: AgentId) -> &mut Seat {
        &mut self.seats[agent.0 as usize]
    }

    fn name(&self, agent: AgentId) -> String {
        self.seats[agent.0 as usize].handle.facts().name.clone()
    }

    /// Seconds since the measured part began; negative if before.
    fn measured_s(&self) -> f64 {
        let begin = self.started.unwrap_or_default() + self.spec.plan.load.warmup;
        now(&self.seats).as_secs_f64() - begin.as_secs_f64()
    }

    /// The same of the last sign of life of a part's agent: when its load was last known to be on.
    fn last_heard_s(&self, part: AgentId) -> f64 {
        let host = self.seats[part.0 as usize].host;
        let heard = self.seats[host.0 as usize].heard;
        self.measured_s() - heard.map_or(0.0, |heard| heard.elapsed().as_secs_f64())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        for (number, seat) in self.seats.iter().enumerate() {
            if seat.host == id(number) {
                seat.handle.command(seat.host, Command::Release);
            }
        }
    }
}

/// The time by the fleet's own clock, which agents' clocks were measured against.
fn now(seats: &[Seat]) -> Duration {
    Duration::from_nanos(seats.first().map_or(0, |seat| seat.handle.coordinator_ns()))
}

fn id(number: usize) -> AgentId {
    AgentId(u32::try_from(number).unwrap_or(u32::MAX))
}
