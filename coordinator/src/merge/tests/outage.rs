//! Agents that fall silent, come back, or never do.

use super::*;
use Phase::Measure;

#[test]
fn an_unreachable_agent_is_waited_for_and_its_seconds_are_marked() {
    let mut merger = merger(&[A, B]);
    merger.accept(A, measured(0, &[1])).unwrap();
    merger.accept(B, measured(0, &[1])).unwrap();
    merger.accept(A, measured(1, &[1])).unwrap();
    merger.unreachable(B).unwrap();
    merger.accept(A, measured(2, &[1])).unwrap();
    assert_eq!(ready(&mut merger), [(Measure, 0, 2, true)]);
    merger.reachable(B, (Measure, 3)).unwrap();
    merger.accept(A, measured(3, &[1])).unwrap();
    (1..4).for_each(|index| merger.accept(B, measured(index, &[1])).unwrap());
    let marks = |merger: &mut Merger| {
        let ready = merger.next_ready().unwrap();
        (ready.complete, ready.agents, ready.unreachable)
    };
    assert_eq!(marks(&mut merger), (true, 2, vec![B]));
    assert_eq!(marks(&mut merger), (true, 2, vec![B]));
    assert_eq!(marks(&mut merger), (true, 2, vec![]));
}

#[test]
fn a_silence_does_not_mark_what_was_delivered_before_it() {
    let mut merger = merger(&[A, B, C]);
    merger.accept(A, warmup(0)).unwrap();
    merger.accept(A, measured(0, &[])).unwrap();
    merger.accept(B, warmup(0)).unwrap();
    merger.unreachable(B).unwrap();
    merger.lost(C).unwrap();
    assert_eq!(merger.next_ready().unwrap().unreachable, []);
    merger.accept(B, measured(0, &[])).unwrap();
    assert_eq!(merger.next_ready().unwrap().unreachable, [B]);
}

#[test]
fn a_lost_agent_keeps_what_it_delivered_and_is_named_from_then_on() {
    let mut merger = merger(&[A, B]);
    merger.accept(B, measured(0, &[5])).unwrap();
    (0..3).for_each(|index| merger.accept(A, measured(index, &[1])).unwrap());
    merger.unreachable(B).unwrap();
    assert_eq!(ready(&mut merger), [(Measure, 0, 2, true)]);
    merger.lost(B).unwrap();
    let second = merger.next_ready().unwrap();
    assert_eq!((second.complete, second.missing, second.agents), (false, vec![B], 1));
    assert_eq!(ready(&mut merger), [(Measure, 2, 1, false)]);
    assert_eq!(merger.accept(B, measured(1, &[5])), Err(MergeError::AfterLoss(B)));
    assert_eq!(merger.finished(B, totals(1, 1)), Err(MergeError::AfterLoss(B)));
    merger.finished(A, totals(3, 3)).unwrap();
    assert!(merger.is_done());

    let outcome = merger.finish();
    // The loss is a finding of its own: it is neither a mismatch nor an interval of a live agent.
    assert_eq!((outcome.mismatches, outcome.missing), (vec![], vec![]));
    assert_eq!(outcome.measured.counts.transactions, 4);
    let b = &outcome.agents[1];
    assert_eq!((b.lost, b.totals.is_none(), b.counts.transactions), (true, true, 1));
    let complete: Vec<bool> =
        outcome.timeline.points().iter().map(|point| point.complete).collect();
    assert_eq!(complete, [true, false, false]);
}

#[test]
fn losing_an_agent_that_had_finished_changes_nothing() {
    let mut merger = merger(&[A, B]);
    merger.accept(A, measured(0, &[1])).unwrap();
    merger.finished(A, totals(1, 1)).unwrap();
    merger.lost(A).unwrap();
    merger.accept(B, measured(0, &[1])).unwrap();
    merger.accept(B, measured(1, &[1])).unwrap();
    assert_eq!(ready(&mut merger), [(Measure, 0, 2, true), (Measure, 1, 1, true)]);
    assert!(!merger.finish().agents[0].lost);
}

#[test]
fn when_all_are_lost_what_they_delivered_still_comes_out() {
    let mut merger = merger(&[A, B]);
    merger.accept(A, measured(0, &[1])).unwrap();
    merger.accept(A, measured(1, &[1])).unwrap();
    merger.lost(A).unwrap();
    merger.lost(B).unwrap();
    assert_eq!(ready(&mut merger), [(Measure, 0, 1, false), (Measure, 1, 1, false)]);
    assert_eq!(ready(&mut merger), []);
    assert!(merger.is_done());
}

#[test]
fn open_intervals_are_bounded_and_what_comes_later_still_enters_every_sum() {
    let mut setup = setup(&[A, B]);
    setup.scripts = 128;
    let most = setup.open_most();
    let mut merger = Merger::new(setup);
    let shaped = |index| {
        let mut interval = Interval::new(Measure, index, 128, false);
        interval.response.record(100);
        interval.counts.transactions = 1;
        interval.scripts[0].counts.transactions = 1;
        interval
    };
    let count = u32::try_from(most).unwrap() + 3;
    let mut out = Vec::new();
    for index in 0..count {
        merger.accept(A, shaped(index)).unwrap();
        out.append(&mut ready(&mut merger));
    }
    assert_eq!(out, [(Measure, 0, 1, false), (Measure, 1, 1, false), (Measure, 2, 1, false)]);
    for index in 0..count {
        merger.accept(B, shaped(index)).unwrap();
    }
    let rest = ready(&mut merger);
    assert_eq!(rest.len(), most);
    assert!(rest.iter().all(|&(_, _, transactions, complete)| transactions == 2 && complete));

    for agent in [A, B] {
        let mut totals = totals(count.into(), count);
        totals.measured.commits = 0;
        merger.finished(agent, totals).unwrap();
    }
    let outcome = merger.finish();
    assert_eq!(outcome.mismatches, []);
    assert_eq!(outcome.measured.counts.transactions, 2 * u64::from(count));
    let first = &outcome.timeline.points()[0];
    assert_eq!((first.counts.transactions, first.response.moments().count), (2, 2));
    assert!(!first.complete);
}

#[test]
fn an_interrupted_run_yields_what_is_there() {
    let mut merger = merger(&[A, B]);
    merger.accept(A, measured(0, &[1])).unwrap();
    merger.close();
    assert_eq!(ready(&mut merger), [(Measure, 0, 1, false)]);
    let outcome = merger.finish();
    let missing: Vec<_> = outcome.missing.iter().map(|m| (m.agent, m.first, m.count)).collect();
    assert_eq!(missing, [(A, 1, 1), (B, 0, 1)]);
}
