//! Intervals come out once each, in order, when everyone has delivered.

use proptest::prelude::*;

use super::*;
use Phase::{Measure, Warmup};

#[test]
fn an_interval_is_ready_when_the_last_agent_delivered_it() {
    let mut merger = merger(&[A, B]);
    merger.accept(A, measured(0, &[1, 2])).unwrap();
    merger.accept(A, measured(1, &[3])).unwrap();
    assert_eq!(ready(&mut merger), []);
    assert_eq!(merger.behind(), [B]);
    merger.accept(B, measured(0, &[4])).unwrap();
    let first = merger.next_ready().unwrap();
    assert_eq!((first.interval.counts.transactions, first.interval.clients), (3, 20));
    assert_eq!((first.agents, first.complete), (2, true));
    assert_eq!(ready(&mut merger), []);
    merger.accept(B, measured(1, &[])).unwrap();
    assert_eq!(ready(&mut merger), [(Measure, 1, 1, true)]);
}

#[test]
fn the_warm_up_comes_first_and_enters_no_figure_but_its_own() {
    let mut merger = merger(&[A, B]);
    for agent in [A, B] {
        merger.accept(agent, warmup(0)).unwrap();
        merger.accept(agent, warmup(1)).unwrap();
        merger.accept(agent, measured(0, &[7])).unwrap();
    }
    assert_eq!(
        ready(&mut merger),
        [(Warmup, 0, 2, true), (Warmup, 1, 2, true), (Measure, 0, 2, true)]
    );
    let outcome = merger.finish();
    assert_eq!((outcome.measured.counts.transactions, outcome.warmup.transactions), (2, 4));
    assert_eq!(outcome.measured.response.len(), 2);
    assert_eq!(outcome.timeline.points().len(), 1);
}

#[test]
fn a_transaction_that_outlasts_the_warm_up_does_not_hold_up_the_measured_part() {
    let mut merger = merger(&[A, B]);
    merger.accept(A, warmup(0)).unwrap();
    for agent in [A, B] {
        merger.accept(agent, measured(0, &[9])).unwrap();
        merger.accept(agent, measured(1, &[9])).unwrap();
    }
    assert_eq!(ready(&mut merger), [(Measure, 0, 2, true), (Measure, 1, 2, true)]);
    assert_eq!(merger.behind(), [B]);
    merger.accept(B, warmup(0)).unwrap();
    assert_eq!(ready(&mut merger), [(Warmup, 0, 2, true)]);
}

#[test]
fn what_breaks_the_order_is_refused_and_changes_nothing() {
    let mut merger = merger(&[A, B]);
    let refused = |merger: &mut Merger, interval| merger.accept(A, interval).unwrap_err();
    let early = MergeError::OutOfOrder { agent: A, phase: Warmup, index: 1, expected: 0 };
    assert_eq!(refused(&mut merger, warmup(1)), early);
    merger.accept(A, warmup(0)).unwrap();
    let twice = MergeError::Duplicate { agent: A, phase: Warmup, index: 0 };
    assert_eq!(refused(&mut merger, warmup(0)), twice);
    merger.accept(A, measured(0, &[1])).unwrap();
    assert_eq!(
        refused(&mut merger, measured(u32::MAX, &[1])).to_string(),
        "agent 0 sent interval 4294967295 of the measured part, interval 1 was next"
    );
    assert_eq!(
        refused(&mut merger, measured(0, &[1])).to_string(),
        "agent 0 sent interval 0 of the measured part twice"
    );
    assert_eq!(merger.accept(C, warmup(0)), Err(MergeError::UnknownAgent(C)));
    assert_eq!(merger.finish().measured.counts.transactions, 1);
}

#[test]
fn an_interval_of_another_shape_is_refused() {
    let mut setup = setup(&[A]);
    setup.scripts = 2;
    setup.rate_limited = true;
    let mut merger = Merger::new(setup);
    let refused = merger.accept(A, Interval::new(Measure, 0, 3, true)).unwrap_err();
    assert_eq!(refused, MergeError::Shape { agent: A, what: "scripts" });
    let refused = merger.accept(A, Interval::new(Measure, 0, 2, false)).unwrap_err();
    assert_eq!(refused, MergeError::Shape { agent: A, what: "histograms" });
    merger.accept(A, Interval::new(Measure, 0, 2, true)).unwrap();
}

#[test]
fn agents_finish_at_different_intervals_and_owe_nothing_afterwards() {
    let mut merger = merger(&[A, B]);
    merger.accept(A, measured(0, &[1])).unwrap();
    merger.finished(A, totals(1, 1)).unwrap();
    (0..3).for_each(|index| merger.accept(B, measured(index, &[1])).unwrap());
    assert_eq!(
        ready(&mut merger),
        [(Measure, 0, 2, true), (Measure, 1, 1, true), (Measure, 2, 1, true)]
    );
    assert!(!merger.is_done());
    merger.finished(B, totals(3, 3)).unwrap();
    assert!(merger.is_done());
    assert_eq!(merger.accept(A, measured(1, &[1])), Err(MergeError::AfterFinish(A)));
    assert_eq!(merger.finished(A, totals(1, 1)), Err(MergeError::AfterFinish(A)));
    let outcome = merger.finish();
    assert_eq!((outcome.mismatches, outcome.missing), (vec![], vec![]));
}

proptest! {
    #[test]
    fn any_arrival_order_over_agents_gives_the_same_intervals(
        lengths in proptest::collection::vec(0..8u32, 3), picks in proptest::collection::vec(0..3usize, 40),
    ) {
        let agents = [A, B, C];
        let mut merger = merger(&agents);
        // Warm-up 0 and 1, then as many measured ones as the agent's length, then its totals.
        let mut sent = [0u32; 3];
        let mut out = Vec::new();
        let mut steps = picks;
        steps.extend([0, 1, 2].repeat(12));
        for who in steps {
            let (agent, length) = (agents[who], lengths[who]);
            match sent[who] {
                n if n < 2 => merger.accept(agent, warmup(n)).unwrap(),
                n if n < 2 + length => merger.accept(agent, measured(n - 2, &[100])).unwrap(),
                n if n == 2 + length => {
                    let mut totals = totals(length.into(), length.max(1));
                    totals.last_end_us = u64::from(length) * 1_000_000;
                    totals.warmup.transactions = 2;
                    totals.warmup.commits = 2;
                    merger.finished(agent, totals).unwrap();
                }
                _ => continue,
            }
            sent[who] += 1;
            out.append(&mut ready(&mut merger));
        }
        prop_assert!(merger.is_done());
        let longest = *lengths.iter().max().unwrap();
        let mut expected = vec![(Warmup, 0, 3, true), (Warmup, 1, 3, true)];
        expected.extend((0..longest).map(|index| {
            let at_work = lengths.iter().filter(|&&length| length > index).count() as u64;
            (Measure, index, at_work, true)
        }));
        prop_assert_eq!(out, expected);
        let outcome = merger.finish();
        prop_assert_eq!(outcome.mismatches, vec![]);
        prop_assert_eq!(outcome.missing, vec![]);
        prop_assert_eq!(outcome.measured.counts.transactions, u64::from(lengths.iter().sum::<u32>()));
    }
}
