//! What the comparison comes to: medians with their intervals, ratios with theirs, a word for each.

use std::collections::BTreeMap;

use pgsurge_common::inference::{Median, Ratio, median, noise, ratio, unsettled};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Metric, SCHEMA, Set};
use crate::report::summary::Summary;

/// The whole of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "A comparison of sets of pgsurge runs")]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// One entry a set; the first is the baseline.
    pub sets: Vec<SetFigures>,
    /// One entry for each further set and metric.
    pub differences: Vec<Difference>,
}

/// A set's figures.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SetFigures {
    /// As the user named it.
    pub name: String,
    /// Runs that are in the figures.
    pub runs: usize,
    /// Those that are not, with the reason.
    pub left_out: Vec<String>,
    /// Warnings of their verdicts: how many runs have each.
    pub warnings: BTreeMap<String, usize>,
    /// How long their beginnings are not like the rest, at most, in seconds: the server was still warming up. Null if none
    /// is.
    pub unsettled_s: Option<f64>,
    /// One entry a metric.
    pub figures: Vec<Figure>,
    /// Greatest half-width of the 95 % interval of a run's own mean throughput, as a share; null for short runs.
    pub noise_within_runs: Option<f64>,
    /// Failed transactions of all runs, as a share of all.
    pub failed_share: f64,
}

/// One figure of a set.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Figure {
    /// Which.
    pub metric: &'static str,
    /// The median over its runs; null if no run has it.
    pub median: Option<f64>,
    /// Where the true one lies, with 95 % confidence; null for fewer than 6 runs.
    pub interval: Option<(f64, f64)>,
}

/// A set against the baseline.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Difference {
    /// The set.
    pub set: String,
    /// Compared by this.
    pub metric: &'static str,
    /// In percent of the baseline; null where a set has no figure.
    pub percent: Option<f64>,
    /// With 95 % confidence; null for too few runs.
    pub interval: Option<(f64, f64)>,
    /// What it comes to.
    pub word: Word,
}

/// What a difference comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// Significantly.
    Better,
    /// Significantly.
    Worse,
    /// The interval holds none.
    NoDifferenceShown,
    /// There are too few runs to tell.
    TooFewRuns,
}

/// Compares each further set with the first.
#[must_use]
pub fn compare(sets: &[Set], metrics: &[Metric]) -> Comparison {
    let mut differences = Vec::new();
    if let Some((baseline, others)) = sets.split_first() {
        for set in others {
            differences.extend(metrics.iter().map(|metric| difference(baseline, set, *metric)));
        }
    }
    let sets = sets.iter().map(|set| figures(set, metrics)).collect();
    Comparison { schema: SCHEMA, sets, differences }
}

fn values(set: &Set, metric: Metric) -> Vec<f64> {
    set.runs.iter().filter_map(|run| metric.of(run)).collect()
}

fn figures(set: &Set, metrics: &[Metric]) -> SetFigures {
    let figure = |metric: &Metric| {
        let found = median(&values(set, *metric));
        Figure {
            metric: metric.name(),
            median: found.map(|found| found.value),
            interval: found.and_then(|Median { interval, .. }| interval),
        }
    };
    let sum = |count: fn(&Summary) -> u64| set.runs.iter().map(count).sum::<u64>() as f64;
    let (failed, done) = (sum(|run| run.totals.failed), sum(|run| run.totals.transactions));
    SetFigures {
        name: set.name.clone(),
        runs: set.runs.len(),
        left_out: set.left_out.clone(),
        warnings: warnings(&set.runs),
        unsettled_s: set.runs.iter().filter_map(beginning_s).reduce(f64::max),
        figures: metrics.iter().map(figure).collect(),
        noise_within_runs: set.runs.iter().filter_map(within).reduce(f64::max),
        failed_share: if failed > 0.0 { failed / (failed + done) } else { 0.0 },
    }
}

fn warnings(runs: &[Summary]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for finding in runs.iter().flat_map(|run| &run.verdict.findings) {
        *counts.entry(finding.code.clone()).or_default() += 1;
    }
    counts
}

/// Throughput of the whole intervals; the last one is partial.
fn whole(run: &Summary) -> Vec<f64> {
    let whole = run.intervals.split_last().map_or(&[][..], |(_, whole)| whole);
    whole.iter().map(|interval| interval.tps).collect()
}

/// Of the throughput of a run, once it has settled.
fn within(run: &Summary) -> Option<f64> {
    let tps = whole(run);
    noise(&tps[unsettled(&tps)..])
}

/// How long a run took to settle, if it had to.
fn beginning_s(run: &Summary) -> Option<f64> {
    let tps = whole(run);
    let intervals = unsettled(&tps);
    (intervals > 0).then(|| run.intervals[intervals].t_s)
}

fn difference(baseline: &Set, set: &Set, metric: Metric) -> Difference {
    let found = ratio(&values(baseline, metric), &values(set, metric));
    let percent = |factor: f64| 100.0 * (factor - 1.0);
    Difference {
        set: set.name.clone(),
        metric: metric.name(),
        percent: found.map(|found| percent(found.value)),
        interval: found.and_then(|f| f.interval).map(|(low, high)| (percent(low), percent(high))),
        word: found.map_or(Word::TooFewRuns, |found| Word::of(&found, metric.more_is_better())),
    }
}

impl Word {
    /// Of a ratio to the baseline.
    #[must_use]
    pub fn of(found: &Ratio, more_is_better: bool) -> Self {
        match found.interval {
            None => Self::TooFewRuns,
            Some(_) if !found.is_significant() => Self::NoDifferenceShown,
            Some(_) if (found.value > 1.0) == more_is_better => Self::Better,
            Some(_) => Self::Worse,
        }
    }
}

impl Difference {
    /// It is significantly worse, by so many percent or more.
    #[must_use]
    pub fn is_regression(&self, percent: f64) -> bool {
        self.word == Word::Worse && self.percent.is_some_and(|seen| seen.abs() >= percent)
    }
}

impl Comparison {
    /// The document's schema, as committed.
    #[must_use]
    pub fn schema() -> String {
        crate::report::summary::schema_of::<Self>()
    }
}
