//! All short orders of events, from every stage of a run and under every policy.
//!
//! The exploration is complete up to its bound: from each stage every sequence of [`DEPTH`] steps over
//! the [`alphabet`], states that were seen before left out. Actions are judged by a [`Witness`]; and from
//! every state that was reached silence alone leads to the end.

use std::collections::HashSet;
use std::time::Duration;

use pgsurge_common::ids::AgentId;

use super::super::{Action, Event, Heir, Machine, OnAgentLoss, Phase, Rules};
use super::witness::Witness;
use super::{A, B, Bench, TICK, armed, called_off, full, rules, s};

/// Steps that are explored from each stage.
const DEPTH: usize = 3;

/// The part that takes over clients.
const C: AgentId = AgentId(2);

/// What may happen next.
#[derive(Clone, Debug)]
enum Next {
    Event(Event),
    /// Time passes; who is alive gives signs of life.
    Wait(f64, Vec<AgentId>),
    /// The coordinator is stopped.
    Stopped(f64),
}

/// Who takes clients over, if they are to be moved.
#[derive(Clone, Copy, Debug)]
enum Heirs {
    Others,
    Spare,
    Nobody,
}

fn alphabet(parts: usize) -> Vec<Next> {
    let mut all = vec![
        Next::Wait(0.5, vec![A, B]),
        Next::Wait(4.0, vec![]),
        Next::Wait(14.0, vec![]),
        Next::Wait(14.0, vec![A]),
        Next::Stopped(8.0),
    ];
    let mut event = |event| all.push(Next::Event(event));
    for agent in [A, B] {
        event(Event::Opened(agent, full()));
        event(Event::Clock(agent, s(0.01)));
        event(armed(agent, 1));
        event(armed(agent, 2));
        event(Event::Armed { agent, attempt: 1, in_time: false });
        event(called_off(agent, 1));
        event(Event::CalledOff { agent, attempt: 1, begun: true });
        event(Event::Finished(agent));
    }
    // One agent is enough for what would only be mirrored.
    event(Event::Heard(B));
    event(Event::Interval(B));
    event(Event::Leaving(B, "told to".into()));
    event(Event::Fault(B, "broken".into()));
    event(Event::Gone(B, "lease over".into()));
    event(Event::Expelled(B, "nonsense".into()));
    event(Event::Behind);
    event(Event::Go);
    event(Event::Abort);
    event(Event::Interrupt);
    if parts > 2 {
        event(Event::Opened(C, full()));
        event(Event::Opened(C, super::Opened { obtained: 0, ..full() }));
        event(armed(C, 1));
        event(Event::Armed { agent: C, attempt: 1, in_time: false });
        event(Event::Interval(C));
        event(Event::Finished(C));
        event(Event::Fault(C, "broken".into()));
    }
    all
}

/// A run with its witness.
#[derive(Clone)]
struct Walk {
    bench: Bench,
    witness: Witness,
    heirs: Heirs,
}

impl Walk {
    fn new(bench: Bench, heirs: Heirs) -> Self {
        let witness = Witness::new(bench.now);
        Self { bench, witness, heirs }
    }

    fn machine(&self) -> &Machine {
        &self.bench.machine
    }

    /// Lets one event happen, and answers what is asked.
    fn event(&mut self, event: Event) -> Vec<Action> {
        self.witness.see(self.bench.now, &event);
        let mut actions = self.bench.event(event);
        self.witness.judge(&actions);
        let places: Vec<_> = actions.iter().filter_map(asked).collect();
        for (lost, among) in places {
            let by = match self.heirs {
                Heirs::Others => among.into_iter().map(Heir::Agent).collect(),
                Heirs::Spare => vec![Heir::Spare(Duration::ZERO)],
                Heirs::Nobody => vec![],
            };
            actions.extend(self.event(Event::Placed { lost, by }));
        }
        actions
    }

    fn take(&mut self, next: &Next) -> Vec<Action> {
        match next {
            Next::Event(event) => self.event(event.clone()),
            Next::Stopped(seconds) => {
                self.bench.now += s(*seconds);
                self.event(Event::Tick)
            }
            Next::Wait(seconds, alive) => {
                let until = self.bench.now + s(*seconds);
                let mut actions = Vec::new();
                while self.bench.now < until {
                    self.bench.now += TICK;
                    for agent in alive {
                        actions.extend(self.event(Event::Heard(*agent)));
                        actions.extend(self.event(Event::Interval(*agent)));
                    }
                    actions.extend(self.event(Event::Tick));
                }
                actions
            }
        }
    }

    /// With the clients of the second agent on their way.
    fn moving(mut self) -> Self {
        self.event(Event::Gone(B, "lease over".into()));
        assert_eq!(self.machine().parts.len(), 3, "somebody takes them over");
        self
    }

    /// The same, when the instant has been named.
    fn joining(mut self) -> Self {
        self = self.moving();
        let named = self.event(Event::Opened(C, full()));
        assert!(matches!(named[..], [Action::Join { part: C, attempt: 1, .. }]), "{named:?}");
        self
    }
}

fn asked(action: &Action) -> Option<(AgentId, Vec<AgentId>)> {
    match action {
        Action::Place { lost, among } => Some((*lost, among.clone())),
        _ => None,
    }
}

fn ends(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::End(_))).count()
}

/// Explores, and returns how many different states were seen.
fn explore(stage: &Walk) -> usize {
    let mut seen: HashSet<Machine> = HashSet::new();
    let mut edge = vec![stage.clone()];
    let mut all = Vec::new();
    for _ in 0..DEPTH {
        let mut further = Vec::new();
        for walk in &edge {
            for next in alphabet(walk.machine().parts.len()) {
                let mut walk = walk.clone();
                let was_over = *walk.machine().phase() == Phase::Over;
                let actions = walk.take(&next);
                let over = *walk.machine().phase() == Phase::Over;
                assert_eq!(ends(&actions), usize::from(over && !was_over), "{next:?}");
                if seen.insert(walk.machine().clone()) {
                    further.push(walk);
                }
            }
        }
        all.append(&mut edge);
        edge = further;
    }
    all.append(&mut edge);
    all.into_iter().for_each(falls_silent);
    seen.len()
}

fn falls_silent(mut walk: Walk) {
    for _ in 0..95 {
        if *walk.machine().phase() == Phase::Over {
            return;
        }
        // As long as a tick may be without being a standstill.
        walk.bench.now += s(0.9);
        walk.bench.event(Event::Tick);
        // Nobody is there any more who could take anything over.
        for lost in walk.bench.machine.homeless.clone() {
            walk.bench.event(Event::Placed { lost, by: vec![] });
        }
    }
    assert_eq!(
        *walk.machine().phase(),
        Phase::Over,
        "silence ends every run: {:?}",
        walk.machine()
    );
}

fn stage(rules: &Rules, heirs: Heirs, to: fn(Bench) -> Bench) -> Walk {
    Walk::new(to(Bench::new(rules.clone())), heirs)
}

#[test]
fn no_short_order_of_events_gets_a_run_stuck_or_makes_it_contradict_itself() {
    for on_agent_loss in [OnAgentLoss::Continue, OnAgentLoss::Fail] {
        let rules = Rules { on_agent_loss, ..rules() };
        let to: [fn(Bench) -> Bench; 4] = [|b| b, Bench::held, Bench::arming, Bench::running];
        let stages = to.map(|to| stage(&rules, Heirs::Nobody, to));
        let seen: usize = stages.iter().map(explore).sum();
        assert!(seen > 1000, "only {seen} states");
    }
}

#[test]
fn no_short_order_of_events_moves_clients_too_early_or_for_ever() {
    let rules = Rules { on_agent_loss: OnAgentLoss::Rebalance, ..rules() };
    for heirs in [Heirs::Others, Heirs::Spare, Heirs::Nobody] {
        let running = stage(&rules, heirs, Bench::running);
        let mut stages = vec![running.clone()];
        if !matches!(heirs, Heirs::Nobody) {
            stages.extend([running.clone().moving(), running.joining()]);
        }
        let seen: usize = stages.iter().map(explore).sum();
        assert!(seen > 500, "only {seen} states");
    }
}
