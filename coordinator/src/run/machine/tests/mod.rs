//! The state machine under a fake clock: deadlines to the tick, and all short orders of events.

mod before;
mod during;
mod joining;
mod orders;
mod witness;

use std::time::Duration;

use pgsurge_common::ids::AgentId;

use super::{Action, Ending, Event, Machine, OnAgentLoss, Opened, Phase, Rules};

const A: AgentId = AgentId(0);
const B: AgentId = AgentId(1);

const TICK: Duration = Duration::from_millis(100);

fn s(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

fn rules() -> Rules {
    Rules {
        lease: s(10.0),
        margin: s(3.0),
        unreachable_after: s(3.0),
        prepare_within: s(60.0),
        answer_within: s(10.0),
        start_lead: s(0.4),
        attempts: 3,
        clocks_every: s(5.0),
        warmup: s(0.0),
        interval: s(1.0),
        length: Some(s(20.0)),
        drain_timeout: None,
        grace: s(5.0),
        abort_within: s(5.0),
        stalled_after: s(20.0),
        allow_fewer_clients: false,
        any_server: false,
        on_agent_loss: OnAgentLoss::Continue,
    }
}

fn full() -> Opened {
    Opened { wanted: 5, obtained: 5, server: Some("one".into()) }
}

/// A run of two agents with its clock.
#[derive(Clone)]
struct Bench {
    machine: Machine,
    now: Duration,
    /// Who keeps giving signs of life and delivering intervals while time passes.
    alive: Vec<AgentId>,
}

impl Bench {
    fn new(rules: Rules) -> Self {
        let machine = Machine::new(rules, 2, s(0.0));
        Self { machine, now: s(0.0), alive: vec![A, B] }
    }

    fn event(&mut self, event: Event) -> Vec<Action> {
        self.machine.step(self.now, event)
    }

    fn events(&mut self, events: impl IntoIterator<Item = Event>) -> Vec<Action> {
        events.into_iter().flat_map(|event| self.event(event)).collect()
    }

    /// Lets time pass tick by tick; returns what happened with its time.
    fn wait(&mut self, duration: Duration) -> Vec<(Duration, Action)> {
        let until = self.now + duration;
        let mut seen = Vec::new();
        while self.now < until {
            self.now += TICK;
            let mut actions = Vec::new();
            for agent in self.alive.clone() {
                actions.extend(self.event(Event::Heard(agent)));
                actions.extend(self.event(Event::Interval(agent)));
            }
            actions.extend(self.event(Event::Tick));
            seen.extend(actions.into_iter().map(|action| (self.now, action)));
        }
        seen
    }

    /// To the moment when all sessions are open.
    fn held(mut self) -> Self {
        self.events([Event::Opened(A, full()), Event::Opened(B, full())]);
        assert_eq!(*self.machine.phase(), Phase::Held);
        self
    }

    /// To the moment when the first instant is named.
    fn arming(mut self) -> Self {
        self = self.held();
        self.events([Event::Go, Event::Clock(A, s(0.001)), Event::Clock(B, s(0.001))]);
        assert!(matches!(self.machine.phase(), Phase::Arming { attempt: 1, .. }));
        self
    }

    /// To the moment when load is on.
    fn running(mut self) -> Self {
        self = self.arming();
        self.events([armed(A, 1), armed(B, 1)]);
        self.wait(s(0.5));
        assert!(matches!(self.machine.phase(), Phase::Running(_)));
        self
    }
}

fn running() -> Bench {
    Bench::new(rules()).running()
}

fn armed(agent: AgentId, attempt: u32) -> Event {
    Event::Armed { agent, attempt, in_time: true }
}

fn called_off(agent: AgentId, attempt: u32) -> Event {
    Event::CalledOff { agent, attempt, begun: false }
}

/// The end among actions, if there is one.
fn ending(actions: &[Action]) -> Option<&Ending> {
    actions.iter().find_map(|action| match action {
        Action::End(ending) => Some(ending),
        _ => None,
    })
}

/// When something was done.
fn at(seen: &[(Duration, Action)], wanted: impl Fn(&Action) -> bool) -> Option<Duration> {
    seen.iter().find(|(_, action)| wanted(action)).map(|(at, _)| *at)
}
