//! Due times against pgbench's rules, and as a Poisson process.
#![allow(clippy::unwrap_used)]
use proptest::prelude::*;

use super::*;

const SECOND: u64 = 1_000_000;

/// A throttle stream of its own, so that these tests need no other room.
fn stream(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        1.0 - ((z ^ (z >> 31)) >> 12) as f64 / 2f64.powi(52)
    }
}

fn pacer(warmup_s: u64, run_s: Option<u64>, mean_gap_us: f64, limit: Option<u64>) -> Pacer {
    let measure_start_us = warmup_s * SECOND;
    let end_us = run_s.map(|s| measure_start_us + s * SECOND);
    let rate = Rate { mean_gap_us, skip_beyond_us: limit };
    Pacer::new(Window { measure_start_us, end_us }, Some(rate))
}

/// Due times of a worker whose clients are always ready, as long as the run lasts.
fn all_due(mut pacer: Pacer, seed: u64) -> Vec<Due> {
    let mut uniform = stream(seed);
    std::iter::from_fn(|| pacer.next(0, None, &mut uniform).next).collect()
}

#[test]
fn a_closed_loop_is_due_at_once_until_the_end_and_draws_nothing() {
    let window = Window { measure_start_us: 2 * SECOND, end_us: Some(5 * SECOND) };
    let mut pacer = Pacer::new(window, None);
    let mut at = |now| pacer.next(now, None, || unreachable!("no draw in a closed loop")).next;
    assert_eq!(at(0), Some(Due { at_us: 0, phase: Phase::Warmup }));
    assert_eq!(at(1_999_999), Some(Due { at_us: 1_999_999, phase: Phase::Warmup }));
    assert_eq!(at(2_000_000), Some(Due { at_us: 2_000_000, phase: Phase::Measure }));
    assert_eq!(at(4_999_999), Some(Due { at_us: 4_999_999, phase: Phase::Measure }));
    assert_eq!(at(5_000_000), None);
}

#[test]
fn the_gap_is_the_rounded_exponential_of_pgbench() {
    // ln(1/e) = -1, ln 1 = 0; 0.5 rounds up.
    for (uniform, mean, gap) in [
        (1.0, 1000.0, 0),
        ((-1.0f64).exp(), 1000.0, 1000),
        (0.5, 1000.0, 693),
        (0.5, 1.0, 1),
        (0.9, 1.0, 0),
        (2f64.powi(-52), 1000.0, 36044),
    ] {
        assert_eq!(poisson_gap_us(uniform, mean), gap, "U {uniform}, mean {mean}");
    }
}

#[test]
fn a_due_time_in_the_past_is_handed_out_unless_a_limit_says_otherwise() {
    // Every gap is exactly 1000 us.
    let gap = || (-1.0f64).exp();
    let mut patient = pacer(0, None, 1000.0, None);
    let turn = patient.next(50_500, None, gap);
    assert_eq!((turn.next.unwrap().at_us, turn.skipped), (1000, 0));

    let mut limited = pacer(0, None, 1000.0, Some(10_000));
    let turn = limited.next(50_500, None, gap);
    // 1000..=40_000 are overdue by more than 10 ms, 41_000 by 9.5 ms.
    assert_eq!((turn.next.unwrap().at_us, turn.skipped), (41_000, 40));
    // Overdue by exactly the limit is not beyond it.
    let turn = limited.next(52_000, None, gap);
    assert_eq!((turn.next.unwrap().at_us, turn.skipped), (42_000, 0));
}

#[test]
fn skipped_transactions_use_up_the_number_a_client_has_to_do() {
    let mut pacer = pacer(0, None, 1000.0, Some(1));
    let turn = pacer.next(50_500, Some(7), || (-1.0f64).exp());
    assert_eq!((turn.next, turn.skipped, turn.skipped_phase), (None, 7, Phase::Measure));
    // The eighth slot is the next one that anybody draws.
    let turn = pacer.next(8_000, Some(1), || (-1.0f64).exp());
    assert_eq!(turn.next.unwrap().at_us, 8_000);
}

#[test]
fn skips_of_the_warm_up_do_not_use_up_the_number() {
    let mut pacer = pacer(1, None, 1000.0, Some(1));
    let turn = pacer.next(50_500, Some(7), || (-1.0f64).exp());
    assert_eq!((turn.skipped, turn.skipped_phase), (50, Phase::Warmup));
    assert_eq!(turn.next, Some(Due { at_us: 51_000, phase: Phase::Warmup }));
}

#[test]
fn a_client_stops_when_its_next_transaction_is_due_after_the_end_or_the_time_is_over() {
    let gap = || (-1.0f64).exp();
    let mut slow = pacer(0, Some(1), 400_000.0, None);
    assert_eq!(slow.next(0, None, gap).next.unwrap().at_us, 400_000);
    assert_eq!(slow.next(0, None, gap).next.unwrap().at_us, 800_000);
    assert_eq!(slow.next(0, None, gap).next, None);
    // Overdue ones are not begun, and not counted as skipped either, once the time is over.
    let mut behind = pacer(0, Some(1), 1000.0, Some(10));
    let turn = behind.next(SECOND, None, gap);
    assert_eq!((turn.next, turn.skipped), (None, 0));
}

#[test]
fn the_measured_part_begins_with_an_empty_queue_and_says_what_was_dropped() {
    let gap = || (-1.0f64).exp();
    let mut pacer = pacer(2, Some(10), 1000.0, None);
    // Overloaded: after 1.9 s of warm-up only 500 ms worth of transactions were begun.
    for _ in 0..500 {
        assert_eq!(pacer.next(1_900_000, None, gap).next.unwrap().phase, Phase::Warmup);
    }
    let turn = pacer.next(2_000_100, None, gap);
    assert_eq!(turn.dropped_backlog, 1500);
    assert_eq!(turn.next, Some(Due { at_us: 2_001_000, phase: Phase::Measure }));
    // From then on nothing is dropped, however late the worker is.
    let turn = pacer.next(9_000_000, None, gap);
    assert_eq!(turn.dropped_backlog, 0);
    assert_eq!(turn.next.unwrap().at_us, 2_002_000);
}

#[test]
fn a_transaction_drawn_in_the_warm_up_but_due_later_is_measured_and_nothing_is_dropped() {
    let gap = || (-1.0f64).exp();
    let mut pacer = pacer(2, None, 1_500_000.0, None);
    assert_eq!(pacer.next(0, None, gap).next.unwrap().phase, Phase::Warmup);
    let turn = pacer.next(1_500_000, None, gap);
    assert_eq!(turn.next, Some(Due { at_us: 3_000_000, phase: Phase::Measure }));
    let turn = pacer.next(3_100_000, None, gap);
    assert_eq!((turn.dropped_backlog, turn.next.unwrap().at_us), (0, 4_500_000));
}

proptest! {
    #[test]
    fn due_times_never_decrease_and_never_lie_beyond_the_end(
        seed: u64, mean in 1.0..100_000.0f64, limit in proptest::option::of(0..50_000u64),
        steps in proptest::collection::vec(0..200_000u64, 1..200),
    ) {
        let mut pacer = pacer(1, Some(5), mean, limit);
        let (mut uniform, mut now, mut last) = (stream(seed), 0, 0);
        for step in steps {
            now += step;
            let turn = pacer.next(now, None, &mut uniform);
            prop_assert!(limit.is_some() || turn.skipped == 0);
            if let Some(due) = turn.next {
                prop_assert!(due.at_us >= last);
                prop_assert!(due.at_us <= 6 * SECOND);
                prop_assert_eq!(due.phase, pacer.window().phase(due.at_us));
                prop_assert!(now < SECOND || due.phase == Phase::Measure);
                if let Some(limit) = limit {
                    prop_assert!(due.at_us + limit >= now);
                }
                last = due.at_us;
            }
        }
    }

    #[test]
    fn the_schedule_does_not_depend_on_when_clients_become_ready(
        seed: u64, readiness in proptest::collection::vec(0..900_000u64, 50),
    ) {
        let mut eager = pacer(0, None, 5_000.0, None);
        let mut tardy = eager.clone();
        let (mut a, mut b) = (stream(seed), stream(seed));
        for now in readiness {
            let (x, y) = (eager.next(0, None, &mut a), tardy.next(now, None, &mut b));
            prop_assert_eq!(x.next, y.next);
        }
    }
}

/// Six standard deviations of a Poisson count: a fixed seed decides, so this never fails by chance.
fn close_to(count: usize, expected: f64) -> bool {
    (count as f64 - expected).abs() < 6.0 * expected.sqrt()
}

#[test]
fn the_mean_rate_is_the_requested_one() {
    for (seed, rate) in [(1, 100.0), (2, 1001.0), (3, 20_000.0)] {
        let due = all_due(pacer(0, Some(20), 1e6 / rate, None), seed);
        assert!(close_to(due.len(), rate * 20.0), "{} at {rate}/s", due.len());
    }
}

#[test]
fn the_union_of_the_workers_streams_is_a_poisson_process_of_the_requested_rate() {
    // -R 1001 over 1000 clients in 7 unequal workers.
    let rate = 1001.0;
    let mut union: Vec<u64> = [1u32, 9, 90, 150, 200, 250, 300]
        .iter()
        .zip(10u64..)
        .flat_map(|(&part, seed)| {
            let mean = crate::plan::split::Fraction { part, whole: 1000 }.mean_gap_us(rate);
            all_due(pacer(0, Some(60), mean, None), seed)
        })
        .map(|due| due.at_us)
        .collect();
    union.sort_unstable();
    assert!(close_to(union.len(), rate * 60.0), "{}", union.len());
    // The gaps of a Poisson process: P(gap > k/rate) = e^-k.
    let gaps = union.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    for k in 1..=4u32 {
        let longer = gaps.iter().filter(|&&gap| gap as f64 > f64::from(k) * 1e6 / rate).count();
        let expected = gaps.len() as f64 * (-f64::from(k)).exp();
        assert!(close_to(longer, expected), "{longer} gaps above {k} means, expected {expected}");
    }
}
