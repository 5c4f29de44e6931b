//! What a sweep comes to: each point's median with its interval, and its gain over the baseline.

use pgsurge_common::inference::{median, ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measured::Measured;
use super::plan::Plan;
use crate::experiment::compare::Word;
use crate::report::summary::LatencyMs;

/// Name and version of the form of `sweep.json`.
pub const SCHEMA: &str = "pgsurge.sweep/1";

/// The whole of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The answer of pgsurge sweep")]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: String,
    /// Names of what was varied, in order.
    pub axes: Vec<String>,
    /// Runs of each point that were asked for.
    pub repeats: usize,
    /// All of them were made.
    pub complete: bool,
    /// The points in order.
    pub points: Vec<Point>,
}

/// One point.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Values of the axes, in order.
    pub values: Vec<String>,
    /// Values of the point that it is measured against: the first ones, of the same workload, scale and rate.
    pub baseline: Vec<String>,
    /// Runs whose figures are in the medians.
    pub runs: usize,
    /// Why others are not.
    pub left_out: Vec<String>,
    /// Transactions per second.
    pub tps: Option<Estimate>,
    /// Response time in milliseconds.
    pub p50_ms: Option<Estimate>,
    /// The same, 95th percentile.
    pub p95_ms: Option<Estimate>,
    /// The same, 99th percentile.
    pub p99_ms: Option<Estimate>,
    /// Throughput against the baseline's; null for the baseline itself.
    pub gain: Option<Gain>,
    /// Folders of the results.
    pub folders: Vec<String>,
}

/// A median over repeats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Of them.
    pub median: f64,
    /// Where the true one lies, with 95 % confidence; null for fewer than 6 repeats.
    pub interval: Option<(f64, f64)>,
}

/// A difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gain {
    /// In percent of the baseline.
    pub percent: f64,
    /// With 95 % confidence; null for fewer than 4 repeats each.
    pub interval: Option<(f64, f64)>,
    /// What it comes to.
    pub word: Word,
}

impl Answer {
    /// From all runs so far.
    #[must_use]
    pub fn of(plan: &Plan, runs: &[Measured]) -> Self {
        let points: Vec<Point> =
            plan.points().into_iter().map(|values| point(plan, values, runs)).collect();
        Self {
            schema: SCHEMA.to_owned(),
            axes: plan.axes.iter().map(|axis| axis.knob.name().to_owned()).collect(),
            repeats: plan.repeats,
            complete: runs.len() >= plan.turns().len(),
            points,
        }
    }

    /// Every point has a run whose figures can be used.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.complete && self.points.iter().all(|point| point.runs > 0)
    }

    /// The document's schema, as committed.
    #[must_use]
    pub fn schema() -> String {
        crate::report::summary::schema_of::<Self>()
    }
}

fn point(plan: &Plan, values: Vec<String>, runs: &[Measured]) -> Point {
    let of =
        |values: &[String]| runs.iter().filter(move |run| run.point == values).collect::<Vec<_>>();
    let baseline = plan.baseline(&values);
    let (own, first) = (of(&values), of(&baseline));
    let left_out = own.iter().filter_map(|run| run.because.clone());
    let ms = |figure: fn(&LatencyMs) -> f64| {
        estimate(&figures(&own, |run| run.latency_ms.as_ref().map(figure)))
    };
    Point {
        runs: own.iter().filter(|run| run.valid).count(),
        left_out: left_out.collect(),
        tps: estimate(&figures(&own, |run| run.tps)),
        p50_ms: ms(|ms| ms.p50),
        p95_ms: ms(|ms| ms.p95),
        p99_ms: ms(|ms| ms.p99),
        gain: if baseline == values { None } else { gain(&first, &own) },
        folders: own.iter().filter_map(|run| run.folder.clone()).collect(),
        values,
        baseline,
    }
}

fn figures(runs: &[&Measured], figure: impl Fn(&Measured) -> Option<f64>) -> Vec<f64> {
    runs.iter().filter(|run| run.valid).filter_map(|run| figure(run)).collect()
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    median(values).map(|found| Estimate { median: found.value, interval: found.interval })
}

fn gain(baseline: &[&Measured], runs: &[&Measured]) -> Option<Gain> {
    let tps = |runs: &[&Measured]| figures(runs, |run| run.tps);
    let found = ratio(&tps(baseline), &tps(runs))?;
    let percent = |factor: f64| 100.0 * (factor - 1.0);
    Some(Gain {
        percent: percent(found.value),
        interval: found.interval.map(|(low, high)| (percent(low), percent(high))),
        word: Word::of(&found, true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::stage::{Axis, Knob};
    use crate::experiment::sweep::Order;

    fn plan() -> Plan {
        let values = ["1", "2"].map(str::to_owned).to_vec();
        let axes = vec![Axis { knob: Knob::Clients, values }];
        Plan { axes, repeats: 4, order: Order::Interleaved }
    }

    fn run(clients: &str, repeat: usize, tps: f64) -> Measured {
        let mut run = Measured::not(&[clients.to_owned()], repeat, String::new());
        (run.valid, run.because, run.tps) = (true, None, Some(tps));
        run
    }

    #[test]
    fn a_gain_is_over_the_first_point_and_invalid_runs_are_in_no_figure() {
        let mut runs: Vec<Measured> = (0..4)
            .flat_map(|n| [run("1", n, 100.0 + n as f64), run("2", n, 150.0 + n as f64)])
            .collect();
        let answer = Answer::of(&plan(), &runs);
        assert!(answer.complete && answer.is_whole());
        assert_eq!(answer.points[0].gain, None);
        let gain = answer.points[1].gain.expect("measured");
        assert!((49.0..51.0).contains(&gain.percent) && gain.word == Word::Better, "{gain:?}");

        runs[7].valid = false;
        runs[7].tps = Some(1e9);
        runs[7].because = Some("invalid".into());
        let answer = Answer::of(&plan(), &runs);
        assert_eq!(
            (answer.points[1].runs, &answer.points[1].left_out[..]),
            (3, &["invalid".to_owned()][..])
        );
        assert_eq!(answer.points[1].tps.expect("three").median.to_bits(), 151f64.to_bits());
        assert_eq!(answer.points[1].gain.expect("measured").word, Word::TooFewRuns);
        assert!(!Answer::of(&plan(), &runs[..7]).complete);
    }
}
