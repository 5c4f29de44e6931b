//! Clients of lost agents that go on elsewhere.

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::Phase::{Measure, Warmup};
use pgsurge_proto::message::Stop;

use super::super::{Action, Ending, Event, Heir, Note, OnAgentLoss, Rules};
use super::{A, B, Bench, armed, at, ending, full, rules, s};

const C: AgentId = AgentId(2);

fn moving() -> Rules {
    Rules { on_agent_loss: OnAgentLoss::Rebalance, ..rules() }
}

/// The second agent has ended its load and the first takes its clients over.
fn taken() -> Bench {
    let mut bench = Bench::new(moving()).running();
    let actions = bench.event(Event::Gone(B, "lease over".into()));
    assert!(actions.contains(&Action::Place { lost: B, among: vec![A] }));
    assert_eq!(bench.event(Event::Placed { lost: B, by: vec![Heir::Agent(A)] }), []);
    bench
}

#[test]
fn clients_of_a_silent_agent_are_placed_only_when_its_lease_and_the_margin_are_over() {
    let mut bench = Bench::new(moving()).running();
    let silent_since = bench.now;
    bench.alive = vec![A];
    let seen = bench.wait(s(14.0));
    let place = at(&seen, |action| *action == Action::Place { lost: B, among: vec![A] });
    assert_eq!(place, Some(silent_since + s(13.0)));
}

#[test]
fn they_begin_with_an_interval_far_enough_ahead() {
    let mut bench = taken();
    // 0.5 s after the start, which was at 0.4 s; an instant is named 0.4 s ahead.
    let named = bench.event(Event::Opened(C, full()));
    assert_eq!(named, [Action::Join { part: C, attempt: 1, after: s(1.0) }]);
    let late = bench.event(Event::Armed { agent: C, attempt: 1, in_time: false });
    assert_eq!(late, [Action::Join { part: C, attempt: 2, after: s(1.0) }]);
    let joined = bench.event(armed(C, 2));
    assert_eq!(joined, [Action::Note(Note::Joined(C, s(1.0)))]);
    bench.event(Event::Finished(A));
    assert_eq!(ending(&bench.event(Event::Finished(C))), Some(&Ending::Done));
}

#[test]
fn those_that_never_take_an_instant_are_given_up_and_not_moved_again() {
    let mut bench = taken();
    bench.event(Event::Opened(C, full()));
    for attempt in 1..3 {
        bench.event(Event::Armed { agent: C, attempt, in_time: false });
    }
    let actions = bench.event(Event::Armed { agent: C, attempt: 3, in_time: false });
    assert_eq!(actions[0], Action::Stop(C, Stop::Now));
    assert!(matches!(&actions[1..], [Action::Note(Note::Lost(C, _))]), "{actions:?}");
}

#[test]
fn those_that_never_open_their_sessions_are_given_up() {
    let mut bench = Bench::new(Rules { length: None, ..moving() }).running();
    bench.event(Event::Gone(B, "lease over".into()));
    bench.event(Event::Placed { lost: B, by: vec![Heir::Agent(A)] });
    let taken_at = bench.now;
    let seen = bench.wait(s(70.0));
    let lost = at(&seen, |action| matches!(action, Action::Note(Note::Lost(C, _))));
    assert_eq!(lost, Some(taken_at + s(60.0)));
}

#[test]
fn nothing_is_moved_once_the_run_is_ending() {
    let mut bench = Bench::new(moving()).running();
    bench.event(Event::Interrupt);
    let actions = bench.event(Event::Gone(B, "lease over".into()));
    assert!(!actions.iter().any(|action| matches!(action, Action::Place { .. })), "{actions:?}");
    // Nor in its last moments.
    let mut bench = Bench::new(moving()).running();
    bench.wait(s(19.0));
    let actions = bench.event(Event::Gone(B, "lease over".into()));
    assert!(!actions.iter().any(|action| matches!(action, Action::Place { .. })), "{actions:?}");
}

#[test]
fn a_stop_reaches_clients_that_are_on_their_way() {
    let mut bench = taken();
    bench.event(Event::Opened(C, full()));
    let actions = bench.event(Event::Interrupt);
    assert_eq!(actions, [Action::Stop(A, Stop::Drain), Action::Stop(C, Stop::Drain)]);
    assert_eq!(bench.event(armed(C, 1)), [], "what it had taken before does not count");
    bench.event(Event::Finished(A));
    assert_eq!(ending(&bench.event(Event::Finished(C))), Some(&Ending::Done));
}

#[test]
fn a_spare_agent_is_watched_like_the_others() {
    let mut bench = Bench::new(moving()).running();
    bench.event(Event::Gone(B, "lease over".into()));
    bench.event(Event::Placed { lost: B, by: vec![Heir::Spare(Duration::ZERO)] });
    let came_at = bench.now;
    bench.alive = vec![A];
    let seen = bench.wait(s(14.0));
    let unreachable = at(&seen, |action| *action == Action::Note(Note::Unreachable(C)));
    assert_eq!(unreachable, Some(came_at + s(3.0)));
    assert!(seen.contains(&(came_at + s(13.0), Action::Forget(C))));
}

#[test]
fn an_agent_that_leaves_is_replaced_when_it_has_finished() {
    let mut bench = Bench::new(moving()).running();
    let told = bench.event(Event::Leaving(B, "told to".into()));
    assert_eq!(told, [Action::Note(Note::Left(B, "told to".into()))]);
    let finished = bench.event(Event::Finished(B));
    assert_eq!(finished, [Action::Place { lost: B, among: vec![A] }]);
}

#[test]
fn intervals_count_from_the_beginning_of_their_phase() {
    let rules = Rules { warmup: s(2.5), ..rules() };
    for (time, boundary, interval) in [
        (0.0, 0.0, (Warmup, 0)),
        (0.1, 1.0, (Warmup, 0)),
        (2.1, 2.5, (Warmup, 2)),
        (2.5, 2.5, (Measure, 0)),
        (2.6, 3.5, (Measure, 0)),
        (32.5, 32.5, (Measure, 30)),
    ] {
        assert_eq!(rules.boundary(s(time)), s(boundary), "{time} s");
        assert_eq!(rules.interval_at(s(time)), interval, "{time} s");
    }
}
