//! `intervals.csv`: one row an interval, written as it is merged and kept nowhere (I7).
//!
//! The columns are documented in `docs/measurement.md`.

use std::io::{self, Write};
use std::time::Duration;

use pgsurge_common::stats::{Histogram, Phase};
use serde::Serialize;

use crate::merge::ClusterInterval;

/// One row; the field names are the heading.
#[derive(Debug, Serialize)]
struct Row {
    phase: &'static str,
    t_s: f64,
    width_s: f64,
    transactions: u64,
    failed: u64,
    skipped: u64,
    retried: u64,
    retries: u64,
    late: u64,
    tps: f64,
    mean_ms: Option<f64>,
    stddev_ms: Option<f64>,
    min_ms: Option<f64>,
    p50_ms: Option<f64>,
    p90_ms: Option<f64>,
    p95_ms: Option<f64>,
    p99_ms: Option<f64>,
    p99_9_ms: Option<f64>,
    max_ms: Option<f64>,
    service_p50_ms: Option<f64>,
    service_p99_ms: Option<f64>,
    service_max_ms: Option<f64>,
    lag_mean_ms: Option<f64>,
    lag_p99_ms: Option<f64>,
    lag_max_ms: Option<f64>,
    reconnects: u64,
    unreachable_s: f64,
    clients: u32,
    disconnected: u32,
    agents: u32,
    complete: bool,
    agents_unreachable: usize,
    clients_moved: u32,
    cpu_fraction: f64,
    loop_lag_ms: f64,
    errors: String,
}

/// Writes rows, the last one when its length is known.
pub struct IntervalTable<W: Write> {
    csv: csv::Writer<W>,
    length: Duration,
    last: Option<Row>,
}

/// How long each phase really lasted.
#[derive(Clone, Copy, Debug)]
pub struct Lasted {
    /// The warm-up.
    pub warmup: Duration,
    /// The measured part, to the end of its last transaction.
    pub measured: Duration,
}

impl<W: Write> IntervalTable<W> {
    /// Writes to `out`; the heading comes with the first row.
    pub fn new(out: W, length: Duration) -> Self {
        Self { csv: csv::Writer::from_writer(out), length, last: None }
    }

    /// Takes the next interval and writes the one before it, through to the file.
    ///
    /// # Errors
    /// The writer fails.
    pub fn record(&mut self, ready: &ClusterInterval) -> io::Result<()> {
        match self.last.replace(row(ready, self.length)) {
            Some(whole) => self.write(&whole),
            None => Ok(()),
        }
    }

    fn write(&mut self, row: &Row) -> io::Result<()> {
        self.csv.serialize(row)?;
        self.csv.flush()
    }

    /// Writes the last row, which is as long as its phase goes on in it, and returns the writer.
    ///
    /// # Errors
    /// The writer fails.
    pub fn finish(mut self, lasted: Lasted) -> io::Result<W> {
        if let Some(mut last) = self.last.take() {
            last.end_at(lasted);
            self.write(&last)?;
        }
        self.csv.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

impl Row {
    fn end_at(&mut self, lasted: Lasted) {
        let phase = if self.phase == "warmup" { lasted.warmup } else { lasted.measured };
        self.width_s = shortened(self.t_s, self.width_s, phase);
        self.tps = self.transactions as f64 / self.width_s;
    }
}

/// Length of the part of a stretch of time that lies before the end of its phase; the whole of it where the phase
/// ended before or after.
pub(super) fn shortened(t_s: f64, width_s: f64, phase: Duration) -> f64 {
    let left = phase.as_secs_f64() - t_s;
    if left > 0.0 && left < width_s { left } else { width_s }
}

/// As the tables name it.
pub(super) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Warmup => "warmup",
        Phase::Measure => "measure",
    }
}

fn row(ready: &ClusterInterval, length: Duration) -> Row {
    let interval = &ready.interval;
    let width_s = length.as_secs_f64();
    let counts = &interval.counts;
    let quantile = |h: Option<&Histogram>, q| {
        h.filter(|h| !h.is_empty()).map(|h| h.quantile_us(q) as f64 / 1000.0)
    };
    let (service, lag) = (interval.service.as_ref(), interval.lag.as_ref());
    let response = Some(&interval.response).filter(|h| !h.is_empty());
    let moments = response.map(Histogram::moments);
    let errors: Vec<String> =
        interval.errors.0.iter().map(|(kind, n)| format!("{kind}:{n}")).collect();
    Row {
        phase: phase_name(interval.phase),
        t_s: width_s * f64::from(interval.index),
        width_s,
        transactions: counts.transactions,
        failed: counts.failed(),
        skipped: counts.skipped,
        retried: counts.retried,
        retries: counts.retries,
        late: counts.late,
        tps: counts.transactions as f64 / width_s,
        mean_ms: moments.map(|m| m.mean_us() / 1000.0),
        stddev_ms: moments.map(|m| m.stddev_us() / 1000.0),
        min_ms: moments.map(|m| m.min as f64 / 1000.0),
        p50_ms: quantile(response, 0.50),
        p90_ms: quantile(response, 0.90),
        p95_ms: quantile(response, 0.95),
        p99_ms: quantile(response, 0.99),
        p99_9_ms: quantile(response, 0.999),
        max_ms: quantile(response, 1.0),
        service_p50_ms: quantile(service, 0.50),
        service_p99_ms: quantile(service, 0.99),
        service_max_ms: quantile(service, 1.0),
        lag_mean_ms: lag.filter(|h| !h.is_empty()).map(|h| h.moments().mean_us() / 1000.0),
        lag_p99_ms: quantile(lag, 0.99),
        lag_max_ms: quantile(lag, 1.0),
        reconnects: counts.reconnects,
        unreachable_s: counts.unreachable_us as f64 / 1e6,
        clients: interval.clients,
        disconnected: interval.disconnected,
        agents: ready.agents,
        complete: ready.complete,
        agents_unreachable: ready.unreachable.len(),
        clients_moved: ready.moved,
        cpu_fraction: interval.vitals.cpu_fraction,
        loop_lag_ms: interval.vitals.loop_lag_us as f64 / 1000.0,
        errors: errors.join(" "),
    }
}
