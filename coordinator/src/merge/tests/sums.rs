//! I1 and I2: sums are proven, percentiles are those of the pooled samples.

use super::*;

/// The 95th of a hundred: the value of that rank among all samples.
fn p95(mut samples: Vec<u64>) -> u64 {
    samples.sort_unstable();
    samples[(samples.len() * 95).div_ceil(100) - 1]
}

#[test]
fn with_one_fast_and_one_slow_agent_the_p95_is_that_of_the_pooled_samples() {
    // 900 transactions of about 2 ms, 100 of about 300 ms, each agent's spread over three seconds.
    let fast: Vec<u64> = (0..900).map(|n| 1_500 + n).collect();
    let slow: Vec<u64> = (0..100).map(|n| 250_000 + 1_000 * n).collect();
    let mut merger = merger(&[A, B]);
    for (agent, samples) in [(A, &fast), (B, &slow)] {
        for (index, part) in (0..).zip(samples.chunks(samples.len().div_ceil(3))) {
            merger.accept(agent, measured(index, part)).unwrap();
        }
        merger.finished(agent, totals(samples.len() as u64, 3)).unwrap();
    }
    let outcome = merger.finish();
    assert_eq!((outcome.mismatches, outcome.missing), (vec![], vec![]));

    let cluster = outcome.measured.response.quantile_us(0.95);
    let exact = p95([fast.clone(), slow.clone()].concat());
    assert!(cluster.abs_diff(exact) <= exact / 1000, "{cluster}, exactly {exact}");

    let [a, b] = [0, 1].map(|n| outcome.agents[n].response.quantile_us(0.95));
    assert!(a.abs_diff(p95(fast)) <= a / 1000 && b.abs_diff(p95(slow)) <= b / 1000);
    let (mean, most) = (a.midpoint(b), a.max(b));
    assert!(cluster.abs_diff(mean) > mean / 10, "{cluster} is the mean of {a} and {b}");
    assert!(cluster.abs_diff(most) > most / 10, "{cluster} is the greater of {a} and {b}");
}

/// One agent, one interval of three transactions, and totals that the caller spoils.
fn proof(spoil: impl FnOnce(&mut Interval, &mut Totals)) -> Vec<String> {
    let mut interval = measured(0, &[10, 20, 30]);
    let mut totals = totals(3, 1);
    spoil(&mut interval, &mut totals);
    let mut merger = merger(&[A]);
    merger.accept(A, interval).unwrap();
    merger.finished(A, totals).unwrap();
    merger.finish().mismatches.iter().map(ToString::to_string).collect()
}

#[test]
fn every_way_to_count_is_held_against_the_others() {
    assert!(proof(|_, _| ()).is_empty());
    assert_eq!(
        proof(|_, totals| totals.measured.retries = 1),
        ["agent 0, retries of the measured part: 1 by its own totals, 0 by its intervals"]
    );
    assert_eq!(
        proof(|_, totals| totals.warmup.transactions = 2),
        ["agent 0, transactions of the warm-up: 2 by its own totals, 0 by its intervals"]
    );
    assert_eq!(
        proof(|_, totals| totals.clients[0].transactions = 2),
        ["agent 0, transactions of the measured part: 3 by counters, 2 by the sum over clients"]
    );
    assert_eq!(
        proof(|interval, _| interval.response.record(40)),
        [
            "agent 0, transactions of the measured part: 3 by counters, 4 by response time samples",
            "cluster, transactions of the measured part: 3 by counters, 4 by response time samples"
        ]
    );
}

#[test]
fn transactions_without_a_script_of_their_own_are_a_mismatch() {
    let mut setup = setup(&[A]);
    setup.scripts = 2;
    let mut merger = Merger::new(setup);
    let mut interval = Interval::new(Phase::Measure, 0, 2, false);
    interval.counts.transactions = 3;
    (1..=3).for_each(|us| interval.response.record(us));
    interval.scripts[0].counts.transactions = 1;
    interval.scripts[1].counts.transactions = 1;
    merger.accept(A, interval).unwrap();
    let found: Vec<_> = merger.finish().mismatches;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].between, found[0].first, found[0].second),
        (Between::CountAndScripts, 3, 2)
    );
}

#[test]
fn an_interval_that_never_came_shows_in_the_end_of_the_last_transaction() {
    let mut merger = merger(&[A]);
    merger.accept(A, measured(0, &[1])).unwrap();
    // Its last transaction ended in the fourth second.
    merger.finished(A, totals(1, 4)).unwrap();
    assert_eq!(merger.finish().missing, [Missing { agent: A, first: 1, count: 3 }]);
}

#[test]
fn scripts_service_times_lags_and_errors_add_up() {
    let mut setup = setup(&[A, B]);
    setup.scripts = 2;
    setup.rate_limited = true;
    let mut merger = Merger::new(setup);
    for (agent, us) in [(A, 100), (B, 300)] {
        let mut interval = Interval::new(Phase::Measure, 0, 2, true);
        interval.counts.transactions = 1;
        interval.response.record(us);
        interval.service.as_mut().unwrap().record(us / 2);
        interval.lag.as_mut().unwrap().record(us / 2);
        interval.scripts[1].counts.transactions = 1;
        interval.scripts[1].response.record(us);
        interval.errors.add("40001", 2);
        merger.accept(agent, interval).unwrap();
    }
    let outcome = merger.finish();
    assert_eq!(outcome.mismatches, []);
    let [service, lag] = [outcome.measured.service, outcome.measured.lag].map(Option::unwrap);
    assert_eq!((service.moments().sum, lag.moments().max), (200, 150));
    assert_eq!(outcome.measured.scripts[0].response.len(), 0);
    assert_eq!(outcome.measured.scripts[1].response.moments().sum, 400);
    assert_eq!(outcome.measured.errors.0["40001"], 4);
    assert_eq!(outcome.errors.0["40001"], 4);
}
