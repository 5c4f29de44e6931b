//! The whole cluster over time.

use crate::picture::chart::Chart;
use crate::picture::record::{IntervalRow, Record};
use crate::picture::series::Points;

/// Transactions per second.
pub(super) fn throughput(record: &Record) -> Chart {
    let per_second = |count: fn(&IntervalRow) -> u64| -> Points {
        let rate = |row: &IntervalRow| (row.width_s > 0.0).then(|| count(row) as f64 / row.width_s);
        record.intervals.points(|row| row.t_s, rate)
    };
    let note = match record.intervals.group() {
        1 => String::new(),
        n => format!("Each point stands for {n} intervals."),
    };
    let mut chart = Chart::over_time("throughput", "Throughput", "transactions per second")
        .noted(note)
        .line("successful", &per_second(|row| row.transactions));
    if record.shows.failed {
        chart = chart.line("failed", &per_second(|row| row.failed));
    }
    if record.shows.skipped {
        chart = chart.line("skipped", &per_second(|row| row.skipped));
    }
    chart
}

/// A figure and its name.
type Figure = (&'static str, fn(&IntervalRow) -> Option<f64>);

/// Percentiles of the response time.
pub(super) fn latency(record: &Record) -> Chart {
    let percentiles: [Figure; 6] = [
        ("p50", |row| row.p50_ms),
        ("p90", |row| row.p90_ms),
        ("p95", |row| row.p95_ms),
        ("p99", |row| row.p99_ms),
        ("p99.9", |row| row.p99_9_ms),
        ("max", |row| row.max_ms),
    ];
    let note = if record.shows.rate_limited {
        "From when a transaction was due (-R)."
    } else {
        "From when a transaction began. While the server stalls, a closed loop asks nothing, and no \
         percentile shows it."
    };
    lines(record, Chart::over_time("latency", "Response time", LOG_MS), note, &percentiles)
}

/// Under `-R`: how late transactions began, and what the server then did with them.
pub(super) fn lag(record: &Record) -> Option<Chart> {
    if !record.shows.rate_limited {
        return None;
    }
    let figures: [Figure; 2] =
        [("schedule lag", |row| row.lag_p99_ms), ("service time", |row| row.service_p99_ms)];
    let note =
        "Lag is how late a transaction began. Where it grows, the rate is more than can be done.";
    let chart = Chart::over_time("lag", "Schedule lag and service time, p99", LOG_MS);
    Some(lines(record, chart, note, &figures))
}

/// Title of an axis of times.
pub(super) const LOG_MS: &str = "ms, logarithmic";

fn lines(record: &Record, chart: Chart, note: &str, figures: &[Figure]) -> Chart {
    let chart = chart.log_y().noted(grouped(note, record.intervals.group()));
    figures.iter().fold(chart, |chart, (name, figure)| {
        chart.line(name, &record.intervals.points(|row| row.t_s, figure))
    })
}

/// What is said about percentiles of several intervals.
pub(super) fn grouped(note: &str, group: usize) -> String {
    match group {
        1 => note.to_owned(),
        n => format!("{note} Each point is the greatest of {n} intervals."),
    }
}
