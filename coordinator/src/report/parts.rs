//! `agents.csv` and `scripts.csv`: each interval by its parts, beside the cluster's row in `intervals.csv`.
//!
//! Rows are written as intervals are merged and kept nowhere (I7). They name their interval by `phase` and
//! `t_s`; its length is there. The columns are documented in `docs/measurement.md`.

use std::io::{self, Write};
use std::time::Duration;

use pgsurge_common::stats::ScriptStats;
use serde::Serialize;

use super::intervals::phase_name;
use crate::merge::{ClusterInterval, PartInterval};

/// One agent's part of an interval; the field names are the heading.
#[derive(Debug, Serialize)]
struct AgentRow {
    phase: &'static str,
    t_s: f64,
    agent: u32,
    transactions: u64,
    failed: u64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    max_ms: Option<f64>,
    clients: u32,
    cpu_fraction: f64,
    loop_lag_ms: f64,
    rss_bytes: u64,
}

/// One script's part of an interval.
#[derive(Debug, Serialize)]
struct ScriptRow {
    phase: &'static str,
    t_s: f64,
    script: usize,
    transactions: u64,
    failed: u64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    max_ms: Option<f64>,
}

/// Writes the rows of one of the tables.
pub struct PartTable<W: Write> {
    csv: csv::Writer<W>,
    length: Duration,
}

impl<W: Write> PartTable<W> {
    /// Writes to `out`; the heading comes with the first row.
    pub fn new(out: W, length: Duration) -> Self {
        Self { csv: csv::Writer::from_writer(out), length }
    }

    /// Writes what each agent has in the interval, through to the file.
    ///
    /// # Errors
    /// The writer fails.
    pub fn agents(&mut self, ready: &ClusterInterval) -> io::Result<()> {
        let (phase, t_s) = self.place(ready);
        for part in &ready.parts {
            self.csv.serialize(agent_row(part, phase, t_s))?;
        }
        self.csv.flush()
    }

    /// Writes what each script has in the interval, through to the file; nothing where there is only one.
    ///
    /// # Errors
    /// The writer fails.
    pub fn scripts(&mut self, ready: &ClusterInterval) -> io::Result<()> {
        let (phase, t_s) = self.place(ready);
        for (script, stats) in ready.interval.scripts.iter().enumerate() {
            self.csv.serialize(script_row(script, stats, phase, t_s))?;
        }
        self.csv.flush()
    }

    /// The writer.
    ///
    /// # Errors
    /// It fails.
    pub fn finish(self) -> io::Result<W> {
        self.csv.into_inner().map_err(csv::IntoInnerError::into_error)
    }

    fn place(&self, ready: &ClusterInterval) -> (&'static str, f64) {
        let interval = &ready.interval;
        (phase_name(interval.phase), self.length.as_secs_f64() * f64::from(interval.index))
    }
}

fn agent_row(part: &PartInterval, phase: &'static str, t_s: f64) -> AgentRow {
    let ms = |place: usize| part.response_us.map(|us| us[place] as f64 / 1000.0);
    AgentRow {
        phase,
        t_s,
        agent: part.part.0,
        transactions: part.counts.transactions,
        failed: part.counts.failed(),
        p50_ms: ms(0),
        p99_ms: ms(1),
        max_ms: ms(2),
        clients: part.clients,
        cpu_fraction: part.vitals.cpu_fraction,
        loop_lag_ms: part.vitals.loop_lag_us as f64 / 1000.0,
        rss_bytes: part.vitals.rss_bytes,
    }
}

fn script_row(script: usize, stats: &ScriptStats, phase: &'static str, t_s: f64) -> ScriptRow {
    let response = Some(&stats.response).filter(|h| !h.is_empty());
    let ms = |q| response.map(|h| h.quantile_us(q) as f64 / 1000.0);
    ScriptRow {
        phase,
        t_s,
        script,
        transactions: stats.counts.transactions,
        failed: stats.counts.failed(),
        p50_ms: ms(0.50),
        p99_ms: ms(0.99),
        max_ms: ms(1.0),
    }
}
