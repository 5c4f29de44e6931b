//! From preparing to the common start.

use super::super::{
    Action, Ending, Event, Failure, Machine, Note, OnAgentLoss, Opened, Phase, Rules,
};
use super::{A, B, Bench, armed, at, called_off, ending, full, rules, s};

fn failed(failure: Failure) -> Ending {
    Ending::Failed(failure)
}

#[test]
fn a_run_begins_when_all_agents_have_taken_the_instant() {
    let mut bench = Bench::new(rules()).arming();
    let Phase::Arming { at, .. } = *bench.machine.phase() else { panic!("not arming") };
    assert_eq!(at, s(0.4));
    assert!(bench.event(armed(A, 1)).is_empty());
    assert_eq!(bench.event(armed(B, 1)), [Action::Note(Note::Armed(at))]);
}

#[test]
fn the_instant_is_far_enough_ahead_for_the_slowest_agent() {
    let mut bench = Bench::new(rules()).held();
    bench.events([Event::Go, Event::Clock(A, s(0.001))]);
    let named = bench.event(Event::Clock(B, s(0.5)));
    let start = |agent| Action::Start { agent, attempt: 1, at: s(4.0) };
    assert_eq!(named, [start(A), start(B)]);
}

#[test]
fn an_instant_that_one_agent_did_not_take_is_called_off_and_a_later_one_named() {
    let mut bench = Bench::new(rules()).arming();
    bench.event(armed(A, 1));
    let seen = bench.wait(s(0.4));
    let off = |action: &Action| matches!(action, Action::CallOff { attempt: 1, .. });
    assert_eq!(at(&seen, off), Some(s(0.3)), "before the instant, with time for the message");
    assert!(seen.contains(&(s(0.3), Action::Note(Note::CalledOff(vec![B])))));
    let measured = bench.events([called_off(A, 1), called_off(B, 1)]);
    assert_eq!(measured, [Action::MeasureClock(A), Action::MeasureClock(B)]);
    let now = bench.now;
    let named = bench.events([Event::Clock(A, s(0.001)), Event::Clock(B, s(0.001))]);
    assert!(named.contains(&Action::Start { agent: B, attempt: 2, at: now + s(0.8) }));
    // An answer to the instant that does not hold any more counts for nothing.
    assert!(bench.event(armed(B, 1)).is_empty());
    bench.events([armed(A, 2), armed(B, 2)]);
    assert!(matches!(bench.machine.phase(), Phase::Running(_)));
}

#[test]
fn the_answer_of_an_only_agent_counts_also_when_it_is_read_late() {
    let machine = Machine::new(rules(), 1, s(0.0));
    let mut bench = Bench { machine, now: s(0.0), alive: vec![A] };
    bench.events([Event::Opened(A, full()), Event::Go, Event::Clock(A, s(0.001))]);
    let seen = bench.wait(s(1.0));
    assert_eq!(at(&seen, |action| matches!(action, Action::CallOff { .. })), None);
    bench.event(armed(A, 1));
    assert!(matches!(bench.machine.phase(), Phase::Running(_)));
}

#[test]
fn an_agent_that_got_the_instant_too_late_says_so_and_it_is_called_off() {
    let mut bench = Bench::new(rules()).arming();
    let actions = bench.event(Event::Armed { agent: A, attempt: 1, in_time: false });
    assert!(actions.contains(&Action::CallOff { agent: B, attempt: 1 }));
}

#[test]
fn the_run_ends_after_the_last_attempt_and_names_who_did_not_take_it() {
    let mut bench = Bench::new(rules()).arming();
    for attempt in 1..=3 {
        bench.event(armed(A, attempt));
        bench.wait(s(2.0));
        let actions = bench.events([called_off(A, attempt), called_off(B, attempt)]);
        if attempt == 3 {
            let failure = Failure::NotArmed { attempt: 3, missing: vec![B] };
            assert_eq!(ending(&actions), Some(&failed(failure)));
        } else {
            bench.events([Event::Clock(A, s(0.0)), Event::Clock(B, s(0.0))]);
        }
    }
    assert_eq!(*bench.machine.phase(), Phase::Over);
}

#[test]
fn an_agent_that_began_alone_ends_the_run() {
    let mut bench = Bench::new(rules()).arming();
    bench.event(armed(A, 1));
    bench.wait(s(0.4));
    let actions = bench.event(Event::CalledOff { agent: A, attempt: 1, begun: true });
    assert_eq!(ending(&actions), Some(&failed(Failure::BeganAlone(A))));
}

#[test]
fn every_wait_before_the_start_has_a_deadline_that_names_who_is_missing() {
    let preparing = {
        let mut bench = Bench::new(rules());
        bench.event(Event::Opened(A, full()));
        bench
    };
    let clocks = {
        let mut bench = Bench::new(rules()).held();
        bench.events([Event::Go, Event::Clock(B, s(0.0))]);
        bench
    };
    let calling_off = {
        let mut bench = Bench::new(rules()).arming();
        bench.wait(s(0.3));
        bench.event(called_off(B, 1));
        bench
    };
    for (mut bench, deadline, failure) in [
        (preparing, s(60.0), Failure::NotReady(vec![B])),
        (clocks, s(10.0), Failure::NoClock(vec![A])),
        (calling_off, s(10.3), Failure::NotArmed { attempt: 1, missing: vec![A] }),
    ] {
        let seen = bench.wait(s(70.0));
        let end = Action::End(failed(failure));
        assert_eq!(at(&seen, |action| *action == end), Some(deadline), "{end:?}");
    }
}

#[test]
fn connection_results_decide_whether_the_run_goes_on() {
    let few = Opened { obtained: 3, ..full() };
    let none = Opened { obtained: 0, server: None, ..full() };
    let elsewhere = Opened { server: Some("two".into()), ..full() };
    let unknown = Opened { server: None, ..full() };
    let fewer = Rules { allow_fewer_clients: true, ..rules() };
    let anywhere = Rules { any_server: true, ..rules() };
    let too_few = Some(Failure::TooFewSessions);
    for (rules, a, b, failure) in [
        (rules(), full(), full(), None),
        (rules(), full(), unknown, None),
        (rules(), full(), few.clone(), too_few.clone()),
        (fewer.clone(), full(), few, None),
        (fewer, none.clone(), none, too_few),
        (rules(), full(), elsewhere.clone(), Some(Failure::DifferentServers)),
        (anywhere, full(), elsewhere, None),
    ] {
        let mut bench = Bench::new(rules);
        let actions = bench.events([Event::Opened(A, a), Event::Opened(B, b)]);
        assert_eq!(ending(&actions), failure.map(failed).as_ref());
    }
}

#[test]
fn an_agent_that_is_out_before_the_start_ends_the_run_whatever_the_policy() {
    let rules = Rules { on_agent_loss: OnAgentLoss::Continue, ..rules() };
    let reason = || "gone".to_owned();
    for event in [Event::Fault(B, reason()), Event::Leaving(B, reason())] {
        for mut bench in [
            Bench::new(rules.clone()),
            Bench::new(rules.clone()).held(),
            Bench::new(rules.clone()).arming(),
        ] {
            let actions = bench.event(event.clone());
            assert_eq!(ending(&actions), Some(&failed(Failure::Lost(B, reason()))));
        }
    }
}

#[test]
fn one_interrupt_before_the_start_is_enough() {
    for mut bench in [Bench::new(rules()), Bench::new(rules()).held(), Bench::new(rules()).arming()]
    {
        let actions = bench.event(Event::Interrupt);
        assert_eq!(ending(&actions), Some(&failed(Failure::Interrupted)));
    }
}
