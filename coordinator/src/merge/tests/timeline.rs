//! The run over time: bounded, coarsened without falsifying percentiles (I7).

use pgsurge_common::stats::PackedHistogram;

use super::*;

/// A timeline of at most 36 points, and the samples of each interval: a few, mostly around 100 µs, every
/// fourth second around 900 µs.
fn run(seconds: u32) -> (Timeline, Vec<Vec<u64>>) {
    let mut timeline = Timeline::with_most(Duration::from_secs(1), 36);
    let samples: Vec<Vec<u64>> = (0..seconds)
        .map(|index| match index % 4 {
            3 => (900..903).collect(),
            _ => (100..109).map(|us| us + u64::from(index % 50)).collect(),
        })
        .collect();
    for (index, samples) in (0..).zip(&samples) {
        let interval = measured(index, samples);
        timeline.push(&ClusterInterval {
            interval,
            agents: 1,
            complete: index != 5,
            missing: vec![],
            unreachable: vec![],
            moved: 0,
            parts: vec![],
        });
    }
    (timeline, samples)
}

fn exactly(samples: &[u64], permille: usize) -> u64 {
    let mut pool = samples.to_vec();
    pool.sort_unstable();
    pool[(pool.len() * permille).div_ceil(1000) - 1]
}

fn quantiles(packed: &PackedHistogram) -> [u64; 3] {
    [0.5, 0.95, 0.99].map(|q| packed.quantile_us(q))
}

#[test]
fn the_merger_keeps_an_hour_of_seconds_apart() {
    let mut merger = merger(&[A]);
    merger.accept(A, measured(0, &[7])).unwrap();
    let timeline = merger.finish().timeline;
    assert_eq!(timeline.most, 3600);
    assert_eq!(quantiles(&timeline.points()[0].response), [7; 3]);
}

#[test]
fn up_to_the_bound_each_interval_has_its_point() {
    let (timeline, _) = run(36);
    assert_eq!((timeline.width(), timeline.points().len()), (1, 36));
    assert_eq!(timeline.span_s(&timeline.points()[35]), (35.0, 1.0));
    let incomplete: Vec<u32> =
        timeline.points().iter().filter(|p| !p.complete).map(|p| p.first).collect();
    assert_eq!(incomplete, [5]);
}

#[test]
fn one_more_halves_the_number_of_points() {
    let (timeline, _) = run(37);
    assert_eq!((timeline.width(), timeline.points().len()), (2, 19));
    assert_eq!(timeline.span_s(&timeline.points()[7]), (14.0, 2.0));
    assert_eq!(timeline.span_s(&timeline.points()[18]), (36.0, 1.0));
    assert!(timeline.points()[1].complete && !timeline.points()[2].complete);
}

#[test]
fn a_coarsened_point_has_the_percentiles_of_all_its_samples() {
    for seconds in [37, 72, 73, 100, 145, 1000] {
        let (timeline, samples) = run(seconds);
        assert!(timeline.points().len() <= 36);
        let mut next = 0;
        for point in timeline.points() {
            assert_eq!(point.first, next);
            next += point.intervals;
            let pool = samples[point.first as usize..next as usize].concat();
            let exact = [500, 950, 990].map(|permille| exactly(&pool, permille));
            assert_eq!(quantiles(&point.response), exact, "from {} of {seconds}", point.first);
            assert_eq!(point.counts.transactions, pool.len() as u64);
        }
        assert_eq!(next, seconds);
    }
}

#[test]
fn the_length_of_a_run_does_not_change_the_memory_of_its_timeline() {
    // Points of a longer run have more samples, but these fall into the same buckets.
    let bytes = [72, 288, 2304].map(|seconds| run(seconds).0.heap_bytes());
    assert!(bytes.iter().all(|&bytes| bytes <= 36 * 250), "{bytes:?}");
}
