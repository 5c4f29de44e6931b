//! Conclusions from simulated runs whose truth is known: intervals that depend on each other, runs that differ among
//! themselves, one fixed seed.

use pgsurge_common::inference::{noise, ratio, unsettled};
use pgsurge_common::random::{Generator, uniform};

/// Chosen before the first try.
const SEED: u64 = 20_261_201;
const COMPARISONS: u32 = 1000;
const REPEATS: usize = 6;
const INTERVALS: usize = 60;
/// Of neighbouring intervals.
const CORRELATION: f64 = 0.6;
/// Standard deviation of an interval, and of a run's own level, as shares of the mean.
const WITHIN: f64 = 0.05;
const BETWEEN: f64 = 0.01;

struct Simulation(Generator);

impl Simulation {
    fn new() -> Self {
        Self(Generator::from_seed(SEED))
    }

    /// Near enough to the bell: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        const STEPS: i64 = 1 << 30;
        let sum: f64 = (0..12).map(|_| uniform(&mut self.0, 0, STEPS) as f64 / STEPS as f64).sum();
        sum - 6.0
    }

    /// Throughput of each interval of a run.
    fn run(&mut self, level: f64) -> Vec<f64> {
        let level = level * (1.0 + BETWEEN * self.normal());
        let fresh = (1.0 - CORRELATION * CORRELATION).sqrt();
        let mut state = self.normal();
        let mut next = || {
            state = CORRELATION * state + fresh * self.normal();
            level * (1.0 + WITHIN * state)
        };
        (0..INTERVALS).map(|_| next()).collect()
    }

    /// Throughput of each repeat.
    fn repeats(&mut self, level: f64) -> Vec<f64> {
        let mean = |run: Vec<f64>| run.iter().sum::<f64>() / run.len() as f64;
        (0..REPEATS).map(|_| mean(self.run(level))).collect()
    }

    /// How many of all comparisons call the systems different.
    fn called_different(&mut self, factor: f64) -> u32 {
        (0..COMPARISONS)
            .map(|_| {
                let (first, second) = (self.repeats(1000.0), self.repeats(1000.0 * factor));
                u32::from(ratio(&first, &second).expect("positive").is_significant())
            })
            .sum()
    }
}

#[test]
fn equal_systems_are_seldom_called_different() {
    let called = Simulation::new().called_different(1.0);
    // One of twenty, and two and a half standard deviations of that count.
    assert!(called <= 67, "{called} of {COMPARISONS}");
}

#[test]
fn a_difference_of_five_percent_is_nearly_always_seen() {
    // docs/experiments.md states these.
    let mut simulation = Simulation::new();
    let (five, two) = (simulation.called_different(0.95), simulation.called_different(0.98));
    assert!(five >= 990, "5 %: {five} of {COMPARISONS}");
    assert!((400..500).contains(&two), "2 %: {two} of {COMPARISONS}");
}

/// Intervals of a run of level 1, without what runs differ by among each other, which one run cannot know.
fn steady(simulation: &mut Simulation, intervals: usize) -> Vec<f64> {
    let fresh = (1.0 - CORRELATION * CORRELATION).sqrt();
    let mut state = simulation.normal();
    let mut next = || {
        state = CORRELATION * state + fresh * simulation.normal();
        1.0 + WITHIN * state
    };
    (0..intervals).map(|_| next()).collect()
}

#[test]
fn the_noise_of_a_run_holds_the_truth_although_its_intervals_depend_on_each_other() {
    // docs/experiments.md states these.
    for (intervals, most) in [(30, 100), (60, 80), (120, 67)] {
        let mut simulation = Simulation::new();
        let missed = (0..COMPARISONS).filter(|_| {
            let run = steady(&mut simulation, intervals);
            let mean = run.iter().sum::<f64>() / run.len() as f64;
            (mean - 1.0).abs() > noise(&run).expect("enough intervals") * mean
        });
        let missed = missed.count();
        assert!(missed <= most, "{intervals} intervals: {missed} of {COMPARISONS} missed");
    }
}

#[test]
fn a_steady_run_is_seldom_said_to_be_unsettled_and_a_slow_start_is_nearly_always() {
    let mut simulation = Simulation::new();
    let (mut alarms, mut seen) = (0, 0);
    for _ in 0..COMPARISONS {
        let mut run = steady(&mut simulation, 120);
        alarms += u32::from(unsettled(&run) > 0);
        for (second, tps) in run.iter_mut().take(20).enumerate() {
            *tps *= 0.5 + second as f64 / 40.0;
        }
        seen += u32::from(unsettled(&run) > 0);
    }
    assert!(alarms <= 50, "{alarms} of {COMPARISONS}");
    assert!(seen >= 950, "{seen} of {COMPARISONS}");
}
