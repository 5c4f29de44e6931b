//! Intervals and totals of a worker, whatever the order of events.

use std::cell::RefCell;
use std::rc::Rc;

use pgsurge_common::schedule::Window;
use proptest::prelude::*;

use super::*;

const WARMUP_US: u64 = 1_500_000;

fn recorder(warmup_us: u64) -> (Recorder, Rc<RefCell<Vec<Interval>>>) {
    let closed = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&closed);
    let shape = Shape { scripts: 2, rate_limited: true, latency_limit_us: Some(1000) };
    let timeline = Timeline::new(Window { measure_start_us: warmup_us, end_us: None });
    let close = Box::new(move |interval: Box<Interval>| sink.borrow_mut().push(*interval));
    (Recorder::new(timeline, Spares::new(shape, 2), close), closed)
}

fn sample(recorder: &Recorder, begun_us: u64, end_us: u64) -> Sample {
    let begun = RunTime::from_us(begun_us);
    Sample {
        phase: recorder.timeline.phase(begun),
        script: 1,
        due: begun,
        begun,
        end: RunTime::from_us(end_us),
        ended: Ended::Success,
        retries: 0,
        commits: 1,
    }
}

fn keys(closed: &RefCell<Vec<Interval>>) -> Vec<(Phase, u32, u64)> {
    let closed = closed.borrow();
    closed.iter().map(|i| (i.phase, i.index, i.counts.transactions)).collect()
}

#[test]
fn clients_that_join_later_have_no_intervals_before() {
    let (warmup, measure) = (Phase::Warmup, Phase::Measure);
    for (joined_us, first) in [
        (0, vec![(warmup, 0, 0), (warmup, 1, 0)]),
        (1_000_000, vec![(warmup, 1, 0)]),
        (1_500_000, vec![(measure, 0, 1)]),
        (31_500_000, vec![(measure, 30, 1)]),
    ] {
        let (mut recorder, closed) = recorder(WARMUP_US);
        recorder.join(RunTime::from_us(joined_us));
        let end_us = joined_us.max(WARMUP_US) + 200_000;
        let sample = sample(&recorder, end_us - 100_000, end_us);
        recorder.book(&sample);
        let tally = recorder.finish(RunTime::from_us(end_us));
        assert_eq!(keys(&closed)[..first.len()], first, "joined at {joined_us}");
        assert_eq!(tally.measured.transactions, 1);
    }
}

#[test]
fn a_warm_up_is_closed_when_its_last_transaction_has_ended() {
    let (mut recorder, closed) = recorder(WARMUP_US);
    recorder.enter(Phase::Warmup);
    let late = sample(&recorder, 1_400_000, 3_600_000);
    for now in [1_000_000, 2_000_000, 3_000_000] {
        recorder.roll(RunTime::from_us(now));
    }
    recorder.book(&late);
    recorder.leave(Phase::Warmup);
    recorder.roll(RunTime::from_us(3_700_000));
    let tally = recorder.finish(RunTime::from_us(3_800_000));
    let (warmup, measure) = (Phase::Warmup, Phase::Measure);
    assert_eq!(
        keys(&closed),
        [(warmup, 0, 0), (measure, 0, 0), (warmup, 1, 1), (measure, 1, 0), (measure, 2, 0)]
    );
    assert_eq!((tally.warmup.transactions, tally.measured.transactions), (1, 0));
}

#[test]
fn a_load_that_ends_in_its_warm_up_has_no_measured_interval() {
    let (mut recorder, closed) = recorder(WARMUP_US);
    let early = sample(&recorder, 0, 500_000);
    recorder.book(&early);
    recorder.finish(RunTime::from_us(600_000));
    assert_eq!(keys(&closed), [(Phase::Warmup, 0, 1)]);
}

#[test]
fn figures_say_what_happened() {
    let (mut recorder, closed) = recorder(0);
    let mut slow = sample(&recorder, 1000, 9000);
    slow.begun = RunTime::from_us(4000);
    recorder.book(&slow);
    slow.ended = Ended::Failed(ErrorClass::Deadlock);
    slow.retries = 2;
    recorder.book(&slow);
    recorder.skip(Phase::Measure, 1, RunTime::from_us(9500), 3);
    recorder.error(Phase::Measure, RunTime::from_us(9600), "40P01");
    recorder.connection(Phase::Measure, RunTime::from_us(9700), 1, 250);
    let tally = recorder.finish(RunTime::from_us(10_000));
    let closed = closed.borrow();
    let interval = &closed[0];
    assert_eq!(interval.counts, tally.measured);
    assert_eq!(interval.scripts[1].counts.all(), 5);
    let counts = &tally.measured;
    assert_eq!((counts.transactions, counts.late, counts.deadlock_failures), (1, 1, 1));
    assert_eq!((counts.skipped, counts.retried, counts.retries), (3, 1, 2));
    assert_eq!((counts.commits, counts.connects, counts.connect_us), (2, 1, 250));
    let max = |h: &Option<pgsurge_common::stats::Histogram>| h.as_ref().map(|h| h.quantile_us(1.0));
    assert_eq!(interval.response.quantile_us(1.0), 8000);
    assert_eq!((max(&interval.service), max(&interval.lag)), (Some(5000), Some(3000)));
    assert_eq!(interval.errors, tally.errors);
    assert_eq!(tally.last_end_us, 9000);
}

proptest! {
    #[test]
    fn intervals_ascend_without_a_gap_and_add_up_to_the_tally(
        warmup_us in prop::sample::select(&[0, WARMUP_US, 2_000_000][..]),
        steps in prop::collection::vec((0u64..1_500_000, 0u64..800_000, any::<bool>()), 1..60),
    ) {
        let (mut recorder, closed) = recorder(warmup_us);
        let mut now = 0;
        for (wait, lasting, tick) in steps {
            now += wait;
            if tick {
                recorder.roll(RunTime::from_us(now));
            }
            let sample = sample(&recorder, now, now + lasting);
            now += lasting;
            recorder.enter(sample.phase);
            recorder.book(&sample);
            recorder.leave(sample.phase);
        }
        let tally = recorder.finish(RunTime::from_us(now));
        for (phase, total) in [(Phase::Warmup, tally.warmup), (Phase::Measure, tally.measured)] {
            let mut sum = Counts::default();
            let closed = closed.borrow();
            for (index, interval) in (0u32..).zip(closed.iter().filter(|i| i.phase == phase)) {
                prop_assert_eq!(interval.index, index);
                sum.merge(&interval.counts);
            }
            prop_assert_eq!(sum, total);
        }
    }
}

#[test]
fn time_without_a_session_is_booked_in_the_seconds_in_which_it_passes() {
    let at = RunTime::from_us;
    let (mut recorder, closed) = recorder(WARMUP_US);
    recorder.client_joined();
    recorder.client_joined();
    assert!(recorder.lost(ClientId(0), at(1_200_000), "57P01"));
    assert!(!recorder.lost(ClientId(1), at(2_000_000), "closed"));
    recorder.roll(at(3_000_000));
    recorder.still_lost("ECONNREFUSED");
    assert!(!recorder.back(at(1_200_000), at(3_700_000)));
    assert!(recorder.back(at(2_000_000), at(4_000_000)));
    let tally = recorder.finish(at(4_100_000));
    let told: Vec<_> = closed
        .borrow()
        .iter()
        .map(|i| (i.phase, i.index, i.counts.unreachable_us / 1000, i.clients, i.disconnected))
        .collect();
    let (warmup, measure) = (Phase::Warmup, Phase::Measure);
    assert_eq!(
        told,
        [
            (warmup, 0, 0, 2, 0),
            (warmup, 1, 300, 1, 1),
            (measure, 0, 1500, 0, 2),
            (measure, 1, 2000, 0, 2),
            (measure, 2, 700, 0, 0)
        ]
    );
    assert_eq!((tally.warmup.unreachable_us, tally.measured.unreachable_us), (300_000, 4_200_000));
    assert_eq!((tally.warmup.reconnects, tally.measured.reconnects), (0, 2));
    let outage = &tally.outages.listed[0];
    assert_eq!((outage.start_us, outage.end_us, outage.clients), (-300_000, 2_500_000, 2));
}
