//! Everything of a phase added up; the same for one agent and for the cluster.

use pgsurge_common::stats::{Counts, ErrorCounts, Histogram, Interval, ScriptStats};

/// Sums over intervals. Adds without loss, in any order (I2).
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    /// Counters.
    pub counts: Counts,
    /// Response time.
    pub response: Histogram,
    /// Service time; only under `-R`.
    pub service: Option<Histogram>,
    /// Schedule lag; only under `-R`.
    pub lag: Option<Histogram>,
    /// One entry a script where there are several; else empty.
    pub scripts: Vec<ScriptStats>,
    /// Errors that the server or the system reported.
    pub errors: ErrorCounts,
}

impl Sums {
    /// Nothing yet; `scripts` as in [`Interval::new`].
    pub(super) fn new(scripts: usize, rate_limited: bool) -> Self {
        Self {
            counts: Counts::default(),
            response: Histogram::new(),
            service: rate_limited.then(Histogram::new),
            lag: rate_limited.then(Histogram::new),
            scripts: vec![ScriptStats::default(); scripts],
            errors: ErrorCounts::default(),
        }
    }

    /// Adds an interval of the same shape.
    pub(super) fn add(&mut self, interval: &Interval) {
        self.counts.merge(&interval.counts);
        self.response.merge(&interval.response);
        for (own, other) in [(&mut self.service, &interval.service), (&mut self.lag, &interval.lag)]
        {
            if let (Some(own), Some(other)) = (own, other) {
                own.merge(other);
            }
        }
        for (own, other) in self.scripts.iter_mut().zip(&interval.scripts) {
            own.counts.merge(&other.counts);
            own.response.merge(&other.response);
        }
        self.errors.merge(&interval.errors);
    }
}
