//! One run of a point, as the journal keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::Ended;
use crate::report::summary::{LatencyMs, RunStatus, SeveritySummary, Summary};

/// A run, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Values of the axes, in order.
    pub point: Vec<String>,
    /// Which repeat, from 0.
    pub repeat: usize,
    /// Its results, by the name of their folder; null if no run came about.
    pub folder: Option<String>,
    /// Its figures can be used.
    pub valid: bool,
    /// Why not.
    pub because: Option<String>,
    /// Throughput.
    pub tps: Option<f64>,
    /// Response time.
    pub latency_ms: Option<LatencyMs>,
    /// What was run; the same for all repeats of a point.
    pub workload_digest: Option<String>,
    /// The run did not start though everything was as it was to be, as with too many clients; not kept.
    #[serde(skip)]
    pub not_started: bool,
}

impl Measured {
    /// Of a run.
    #[must_use]
    pub fn of(point: &[String], repeat: usize, run: &Ended) -> Self {
        let because = unusable(&run.summary);
        let folder = run.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            point: point.to_vec(),
            repeat,
            folder: Some(folder),
            valid: because.is_none(),
            because,
            tps: Some(run.summary.totals.tps),
            latency_ms: run.summary.totals.latency_ms,
            workload_digest: Some(run.summary.workload_digest.clone()),
            not_started: false,
        }
    }

    /// Of a run that did not come about.
    #[must_use]
    pub fn not(point: &[String], repeat: usize, because: String) -> Self {
        Self {
            point: point.to_vec(),
            repeat,
            folder: None,
            valid: false,
            because: Some(because),
            tps: None,
            latency_ms: None,
            workload_digest: None,
            not_started: false,
        }
    }
}

/// Why a run's figures cannot be used.
#[must_use]
pub fn unusable(summary: &Summary) -> Option<String> {
    let invalid =
        |f: &&crate::report::summary::FindingSummary| f.severity == SeveritySummary::Invalid;
    if let Some(finding) = summary.verdict.findings.iter().find(invalid) {
        return Some(format!("invalid: {}", finding.message));
    }
    if summary.totals.aborted_clients > 0 {
        return Some(format!("{} clients aborted", summary.totals.aborted_clients));
    }
    if summary.status == RunStatus::Partial {
        return Some("partial".to_owned());
    }
    (summary.totals.transactions == 0).then(|| "nothing succeeded".to_owned())
}
