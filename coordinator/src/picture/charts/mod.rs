//! The charts of a run, one file a question: each says whether there is anything to show.

mod distribution;
mod marks;
mod over_time;
mod parts;

use super::chart::Chart;
use super::source::RunFiles;

/// The charts of a run, in the order of the page.
pub(super) fn of_run(files: &RunFiles) -> Vec<Chart> {
    let mut charts = Vec::new();
    if !files.intervals.rows().is_empty() {
        charts.push(over_time::throughput(files));
        charts.push(over_time::latency(files));
        charts.extend(over_time::lag(files));
        charts.extend(parts::agents(files));
        charts.extend(parts::scripts(files));
    }
    let marks = marks::of(&files.summary);
    let mut charts: Vec<Chart> = charts.into_iter().map(|chart| chart.marked(&marks)).collect();
    charts.extend(distribution::percentiles(files));
    charts.extend(distribution::density(files));
    charts
}
