//! The run as a pure state machine: (state, event) -> (state, actions).
//!
//! Knows neither network nor clock: instants are given as the time since the coordinator began, and
//! parts of the run are numbers. Every wait has a deadline, and every way out of it is an [`Ending`]; each event is
//! taken in every state, so that no order of them can get it stuck.

mod before;
mod during;
mod event;
mod joining;
mod rules;
mod silence;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_proto::message::Stop;

pub use event::{Action, Ending, Event, Failure, Heir, Note, Opened};
pub use rules::{OnAgentLoss, Rules};

/// Where a run is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Agents open their sessions.
    Preparing {
        /// All must be ready then.
        deadline: Duration,
    },
    /// All are ready; [`Event::Go`] is awaited.
    Held,
    /// Clocks are measured, for the start is about to be named.
    Clocks {
        /// The instant to be named next counts so much.
        attempt: u32,
        /// All readings must be there then.
        deadline: Duration,
    },
    /// An instant was named.
    Arming {
        /// Which one, from 1.
        attempt: u32,
        /// When.
        at: Duration,
        /// All must be armed then, or the instant is called off.
        decide_by: Duration,
    },
    /// The instant is called off.
    CallingOff {
        /// Which one.
        attempt: u32,
        /// All must have confirmed then.
        deadline: Duration,
    },
    /// Load is on, or ending.
    Running(Running),
    /// Nothing follows.
    Over,
}

/// Load is on, or ending.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    /// The common start.
    pub at: Duration,
    /// How load was told to end, if it was.
    pub stop: Option<Stop>,
    /// Load is ended at once then.
    pub stop_now_at: Option<Duration>,
    /// Nobody is waited for then.
    pub give_up_at: Option<Duration>,
    /// Clocks are measured again then.
    pub clocks_at: Duration,
}

/// What is known of one agent as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Agent {
    /// Its first part, by which it is named.
    first: AgentId,
    heard: Duration,
    unreachable: bool,
    /// What its next loss is to be called, if there is more to say than that it is silent.
    fault: Option<String>,
    slowest: Option<Duration>,
    /// It was told to leave.
    leaving: bool,
    /// It was given up.
    lost: bool,
}

/// What is known of one part of the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Part {
    /// Place of its agent.
    agent: usize,
    opened: Option<Opened>,
    armed: bool,
    called_off: bool,
    delivered: Duration,
    state: State,
}

/// What a part still has to do with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    /// Its clients were taken over and have not begun.
    Joining(Joining),
    /// It is expected to do something.
    Active,
    /// Its load has ended and its totals are here.
    Finished,
    /// It was given up.
    Lost,
}

/// How far clients that were taken over are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Joining {
    /// Sessions are being opened until then.
    Opening(Duration),
    /// An instant was named; the answer must be there then.
    Armed { attempt: u32, after: Duration, answer_by: Duration },
}

impl Part {
    fn new(agent: usize, now: Duration, state: State) -> Self {
        Self { agent, opened: None, armed: false, called_off: false, delivered: now, state }
    }

    /// Something is still to come from it.
    fn is_active(&self) -> bool {
        matches!(self.state, State::Active | State::Joining(_))
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    rules: Rules,
    now: Duration,
    phase: Phase,
    agents: Vec<Agent>,
    /// Those of the beginning, one an agent, then those that were taken over.
    parts: Vec<Part>,
    /// Lost parts for whose clients a place is being looked for.
    homeless: Vec<AgentId>,
    interrupts: u8,
}

/// The coordinator itself stood still if nothing happened for so long, since its ticks come far more
/// often. Agents do not age by that time.
const STOOD_STILL: Duration = Duration::from_secs(1);

impl Machine {
    /// Begins to prepare so many agents, at least one.
    #[must_use]
    pub fn new(rules: Rules, agents: u32, now: Duration) -> Self {
        let phase = Phase::Preparing { deadline: now + rules.prepare_within };
        let mut machine = Self {
            rules,
            now,
            phase,
            agents: Vec::new(),
            parts: Vec::new(),
            homeless: Vec::new(),
            interrupts: 0,
        };
        for _ in 0..agents {
            let agent = machine.admit(None);
            machine.parts.push(Part::new(agent, now, State::Active));
        }
        machine
    }

    /// Takes an agent whose first part is the next; returns its place.
    fn admit(&mut self, slowest: Option<Duration>) -> usize {
        self.agents.push(Agent {
            first: number(self.parts.len()),
            heard: self.now,
            unreachable: false,
            fault: None,
            slowest,
            leaving: false,
            lost: false,
        });
        self.agents.len() - 1
    }

    /// Where the run is.
    #[must_use]
    pub fn phase(&self) -> &Phase {
        &self.phase
    }

    /// How often the user interrupted.
    #[must_use]
    pub fn interrupts(&self) -> u8 {
        self.interrupts
    }

    /// Takes an event that happened at `now`. Deadlines are looked at when the clock ticks, so that the cost
    /// of everything else does not grow with the number of agents.
    pub fn step(&mut self, now: Duration, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        self.advance(now);
        match event {
            Event::Tick => {
                self.look_for_silence(&mut actions);
                self.look_at_deadlines(&mut actions);
            }
            Event::Behind => self.behind(),
            Event::Heard(agent) => self.heard(agent, &mut actions),
            Event::Interrupt => self.interrupt(&mut actions),
            Event::Leaving(agent, reason) => self.leaving(agent, reason, &mut actions),
            Event::Fault(agent, reason) => self.fault(agent, &reason, &mut actions),
            Event::Expelled(agent, reason) => self.expelled(agent, &reason, &mut actions),
            Event::Finished(agent) => self.finished(agent, &mut actions),
            Event::Abort => self.abort(&mut actions),
            Event::Gone(agent, reason) => self.gone(agent, &reason, &mut actions),
            Event::Placed { lost, by } => self.placed(lost, &by, &mut actions),
            Event::Interval(part) => self.part(part).delivered = now,
            Event::Opened(agent, opened) => self.opened(agent, opened, &mut actions),
            Event::Go => self.go(&mut actions),
            Event::Clock(agent, slowest) => self.clock(agent, slowest, &mut actions),
            Event::Armed { agent, attempt, in_time } => {
                self.armed(agent, attempt, in_time, &mut actions);
            }
            Event::CalledOff { agent, attempt, begun } => {
                self.called_off(agent, attempt, begun, &mut actions);
            }
        }
        actions
    }

    /// Lets time pass. Where the coordinator was stopped, everything that it waits for moves on with it.
    fn advance(&mut self, now: Duration) {
        let gap = now.saturating_sub(self.now);
        self.now = self.now.max(now);
        if gap < STOOD_STILL {
            return;
        }
        for agent in &mut self.agents {
            agent.heard += gap;
        }
        for part in &mut self.parts {
            part.delivered += gap;
            if let State::Joining(
                Joining::Opening(deadline) | Joining::Armed { answer_by: deadline, .. },
            ) = &mut part.state
            {
                *deadline += gap;
            }
        }
        match &mut self.phase {
            Phase::Preparing { deadline }
            | Phase::Clocks { deadline, .. }
            | Phase::Arming { decide_by: deadline, .. }
            | Phase::CallingOff { deadline, .. } => *deadline += gap,
            Phase::Running(running) => {
                let deadlines = running.stop_now_at.iter_mut().chain(&mut running.give_up_at);
                deadlines.for_each(|deadline| *deadline += gap);
            }
            Phase::Held | Phase::Over => {}
        }
    }

    fn part(&mut self, part: AgentId) -> &mut Part {
        &mut self.parts[part.0 as usize]
    }

    /// The agent that has a part.
    fn agent(&mut self, part: AgentId) -> &mut Agent {
        &mut self.agents[self.parts[part.0 as usize].agent]
    }

    /// Parts for which a condition holds, in order.
    fn those(&self, holds: impl Fn(&Part) -> bool) -> Vec<AgentId> {
        let numbers = (0..).map(number).zip(&self.parts);
        numbers.filter(|(_, part)| holds(part)).map(|(id, _)| id).collect()
    }

    /// Parts from which something is still to come.
    fn active(&self) -> Vec<AgentId> {
        self.those(Part::is_active)
    }

    /// First parts of agents that still have something to do.
    fn at_work(&self) -> Vec<AgentId> {
        let mut works = vec![false; self.agents.len()];
        self.parts.iter().filter(|part| part.is_active()).for_each(|part| works[part.agent] = true);
        let agents = self.agents.iter().zip(works).filter(|(_, works)| *works);
        agents.map(|(agent, _)| agent.first).collect()
    }

    fn works(&self, agent: usize) -> bool {
        self.parts.iter().any(|part| part.agent == agent && part.is_active())
    }

    fn interrupt(&mut self, actions: &mut Vec<Action>) {
        self.interrupts = self.interrupts.saturating_add(1);
        match (&self.phase, self.interrupts) {
            (Phase::Over, _) => {}
            (Phase::Running(_), 1) => self.drain(self.rules.drain_timeout, actions),
            (Phase::Running(_), _) => self.stop_now(self.rules.abort_within, actions),
            _ => self.end(Ending::Failed(Failure::Interrupted), actions),
        }
    }

    fn end(&mut self, ending: Ending, actions: &mut Vec<Action>) {
        if self.phase != Phase::Over {
            self.phase = Phase::Over;
            actions.push(Action::End(ending));
        }
    }

    fn look_at_deadlines(&mut self, actions: &mut Vec<Action>) {
        let now = self.now;
        match self.phase {
            Phase::Preparing { deadline } if now >= deadline => {
                let missing = self.those(|part| part.opened.is_none());
                self.end(Ending::Failed(Failure::NotReady(missing)), actions);
            }
            Phase::Clocks { deadline, .. } if now >= deadline => {
                let missing = self.those(|part| self.agents[part.agent].slowest.is_none());
                self.end(Ending::Failed(Failure::NoClock(missing)), actions);
            }
            Phase::Arming { attempt, decide_by, .. } if now >= decide_by => {
                self.call_off(attempt, actions);
            }
            Phase::CallingOff { attempt, deadline } if now >= deadline => {
                let missing = self.those(|part| !part.called_off);
                self.end(Ending::Failed(Failure::NotArmed { attempt, missing }), actions);
            }
            Phase::Running(_) => self.look_at_running(actions),
            _ => {}
        }
    }

    /// Tells every part that is still there.
    fn tell_active(&self, action: impl Fn(AgentId) -> Action, actions: &mut Vec<Action>) {
        actions.extend(self.active().into_iter().map(action));
    }

    fn measure_all(&self, actions: &mut Vec<Action>) {
        actions.extend(self.at_work().into_iter().map(Action::MeasureClock));
    }

    /// What distinguishes the servers that were reached, without duplicates.
    fn servers(&self) -> BTreeSet<&str> {
        let opened = self.parts.iter().filter_map(|part| part.opened.as_ref());
        opened.filter_map(|opened| opened.server.as_deref()).collect()
    }
}

fn number(place: usize) -> AgentId {
    AgentId(u32::try_from(place).unwrap_or(u32::MAX))
}
