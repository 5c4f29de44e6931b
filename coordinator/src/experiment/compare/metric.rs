//! What sets are compared by.

use std::str::FromStr;

use crate::report::summary::{LatencyMs, Summary};

/// A figure of a run's summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Transactions per second.
    Tps,
    /// Mean response time.
    Mean,
    /// Its median.
    P50,
    /// 90th percentile.
    P90,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// The greatest.
    Max,
}

/// All of them by name.
const NAMES: [(&str, Metric); 8] = [
    ("tps", Metric::Tps),
    ("mean", Metric::Mean),
    ("p50", Metric::P50),
    ("p90", Metric::P90),
    ("p95", Metric::P95),
    ("p99", Metric::P99),
    ("p99.9", Metric::P999),
    ("max", Metric::Max),
];

impl Metric {
    /// As users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }

    /// With its unit.
    #[must_use]
    pub fn heading(self) -> String {
        match self {
            Self::Tps => "tps".to_owned(),
            _ => format!("{} ms", self.name()),
        }
    }

    /// More of it is better.
    #[must_use]
    pub fn more_is_better(self) -> bool {
        self == Self::Tps
    }

    /// Of a run; none where nothing succeeded.
    #[must_use]
    pub fn of(self, summary: &Summary) -> Option<f64> {
        let ms = |figure: fn(&LatencyMs) -> f64| summary.totals.latency_ms.as_ref().map(figure);
        match self {
            Self::Tps => Some(summary.totals.tps).filter(|tps| *tps > 0.0),
            Self::Mean => ms(|ms| ms.mean),
            Self::P50 => ms(|ms| ms.p50),
            Self::P90 => ms(|ms| ms.p90),
            Self::P95 => ms(|ms| ms.p95),
            Self::P99 => ms(|ms| ms.p99),
            Self::P999 => ms(|ms| ms.p99_9),
            Self::Max => ms(|ms| ms.max),
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = NAMES.iter().find(|(name, _)| *name == text).map(|(_, metric)| *metric);
        known.ok_or_else(|| {
            let names = NAMES.map(|(name, _)| name).join(", ");
            format!("expected one of {names}")
        })
    }
}
