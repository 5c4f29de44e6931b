//! The page of a run: verdict, figures, charts, tables, in one file that asks for nothing from anywhere.

use std::io::{self, Write};

use askama::Template;
use plotly::Plot;

use super::chart::Chart;
use super::charts;
use super::source::RunFiles;
use crate::report::summary::{LatencyMs, RunStatus, SeveritySummary, Summary};

#[derive(Template)]
#[template(path = "run.html")]
struct Page<'a> {
    summary: &'a Summary,
    style: &'static str,
    script: &'static str,
    charting: &'a str,
    charts: Vec<Drawn>,
}

/// A chart ready for the page.
pub(super) struct Drawn {
    pub(super) id: &'static str,
    pub(super) title: String,
    pub(super) note: String,
    pub(super) json: String,
}

impl From<Chart> for Drawn {
    fn from(chart: Chart) -> Self {
        let (id, title, note) = (chart.id, chart.title.clone(), chart.note.clone());
        Self { id, title, note, json: chart.json() }
    }
}

/// A time by its name, as the summary has it.
struct Time {
    key: &'static str,
    name: &'static str,
    response: f64,
    service: Option<f64>,
}

impl Page<'_> {
    fn verdict(&self) -> &'static str {
        match (&self.summary.verdict.valid, self.summary.verdict.findings.is_empty()) {
            (false, _) => "✗ invalid",
            (true, true) => "✓ valid",
            (true, false) => "! valid, with warnings",
        }
    }

    fn verdict_class(&self) -> &'static str {
        match (&self.summary.verdict.valid, self.summary.verdict.findings.is_empty()) {
            (false, _) => "invalid",
            (true, true) => "valid",
            (true, false) => "warning",
        }
    }

    fn is_partial(&self) -> bool {
        self.summary.status == RunStatus::Partial
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn is_invalid(severity: &SeveritySummary) -> bool {
        *severity == SeveritySummary::Invalid
    }

    /// The rows of the table of times; none if nothing succeeded.
    fn times(&self) -> Vec<Time> {
        type Figure = (&'static str, &'static str, fn(&LatencyMs) -> f64);
        let figures: [Figure; 9] = [
            ("mean", "mean", |ms| ms.mean),
            ("stddev", "standard deviation", |ms| ms.stddev),
            ("min", "least", |ms| ms.min),
            ("p50", "p50", |ms| ms.p50),
            ("p90", "p90", |ms| ms.p90),
            ("p95", "p95", |ms| ms.p95),
            ("p99", "p99", |ms| ms.p99),
            ("p99_9", "p99.9", |ms| ms.p99_9),
            ("max", "greatest", |ms| ms.max),
        ];
        let totals = &self.summary.totals;
        let Some(response) = totals.latency_ms else { return Vec::new() };
        let time = |(key, name, figure): Figure| Time {
            key,
            name,
            response: figure(&response),
            service: totals.service_ms.as_ref().map(figure),
        };
        figures.into_iter().map(time).collect()
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
    fn short(value: &f64) -> String {
        short(*value)
    }

    fn load(&self) -> String {
        let config = &self.summary.config;
        let length = match (config.duration_s, config.transactions_per_client) {
            (Some(seconds), _) => format!("{} s", short(seconds)),
            (None, Some(each)) => format!("{each} transactions each"),
            (None, None) => String::new(),
        };
        let rate = config.rate_tps.map(|rate| format!(", {} tps asked for", short(rate)));
        let (clients, protocol) = (config.clients, &config.protocol);
        format!("{clients} clients, {protocol} protocol, {length}{}", rate.unwrap_or_default())
    }
}

/// A figure with three digits or its whole part, whichever is more.
fn short(value: f64) -> String {
    let whole = value.abs();
    match () {
        () if whole >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        () if whole >= 10.0 => format!("{value:.1}"),
        () if whole >= 1.0 => format!("{value:.2}"),
        () => format!("{value:.3}"),
    }
}

/// Writes the page of a run.
///
/// # Errors
/// The writer fails.
pub fn run_page(out: &mut impl Write, files: &RunFiles) -> io::Result<()> {
    let page = Page {
        summary: &files.summary,
        style: include_str!("page.css"),
        script: include_str!("page.js"),
        charting: &charting_script(),
        charts: charts::of_run(files).into_iter().map(Drawn::from).collect(),
    };
    page.write_into(out)
}

/// The page of a run that goes on; its figures come as events.
#[derive(Template)]
#[template(path = "live.html")]
struct Live {
    style: &'static str,
    more_style: &'static str,
    script: &'static str,
}

/// The page of a run that goes on.
#[must_use]
pub fn live_page() -> String {
    let live = Live {
        style: include_str!("page.css"),
        more_style: include_str!("live.css"),
        script: include_str!("live.js"),
    };
    live.render().expect("the page needs nothing that could fail")
}

/// The charting library. What comes behind it in the crate's text is for formulas, of which we have none.
#[must_use]
pub fn charting_script() -> String {
    let scripts = Plot::offline_js_sources();
    let begin = scripts.find('>').map_or(0, |end| end + 1);
    let end = scripts.find("</script>").unwrap_or(scripts.len());
    scripts[begin..end].to_owned()
}
