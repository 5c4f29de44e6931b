//! What a page of a run is made of: the files of its results folder.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::series::{Join, Thinned, greater};
use crate::report::summary::{SCHEMA, Summary};

/// The phase that pages are about.
const MEASURED: &str = "measure";

/// More points make a page slow and show nothing more: a screen is not wider.
const POINTS_MOST: usize = 3600;
/// The same of each agent and script.
const PART_POINTS_MOST: usize = 600;

/// The files of a run's results folder, thinned out to what a page can show.
#[derive(Debug)]
pub struct RunFiles {
    /// `summary.json`.
    pub(super) summary: Summary,
    /// `intervals.csv`, the measured part; empty where there is no such file.
    pub(super) intervals: Thinned<IntervalRow>,
    /// `agents.csv`, the measured part, by the agents' places in the summary.
    pub(super) agents: Vec<Thinned<PartRow>>,
    /// `scripts.csv`, the same.
    pub(super) scripts: Vec<Thinned<PartRow>>,
    /// Response time of the measured part, from `latency.hlog`, in microseconds.
    pub(super) response: Option<Histogram<u64>>,
    /// Service time; only under `-R`.
    pub(super) service: Option<Histogram<u64>>,
}

/// A row of `intervals.csv`, as far as pages show it. The columns are documented in `docs/measurement.md`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct IntervalRow {
    phase: String,
    pub(super) t_s: f64,
    pub(super) width_s: f64,
    pub(super) transactions: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) p50_ms: Option<f64>,
    pub(super) p90_ms: Option<f64>,
    pub(super) p95_ms: Option<f64>,
    pub(super) p99_ms: Option<f64>,
    pub(super) p99_9_ms: Option<f64>,
    pub(super) max_ms: Option<f64>,
    pub(super) service_p99_ms: Option<f64>,
    pub(super) lag_p99_ms: Option<f64>,
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
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct PartRow {
    phase: String,
    pub(super) t_s: f64,
    #[serde(alias = "agent", alias = "script")]
    part: usize,
    pub(super) transactions: u64,
    pub(super) p99_ms: Option<f64>,
    /// Only of agents.
    #[serde(default)]
    pub(super) cpu_fraction: Option<f64>,
    /// Its length, from the summary.
    #[serde(skip)]
    pub(super) width_s: f64,
}

impl Join for PartRow {
    fn join(&mut self, next: &Self) {
        self.width_s += next.width_s;
        self.transactions += next.transactions;
        greater(&mut self.p99_ms, next.p99_ms);
        greater(&mut self.cpu_fraction, next.cpu_fraction);
    }
}

/// Why a folder is not one of results.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It has no summary, or it cannot be read.
    #[error("{} holds no results: cannot read {}", folder.display(), path.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// It is not what pgsurge writes.
    #[error("{}: {what}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A later version wrote it.
    #[error("{} is of schema {found}, this version reads {SCHEMA}", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
        /// Its schema.
        found: String,
    },
}

impl RunFiles {
    /// Reads a results folder, complete or partial.
    ///
    /// # Errors
    /// There is no summary in it, or a file is not what pgsurge writes.
    pub fn read(folder: &Path) -> Result<Self, SourceError> {
        let summary = read_summary(folder)?;
        let mut intervals = Thinned::new(POINTS_MOST);
        each_row(&folder.join("intervals.csv"), |row: IntervalRow| {
            if row.phase == MEASURED {
                intervals.push(row);
            }
        })?;
        let agents = parts(&folder.join("agents.csv"), &summary, summary.agents.len())?;
        let scripts = parts(&folder.join("scripts.csv"), &summary, summary.scripts.len())?;
        let [response, service] = histograms(&folder.join("latency.hlog"))?;
        Ok(Self { summary, intervals, agents, scripts, response, service })
    }
}

fn read_summary(folder: &Path) -> Result<Summary, SourceError> {
    let path = folder.join("summary.json");
    let text = std::fs::read(&path).map_err(|error| SourceError::Unreadable {
        folder: folder.to_owned(),
        path: path.clone(),
        error,
    })?;
    let malformed = |error: serde_json::Error| SourceError::Malformed {
        path: path.clone(),
        what: error.to_string(),
    };
    let document: serde_json::Value = serde_json::from_slice(&text).map_err(malformed)?;
    match document.get("schema").and_then(serde_json::Value::as_str) {
        Some(SCHEMA) => serde_json::from_value(document).map_err(malformed),
        found => Err(SourceError::Foreign {
            found: found.unwrap_or("none").to_owned(),
            path: path.clone(),
        }),
    }
}

/// Reads a table row by row; none where the file is not there.
fn each_row<T: DeserializeOwned>(path: &Path, mut take: impl FnMut(T)) -> Result<(), SourceError> {
    let malformed = |error: csv::Error| SourceError::Malformed {
        path: path.to_owned(),
        what: error.to_string(),
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(malformed(error.into())),
    };
    let mut reader = csv::Reader::from_reader(file);
    reader.deserialize().try_for_each(|row| row.map(&mut take)).map_err(malformed)
}

/// The rows of each of so many parts.
fn parts(path: &Path, run: &Summary, count: usize) -> Result<Vec<Thinned<PartRow>>, SourceError> {
    let mut parts = vec![Thinned::new(PART_POINTS_MOST); count];
    let (interval_s, end_s) = (run.config.interval_s, run.totals.duration_s);
    each_row(path, |mut row: PartRow| {
        // The last one ends with the measured part.
        let left_s = end_s - row.t_s;
        row.width_s = if left_s > 0.0 { interval_s.min(left_s) } else { interval_s };
        if let Some(part) = parts.get_mut(row.part).filter(|_| row.phase == MEASURED) {
            part.push(row);
        }
    })?;
    Ok(parts)
}

/// Sums of the log's histograms without a tag, and of those of service time.
fn histograms(path: &Path) -> Result<[Option<Histogram<u64>>; 2], SourceError> {
    let malformed = |what: String| SourceError::Malformed { path: path.to_owned(), what };
    let log = match std::fs::read(path) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok([None, None]),
        Err(error) => return Err(malformed(error.to_string())),
    };
    let (mut sums, mut deserializer) = ([None, None], Deserializer::new());
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(line) = entry.map_err(|error| malformed(format!("{error:?}")))?
        else {
            continue;
        };
        let sum = match line.tag().map(|tag| tag.as_str()) {
            None => &mut sums[0],
            Some("service") => &mut sums[1],
            Some(_) => continue,
        };
        let bytes = STANDARD.decode(line.encoded_histogram());
        let bytes = bytes.map_err(|error| malformed(error.to_string()))?;
        let part: Histogram<u64> = deserializer
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| malformed(error.to_string()))?;
        match sum {
            None => *sum = Some(part),
            Some(sum) => sum.add(&part).map_err(|error| malformed(error.to_string()))?,
        }
    }
    Ok(sums)
}
