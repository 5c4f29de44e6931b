//! The whole cluster over time.

use crate::picture::chart::Chart;
use crate::picture::series::Points;
use crate::picture::source::{IntervalRow, RunFiles};

/// Transactions per second.
pub(super) fn throughput(files: &RunFiles) -> Chart {
    let per_second = |count: fn(&IntervalRow) -> u64| -> Points {
        let rate = |row: &IntervalRow| (row.width_s > 0.0).then(|| count(row) as f64 / row.width_s);
        files.intervals.points(|row| row.t_s, rate)
    };
    let note = match files.intervals.group() {
        1 => String::new(),
        n => format!("Each point stands for {n} intervals."),
    };
    let mut chart = Chart::over_time("throughput", "Throughput", "transactions per second")
        .noted(note)
        .line("successful", &per_second(|row| row.transactions));
    if files.summary.totals.failed > 0 {
        chart = chart.line("failed", &per_second(|row| row.failed));
    }
    if files.summary.totals.skipped > 0 {
        chart = chart.line("skipped", &per_second(|row| row.skipped));
    }
    chart
}

/// A figure and its name.
type Figure = (&'static str, fn(&IntervalRow) -> Option<f64>);

/// Percentiles of the response time.
pub(super) fn latency(files: &RunFiles) -> Chart {
    let percentiles: [Figure; 6] = [
        ("p50", |row| row.p50_ms),
        ("p90", |row| row.p90_ms),
        ("p95", |row| row.p95_ms),
        ("p99", |row| row.p99_ms),
        ("p99.9", |row| row.p99_9_ms),
        ("max", |row| row.max_ms),
    ];
    let note = if files.summary.totals.service_ms.is_some() {
        "From when a transaction was due (-R)."
    } else {
        "From when a transaction began. While the server stalls, a closed loop asks nothing, and no \
         percentile shows it."
    };
    lines(files, Chart::over_time("latency", "Response time", LOG_MS), note, &percentiles)
}

/// Under `-R`: how late transactions began, and what the server then did with them.
pub(super) fn lag(files: &RunFiles) -> Option<Chart> {
    files.summary.totals.lag_ms?;
    let figures: [Figure; 2] =
        [("schedule lag", |row| row.lag_p99_ms), ("service time", |row| row.service_p99_ms)];
    let note =
        "Lag is how late a transaction began. Where it grows, the rate is more than can be done.";
    let chart = Chart::over_time("lag", "Schedule lag and service time, p99", LOG_MS);
    Some(lines(files, chart, note, &figures))
}

/// Title of an axis of times.
pub(super) const LOG_MS: &str = "ms, logarithmic";

fn lines(files: &RunFiles, chart: Chart, note: &str, figures: &[Figure]) -> Chart {
    let chart = chart.log_y().noted(grouped(note, files.intervals.group()));
    figures.iter().fold(chart, |chart, (name, figure)| {
        chart.line(name, &files.intervals.points(|row| row.t_s, figure))
    })
}

/// What is said about percentiles of several intervals.
pub(super) fn grouped(note: &str, group: usize) -> String {
    match group {
        1 => note.to_owned(),
        n => format!("{note} Each point is the greatest of {n} intervals."),
    }
}
