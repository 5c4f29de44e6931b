//! A comparison as a page: one chart a metric, sets from left to right.

use super::judge::{Comparison, Figure, SetFigures, Word};
use super::table::sentence;
use crate::picture::{Curve, Curves, Sheet};

/// Names of charts within the page: more metrics than these there are not.
const IDS: [&str; 8] = [
    "metric-0", "metric-1", "metric-2", "metric-3", "metric-4", "metric-5", "metric-6", "metric-7",
];

/// Draws it.
#[must_use]
pub fn page(comparison: &Comparison) -> Sheet {
    let sets = &comparison.sets;
    let metrics = sets.first().map_or(0, |set| set.figures.len());
    let mut heading = vec!["set".to_owned(), "runs".to_owned(), "left out".to_owned()];
    let names = sets.first().into_iter().flat_map(|set| &set.figures);
    heading.extend(names.map(|figure| unit(figure.metric)));
    heading.push("warnings".to_owned());
    let found: Vec<String> = comparison.differences.iter().map(sentence).collect();
    Sheet {
        title: "Comparison".to_owned(),
        found: found.join("; "),
        good: comparison.differences.iter().all(|found| found.word != Word::TooFewRuns),
        curves: IDS
            .into_iter()
            .take(metrics)
            .enumerate()
            .map(|(n, id)| chart(sets, n, id))
            .collect(),
        heading,
        rows: sets.iter().map(row).collect(),
    }
}

fn unit(metric: &str) -> String {
    if metric == "tps" { metric.to_owned() } else { format!("{metric} ms") }
}

fn chart(sets: &[SetFigures], metric: usize, id: &'static str) -> Curves {
    let figure = |set: &'_ SetFigures| set.figures.get(metric).cloned();
    let figures: Vec<Option<Figure>> = sets.iter().map(figure).collect();
    let name = figures.first().and_then(Option::as_ref).map_or("", |figure| figure.metric);
    let medians = figures.iter().enumerate();
    let points = medians.map(|(n, f)| (n as f64, f.as_ref().and_then(|f| f.median))).collect();
    let bars = figures.iter().map(|f| f.as_ref().and_then(|f| f.interval)).collect();
    Curves {
        id,
        title: unit(name),
        note: "Medians of the sets' runs, with intervals of 95 % confidence from 6 runs on."
            .to_owned(),
        axes: ["set", if name == "tps" { "transactions per second" } else { "ms" }]
            .map(str::to_owned),
        places: sets.iter().map(|set| set.name.clone()).collect(),
        lines: vec![Curve { name: unit(name), points, bars }],
        ..Curves::default()
    }
}

fn row(set: &SetFigures) -> Vec<String> {
    let mut cells = vec![set.name.clone(), set.runs.to_string(), set.left_out.join("; ")];
    cells.extend(set.figures.iter().map(|figure| match (figure.median, figure.interval) {
        (Some(median), Some((low, high))) => format!("{median:.3} ({low:.3} to {high:.3})"),
        (Some(median), None) => format!("{median:.3}"),
        (None, _) => String::new(),
    }));
    let warnings = set.warnings.iter().map(|(code, runs)| format!("{code} in {runs}"));
    cells.push(warnings.collect::<Vec<_>>().join(", "));
    cells
}
