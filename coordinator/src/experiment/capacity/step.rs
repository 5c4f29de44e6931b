//! One run of a search, and whether its rate holds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Ended;
use crate::report::summary::{LatencyMs, Summary};

/// A run at a rate.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Transactions per second asked for.
    pub rate_tps: f64,
    /// Done.
    pub achieved_tps: f64,
    /// Response time; null if nothing succeeded.
    pub latency_ms: Option<LatencyMs>,
    /// The objective holds, and the rate was kept.
    pub holds: bool,
    /// Why not.
    pub because: Option<String>,
    /// A load host was at its limit, so it may be the reason rather than the server.
    pub client_bound: bool,
    /// Its results, by the name of their folder.
    pub folder: String,
}

impl Step {
    /// Judges a run.
    #[must_use]
    pub fn of(rate_tps: f64, run: &Ended) -> Self {
        let summary = &run.summary;
        let because = why_not(summary);
        let folder = run.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            rate_tps,
            achieved_tps: summary.totals.tps,
            latency_ms: summary.totals.latency_ms,
            holds: because.is_none(),
            because,
            client_bound: has(summary, "client-bound"),
            folder,
        }
    }
}

/// The first reason for which a rate does not hold.
fn why_not(summary: &Summary) -> Option<String> {
    let of = |code: &str| summary.verdict.findings.iter().find(|finding| finding.code == code);
    let invalid = summary.verdict.findings.iter().find(|finding| is_invalid(finding));
    let missed = summary.expectations.iter().find(|expectation| expectation.failed);
    if let Some(invalid) = invalid {
        return Some(format!("its figures are invalid: {}", invalid.message));
    }
    if summary.exit_code == 2 {
        return Some(format!("{} clients aborted", summary.totals.aborted_clients));
    }
    if let Some(missed) = missed {
        return Some(format!("{} ({})", missed.fail_if, shown(missed.value)));
    }
    of("schedule-lag").map(|lag| lag.message.clone())
}

fn is_invalid(finding: &crate::report::summary::FindingSummary) -> bool {
    finding.severity == crate::report::summary::SeveritySummary::Invalid
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "not measured".to_owned(), |value| format!("it was {value:.3}"))
}

fn has(summary: &Summary, code: &str) -> bool {
    summary.verdict.findings.iter().any(|finding| finding.code == code)
}
