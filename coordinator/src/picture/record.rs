//! A run over time, as charts show it: thinned out, and the same whether it was read from files or is still
//! going on.

use pgsurge_common::stats::{Histogram, Interval};
use serde::Deserialize;

use super::series::{Join, Thinned, greater};
use crate::report::summary::TotalsSummary;

/// More points make a page slow and show nothing more: a screen is not wider.
const POINTS_MOST: usize = 3600;
/// The same of each agent and script.
const PART_POINTS_MOST: usize = 600;

/// The measured part over time.
#[derive(Debug)]
pub(crate) struct Record {
    /// The cluster.
    pub(crate) intervals: Thinned<IntervalRow>,
    /// Each agent's part.
    pub(crate) agents: Vec<Part>,
    /// Each script, where there are several.
    pub(crate) scripts: Vec<Part>,
    /// What there is to see.
    pub(crate) shows: Shows,
}

/// What of a run is worth a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shows {
    /// Transactions failed, or may yet.
    pub(crate) failed: bool,
    /// Transactions were skipped, or may yet be.
    pub(crate) skipped: bool,
    /// Under `-R` times begin when a transaction is due.
    pub(crate) rate_limited: bool,
}

impl Shows {
    /// What there was in a whole run.
    pub(crate) fn of(totals: &TotalsSummary) -> Self {
        Self {
            failed: totals.failed > 0,
            skipped: totals.skipped > 0,
            rate_limited: totals.service_ms.is_some(),
        }
    }
}

/// One agent or script.
#[derive(Debug)]
pub(crate) struct Part {
    /// Its name.
    pub(crate) name: String,
    /// Its share of each interval.
    pub(crate) rows: Thinned<PartRow>,
}

impl Part {
    /// Without any yet.
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), rows: Thinned::new(PART_POINTS_MOST) }
    }

    /// Its successful transactions.
    pub(crate) fn transactions(&self) -> u64 {
        self.rows.rows().iter().map(|row| row.transactions).sum()
    }
}

impl Record {
    /// Leaves out an end that is shorter than half an interval: what little is drained in it would look like a fall.
    pub(crate) fn leave_out_tail(&mut self, interval_s: f64) {
        let is_tail = |width_s: f64| width_s < interval_s / 2.0;
        self.intervals.pop_if(|row| is_tail(row.width_s));
        for part in self.agents.iter_mut().chain(&mut self.scripts) {
            part.rows.pop_if(|row| is_tail(row.width_s));
        }
    }

    /// Nothing yet.
    pub(crate) fn new(shows: Shows) -> Self {
        Self {
            intervals: Thinned::new(POINTS_MOST),
            agents: Vec::new(),
            scripts: Vec::new(),
            shows,
        }
    }
}

/// A row of `intervals.csv`, as far as pages show it. The columns are documented in `docs/measurement.md`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct IntervalRow {
    pub(crate) phase: String,
    pub(crate) t_s: f64,
    pub(crate) width_s: f64,
    pub(crate) transactions: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p90_ms: Option<f64>,
    pub(crate) p95_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    pub(crate) p99_9_ms: Option<f64>,
    pub(crate) max_ms: Option<f64>,
    pub(crate) service_p99_ms: Option<f64>,
    pub(crate) lag_p99_ms: Option<f64>,
}

impl Join for IntervalRow {
    fn join(&mut self, next: &Self) {
        self.width_s += next.width_s;
        self.transactions += next.transactions;
        self.failed += next.failed;
        self.skipped += next.skipped;
        greater(&mut self.p50_ms, next.p50_ms);
        greater(&mut self.p90_ms, next.p90_ms);
        greater(&mut self.p95_ms, next.p95_ms);
        greater(&mut self.p99_ms, next.p99_ms);
        greater(&mut self.p99_9_ms, next.p99_9_ms);
        greater(&mut self.max_ms, next.max_ms);
        greater(&mut self.service_p99_ms, next.service_p99_ms);
        greater(&mut self.lag_p99_ms, next.lag_p99_ms);
    }
}

/// A row of `agents.csv` or `scripts.csv`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(crate) struct PartRow {
    pub(crate) phase: String,
    pub(crate) t_s: f64,
    #[serde(alias = "agent", alias = "script")]
    pub(crate) part: usize,
    pub(crate) transactions: u64,
    pub(crate) p99_ms: Option<f64>,
    /// Only of agents.
    #[serde(default)]
    pub(crate) cpu_fraction: Option<f64>,
    /// Its length, from the summary.
    #[serde(skip)]
    pub(crate) width_s: f64,
}

impl Join for PartRow {
    fn join(&mut self, next: &Self) {
        self.width_s += next.width_s;
        self.transactions += next.transactions;
        greater(&mut self.p99_ms, next.p99_ms);
        greater(&mut self.cpu_fraction, next.cpu_fraction);
    }
}

impl IntervalRow {
    /// The row of an interval that is `width_s` long.
    pub(crate) fn of(interval: &Interval, width_s: f64) -> Self {
        let ms = |h: Option<&Histogram>, q| {
            h.filter(|h| !h.is_empty()).map(|h| h.quantile_us(q) as f64 / 1000.0)
        };
        let response = Some(&interval.response);
        Self {
            phase: String::new(),
            t_s: width_s * f64::from(interval.index),
            width_s,
            transactions: interval.counts.transactions,
            failed: interval.counts.failed(),
            skipped: interval.counts.skipped,
            p50_ms: ms(response, 0.50),
            p90_ms: ms(response, 0.90),
            p95_ms: ms(response, 0.95),
            p99_ms: ms(response, 0.99),
            p99_9_ms: ms(response, 0.999),
            max_ms: ms(response, 1.0),
            service_p99_ms: ms(interval.service.as_ref(), 0.99),
            lag_p99_ms: ms(interval.lag.as_ref(), 0.99),
        }
    }
}
