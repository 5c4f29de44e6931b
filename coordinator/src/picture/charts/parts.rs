//! The same by agent and by script, where there are several.

use std::cmp::Reverse;

use super::over_time::{LOG_MS, grouped};
use crate::picture::chart::Chart;
use crate::picture::record::{Part, PartRow, Record};

/// So many lines can be told apart; of more parts the busiest are shown.
const LINES_MOST: usize = 12;

/// Throughput, response time and CPU of each agent.
pub(super) fn agents(record: &Record) -> Vec<Chart> {
    let parts = Parts::busiest(&record.agents);
    let mut charts = Vec::new();
    if parts.all > 1 {
        let chart = Chart::over_time("agents-throughput", "Throughput by agent", PER_SECOND);
        charts.push(parts.lines(chart.noted(parts.which()), rate));
        let chart = Chart::over_time("agents-latency", "Response time by agent, p99", LOG_MS);
        let note = "An agent far from the others has a slow host or a slow way to the server.";
        let chart = chart.log_y().noted(grouped(note, parts.group()));
        charts.push(parts.lines(chart, |row| row.p99_ms));
    }
    if !parts.lines.is_empty() {
        let chart = Chart::over_time("agents-cpu", "CPU of the busiest worker", "share of a core");
        let chart = chart.noted("Near 1 the load host is the limit, not the server.");
        charts.push(parts.lines(chart, |row| row.cpu_fraction));
    }
    charts
}

/// Throughput and response time of each script, where there are several.
pub(super) fn scripts(record: &Record) -> Vec<Chart> {
    let parts = Parts::busiest(&record.scripts);
    if parts.lines.is_empty() {
        return Vec::new();
    }
    let throughput = Chart::over_time("scripts-throughput", "Throughput by script", PER_SECOND);
    let latency = Chart::over_time("scripts-latency", "Response time by script, p99", LOG_MS);
    vec![
        parts.lines(throughput.noted(parts.which()), rate),
        parts.lines(latency.log_y().noted(grouped("", parts.group())), |row| row.p99_ms),
    ]
}

const PER_SECOND: &str = "transactions per second";

fn rate(row: &PartRow) -> Option<f64> {
    (row.width_s > 0.0).then(|| row.transactions as f64 / row.width_s)
}

/// The parts that are shown.
struct Parts<'a> {
    lines: Vec<&'a Part>,
    all: usize,
}

impl<'a> Parts<'a> {
    /// Those with the most transactions, in their own order.
    fn busiest(parts: &'a [Part]) -> Self {
        let mut lines: Vec<(usize, &Part)> = parts.iter().enumerate().collect();
        lines.sort_by_key(|&(place, part)| (Reverse(part.transactions()), place));
        lines.truncate(LINES_MOST);
        lines.sort_by_key(|&(place, _)| place);
        Self { lines: lines.into_iter().map(|(_, part)| part).collect(), all: parts.len() }
    }

    fn which(&self) -> String {
        let shown = self.lines.len();
        if shown < self.all {
            format!("The {shown} busiest of {}.", self.all)
        } else {
            String::new()
        }
    }

    fn group(&self) -> usize {
        self.lines.iter().map(|part| part.rows.group()).max().unwrap_or(1)
    }

    fn lines(&self, chart: Chart, figure: fn(&PartRow) -> Option<f64>) -> Chart {
        self.lines.iter().fold(chart, |chart, part| {
            chart.line(&part.name, &part.rows.points(|row| row.t_s, figure))
        })
    }
}
