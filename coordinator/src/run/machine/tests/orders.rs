//! All short orders of events, from every stage of a run: none gets the machine stuck.

use std::collections::HashSet;

use super::super::{Action, Event, Machine, OnAgentLoss, Phase, Rules};
use super::{A, B, Bench, armed, called_off, full, rules, s};

/// Steps that are explored from each stage.
const DEPTH: usize = 4;

/// What may happen next.
#[derive(Clone, Debug)]
enum Next {
    Event(Event),
    /// Time passes; who is alive gives signs of life.
    Wait(f64, bool),
    /// The coordinator is stopped.
    Stopped(f64),
}

fn alphabet() -> Vec<Next> {
    let mut all = vec![
        Next::Wait(0.5, true),
        Next::Wait(4.0, false),
        Next::Wait(14.0, false),
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
    event(Event::Expelled(B, "nonsense".into()));
    event(Event::Behind);
    event(Event::Go);
    event(Event::Abort);
    event(Event::Interrupt);
    all
}

fn take(bench: &mut Bench, next: &Next) -> Vec<Action> {
    match next {
        Next::Event(event) => bench.event(event.clone()),
        Next::Wait(seconds, alive) => {
            bench.alive = if *alive { vec![A, B] } else { vec![] };
            bench.wait(s(*seconds)).into_iter().map(|(_, action)| action).collect()
        }
        Next::Stopped(seconds) => {
            bench.now += s(*seconds);
            bench.event(Event::Tick)
        }
    }
}

fn ends(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::End(_))).count()
}

/// Explores, and returns how many different states were seen.
fn explore(stage: &Bench) -> usize {
    let mut seen: HashSet<Machine> = HashSet::new();
    let mut edge = vec![stage.clone()];
    for _ in 0..DEPTH {
        let mut further = Vec::new();
        for bench in &edge {
            for next in alphabet() {
                let mut bench = bench.clone();
                let was_over = *bench.machine.phase() == Phase::Over;
                let actions = take(&mut bench, &next);
                let over = *bench.machine.phase() == Phase::Over;
                assert_eq!(ends(&actions), usize::from(over && !was_over), "{next:?}");
                let commands = actions.iter().any(|action| {
                    matches!(
                        action,
                        Action::Start { .. } | Action::Stop(..) | Action::CallOff { .. }
                    )
                });
                assert!(!(was_over && commands), "no commands after the end: {next:?}");
                if seen.insert(bench.machine.clone()) {
                    further.push(bench);
                }
            }
        }
        edge = further;
    }
    for machine in &seen {
        let mut bench = Bench { now: machine.now, machine: machine.clone(), alive: vec![] };
        for _ in 0..85 {
            // As long as a tick may be without being a standstill.
            bench.now += s(0.9);
            bench.event(Event::Tick);
        }
        assert_eq!(*bench.machine.phase(), Phase::Over, "silence ends every run: {machine:?}");
    }
    seen.len()
}

#[test]
fn no_short_order_of_events_gets_a_run_stuck() {
    for on_agent_loss in [OnAgentLoss::Continue, OnAgentLoss::Fail] {
        let rules = Rules { on_agent_loss, ..rules() };
        let new = || Bench::new(rules.clone());
        let stages = [new(), new().held(), new().arming(), new().running()];
        let seen: usize = stages.iter().map(explore).sum();
        assert!(seen > 1000, "only {seen} states");
    }
}
