//! The charts of a run, one file a question: each says whether there is anything to show.

mod connecting;
mod distribution;
mod marks;
mod over_time;
mod parts;
mod server;

use super::chart::Chart;
use super::record::Record;
use super::source::RunFiles;

/// The charts of a run, in the order of the page.
pub(super) fn of_run(files: &RunFiles) -> Vec<Chart> {
    let marks = marks::of(&files.summary);
    let charts = over_time(&files.record).into_iter().chain(server::of(&files.server));
    let mut charts: Vec<Chart> = charts.map(|chart| chart.marked(&marks)).collect();
    charts.extend(connecting::ramp(&files.summary));
    charts.extend(distribution::percentiles(files));
    charts.extend(distribution::density(files));
    charts
}

/// Those over time; none if there is nothing to show.
pub(super) fn over_time(record: &Record) -> Vec<Chart> {
    if record.intervals.rows().is_empty() {
        return Vec::new();
    }
    let mut charts = vec![over_time::throughput(record), over_time::latency(record)];
    charts.extend(over_time::lag(record));
    charts.extend(parts::agents(record));
    charts.extend(parts::scripts(record));
    charts
}
