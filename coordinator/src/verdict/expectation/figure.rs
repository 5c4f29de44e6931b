//! The figures that an expectation can be about.

use pgsurge_common::stats::{Counts, Histogram};

/// One figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Successful transactions per second.
    Tps,
    /// Failed ones, as a share of all that were scheduled (pgbench's own percentage).
    Failed,
    /// Skipped ones, as a share of all that were scheduled.
    Skipped,
    /// Those above the latency limit, as a share of the successful ones.
    Late,
    /// A time in milliseconds.
    Latency(Time, Statistic),
}

/// Which time of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// From when it was due.
    Response,
    /// From when it began.
    Service,
    /// From when it was due to when it began.
    Lag,
}

/// What of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// Mean, exact.
    Mean,
    /// Population standard deviation, exact.
    StdDev,
    /// Least, exact.
    Min,
    /// Greatest, exact.
    Max,
    /// The percentile of this share, to three significant digits.
    Quantile(f64),
}

/// The figures of the measured part of a run.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Successful transactions per second.
    pub tps: f64,
    /// All counters.
    pub counts: &'a Counts,
    /// Response time.
    pub response: &'a Histogram,
    /// Service time; only under `-R`.
    pub service: Option<&'a Histogram>,
    /// Schedule lag; only under `-R`.
    pub lag: Option<&'a Histogram>,
}

impl Figure {
    /// Its value; `None` where the run yielded none.
    pub(super) fn of(self, measured: &Measured) -> Option<f64> {
        let counts = measured.counts;
        let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
        match self {
            Self::Tps => Some(measured.tps),
            Self::Failed => share(counts.failed(), counts.all()),
            Self::Skipped => share(counts.skipped, counts.all()),
            Self::Late => share(counts.late, counts.transactions),
            Self::Latency(time, statistic) => {
                let histogram = match time {
                    Time::Response => Some(measured.response),
                    Time::Service => measured.service,
                    Time::Lag => measured.lag,
                };
                histogram.filter(|h| !h.is_empty()).map(|h| statistic.of(h))
            }
        }
    }

    /// A value of it with its unit.
    pub(super) fn show(self, value: f64) -> String {
        match self {
            Self::Tps => format!("{value:.3} per second"),
            Self::Failed | Self::Skipped | Self::Late => format!("{:.3} %", 100.0 * value),
            Self::Latency(..) => format!("{value:.3} ms"),
        }
    }
}

impl Statistic {
    fn of(self, histogram: &Histogram) -> f64 {
        let moments = histogram.moments();
        let us = match self {
            Self::Mean => moments.mean_us(),
            Self::StdDev => moments.stddev_us(),
            Self::Min => moments.min as f64,
            Self::Max => moments.max as f64,
            Self::Quantile(q) => histogram.quantile_us(q) as f64,
        };
        us / 1000.0
    }
}
