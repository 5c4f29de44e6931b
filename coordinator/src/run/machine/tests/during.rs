//! From the common start to the end of all load.

use pgsurge_common::stats::Phase as Part;
use pgsurge_proto::message::Stop;

use super::super::{Action, Ending, Event, Note, OnAgentLoss, Rules};
use super::{A, B, Bench, Phase, at, ending, rules, running, s};

fn is_lost(action: &Action) -> bool {
    matches!(action, Action::Note(Note::Lost(..)))
}

#[test]
fn a_run_is_done_when_all_agents_have_finished() {
    let mut bench = running();
    assert_eq!(ending(&bench.event(Event::Finished(A))), None);
    assert_eq!(ending(&bench.event(Event::Finished(B))), Some(&Ending::Done));
}

#[test]
fn a_silent_agent_is_unreachable_after_3_s_and_lost_after_its_lease_and_margin() {
    let mut bench = running();
    let silent_since = bench.now;
    bench.alive = vec![A];
    let seen = bench.wait(s(20.0));
    let unreachable = at(&seen, |action| *action == Action::Note(Note::Unreachable(B)));
    assert_eq!(unreachable, Some(silent_since + s(3.0)));
    assert_eq!(at(&seen, is_lost), Some(silent_since + s(13.0)));
    assert_eq!(at(&seen, |action| *action == Action::Forget(B)), Some(silent_since + s(13.0)));
    assert_eq!(ending(&bench.event(Event::Finished(A))), Some(&Ending::Done));
}

#[test]
fn an_agent_that_comes_back_within_its_lease_is_not_lost() {
    let mut bench = running();
    bench.alive = vec![A];
    bench.wait(s(12.8));
    bench.alive = vec![A, B];
    let seen = bench.wait(s(30.0));
    let back = |action: &Action| matches!(action, Action::Note(Note::Back(B, silent)) if *silent == s(12.9));
    assert!(at(&seen, back).is_some());
    assert_eq!(at(&seen, is_lost), None);
}

#[test]
fn a_coordinator_that_stood_still_does_not_age_its_agents() {
    let mut bench = running();
    bench.alive = vec![];
    bench.wait(s(2.0));
    bench.now += s(300.0);
    let woken = bench.event(Event::Tick);
    assert!(woken.iter().all(|action| matches!(action, Action::MeasureClock(_))), "{woken:?}");
    let stood = bench.now;
    let seen = bench.wait(s(2.0));
    let unreachable = at(&seen, |action| *action == Action::Note(Note::Unreachable(B)));
    assert_eq!(unreachable, Some(stood + s(1.0)), "2 s before and 1 s after");
}

#[test]
fn a_coordinator_that_stood_still_does_not_call_off_what_all_have_taken() {
    let mut bench = Bench::new(rules()).arming();
    bench.now += s(5.0);
    assert!(bench.event(Event::Tick).is_empty());
    bench.events([super::armed(A, 1), super::armed(B, 1)]);
    assert!(matches!(bench.machine.phase(), Phase::Running(_)));
}

#[test]
fn a_coordinator_that_is_behind_does_not_age_its_agents() {
    let mut bench = running();
    bench.alive = vec![];
    for _ in 0..100 {
        bench.event(Event::Behind);
        let seen = bench.wait(s(0.9));
        assert!(seen.iter().all(|(_, action)| matches!(action, Action::MeasureClock(_))));
    }
    let caught_up = bench.now;
    let seen = bench.wait(s(20.0));
    assert_eq!(at(&seen, is_lost), Some(caught_up + s(12.1)));
}

#[test]
fn under_fail_the_loss_of_an_agent_drains_the_others() {
    let mut bench = Bench::new(Rules { on_agent_loss: OnAgentLoss::Fail, ..rules() }).running();
    let actions = bench.event(Event::Fault(B, "out of memory".into()));
    assert!(actions.contains(&Action::Stop(A, Stop::Drain)));
    let lost_at = bench.now;
    let seen = bench.wait(s(11.0));
    let now = at(&seen, |action| *action == Action::Stop(A, Stop::Now));
    assert_eq!(now, Some(lost_at + s(10.0)), "a drain that was not wished for is bounded");
}

#[test]
fn under_fail_an_agent_that_leaves_drains_the_others_too() {
    let mut bench = Bench::new(Rules { on_agent_loss: OnAgentLoss::Fail, ..rules() }).running();
    let actions = bench.event(Event::Leaving(B, "told to".into()));
    assert!(actions.contains(&Action::Stop(A, Stop::Drain)));
    bench.event(Event::Finished(B));
    assert_eq!(ending(&bench.event(Event::Finished(A))), Some(&Ending::Done));
}

#[test]
fn an_expelled_agent_is_lost_only_when_its_lease_is_over() {
    let mut bench = running();
    let expelled_at = bench.now;
    assert!(bench.event(Event::Expelled(B, "nonsense".into())).is_empty());
    bench.event(Event::Heard(B));
    bench.alive = vec![A];
    let seen = bench.wait(s(14.0));
    assert_eq!(at(&seen, is_lost), Some(expelled_at + s(13.0)));
    let reason = "it broke the protocol: nonsense".to_owned();
    assert!(seen.iter().any(|(_, action)| *action == Action::Note(Note::Lost(B, reason.clone()))));
}

#[test]
fn the_first_interrupt_drains_without_a_bound_and_the_second_ends_all_load() {
    let mut bench = running();
    let drain = bench.event(Event::Interrupt);
    assert_eq!(drain, [Action::Stop(A, Stop::Drain), Action::Stop(B, Stop::Drain)]);
    let seen = bench.wait(s(600.0));
    assert!(seen.iter().all(|(_, action)| matches!(action, Action::MeasureClock(_))));
    let abort = bench.event(Event::Interrupt);
    assert_eq!(abort, [Action::Stop(A, Stop::Now), Action::Stop(B, Stop::Now)]);
    let aborted_at = bench.now;
    let seen = bench.wait(s(6.0));
    let end = at(&seen, |action| *action == Action::End(Ending::Done));
    assert_eq!(end, Some(aborted_at + s(5.0)), "nobody is waited for beyond that");
}

#[test]
fn a_drain_timeout_that_agents_do_not_keep_is_kept_for_them() {
    let mut bench = Bench::new(Rules { drain_timeout: Some(s(2.0)), ..rules() }).running();
    bench.event(Event::Finished(A));
    let seen = bench.wait(s(40.0));
    // 0.4 s to the start, 20 s of load, 2 s to drain, 5 s of grace.
    let now = at(&seen, |action| *action == Action::Stop(B, Stop::Now));
    assert_eq!(now, Some(s(27.4)));
    assert_eq!(at(&seen, is_lost), Some(s(37.4)));
}

#[test]
fn a_drain_without_a_bound_goes_on_as_long_as_intervals_come() {
    let mut bench = running();
    let seen = bench.wait(s(900.0));
    assert!(seen.iter().all(|(_, action)| matches!(action, Action::MeasureClock(_))));
}

#[test]
fn an_agent_that_answers_but_delivers_nothing_is_given_up() {
    let mut bench = running();
    bench.alive = vec![A];
    let mut seen = Vec::new();
    for _ in 0..25 {
        seen.extend(bench.wait(s(1.0)));
        let heard = bench.event(Event::Heard(B));
        seen.extend(heard.into_iter().map(|action| (bench.now, action)));
    }
    let reason = "it delivered no interval for 20 s".to_owned();
    assert!(seen.iter().any(|(_, action)| *action == Action::Note(Note::Lost(B, reason.clone()))));
}

#[test]
fn an_abort_under_exit_on_abort_reaches_every_agent() {
    let mut bench = running();
    let actions = bench.event(Event::Abort);
    assert_eq!(actions, [Action::Stop(A, Stop::Now), Action::Stop(B, Stop::Now)]);
}

#[test]
fn an_agent_that_leaves_is_waited_for_until_its_totals_are_there() {
    let mut bench = running();
    let actions = bench.event(Event::Leaving(B, "told to".into()));
    assert_eq!(actions, [Action::Note(Note::Left(B, "told to".into()))]);
    bench.event(Event::Finished(B));
    assert_eq!(ending(&bench.event(Event::Finished(A))), Some(&Ending::Done));
}

#[test]
fn clocks_are_measured_again_during_the_run() {
    let mut bench = running();
    let seen = bench.wait(s(11.0));
    let times = seen.iter().filter(|(_, action)| *action == Action::MeasureClock(A)).count();
    assert_eq!(times, 2);
}

#[test]
fn nothing_can_have_been_that_lies_far_ahead() {
    let rules = Rules { warmup: s(10.0), ..rules() };
    assert_eq!(rules.end_of(Part::Warmup, 3), s(4.0));
    assert_eq!(rules.end_of(Part::Measure, 3), s(14.0));
    // A clock may run fast by a quarter, and ten seconds may have passed unnoticed.
    for (time, elapsed, may) in
        [(10.0, 0.0, true), (10.1, 0.0, false), (135.0, 100.0, true), (135.1, 100.0, false)]
    {
        assert_eq!(rules.may_have_been(s(time), s(elapsed)), may, "{time} of {elapsed}");
    }
    assert!(!rules.may_have_been(rules.end_of(Part::Measure, u32::MAX), s(1e6)));
}
