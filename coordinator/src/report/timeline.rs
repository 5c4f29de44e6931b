//! The measured part over time, as the summary shows it. `intervals.csv` keeps every interval.

use std::time::Duration;

use pgsurge_common::stats::ErrorCounts;

use super::intervals::shortened;
use crate::merge::{Timeline, TimelinePoint};

/// Results of one interval, or of several where the list was coarsened.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEntry {
    /// Seconds from the start of the measured part to the beginning of the entry.
    pub t_s: f64,
    /// Its length in seconds.
    pub width_s: f64,
    /// Successful transactions.
    pub transactions: u64,
    /// Failed ones.
    pub failed: u64,
    /// Median response time in microseconds.
    pub p50_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// Mean schedule lag in microseconds; only under `-R` and where anything was begun.
    pub lag_mean_us: Option<f64>,
    /// Sessions opened in place of lost ones.
    pub reconnects: u64,
    /// Time that clients spent without a session after a loss, summed over clients, in microseconds.
    pub unreachable_us: u64,
    /// Errors that the server or the system reported.
    pub errors: ErrorCounts,
    /// Clients at work at its end, with a session.
    pub clients: u32,
    /// Those without.
    pub disconnected: u32,
    /// Agents whose results are in it, the fewest of its intervals.
    pub agents: u32,
    /// Nobody's results are missing.
    pub complete: bool,
    /// Agents that were unreachable; the most of its intervals.
    pub agents_unreachable: u32,
    /// Clients at work at its end that were taken over from lost agents.
    pub clients_moved: u32,
}

impl TimelineEntry {
    /// Shortens the last entry to what lies before the end of the measured part.
    pub fn end_at(entries: &mut [Self], measured: Duration) {
        if let Some(last) = entries.last_mut() {
            last.width_s = shortened(last.t_s, last.width_s, measured);
        }
    }

    /// The entries of a merged timeline.
    #[must_use]
    pub fn list(timeline: &Timeline) -> Vec<Self> {
        let entry = |point: &TimelinePoint| {
            let (t_s, width_s) = timeline.span_s(point);
            Self {
                t_s,
                width_s,
                transactions: point.counts.transactions,
                failed: point.counts.failed(),
                p50_us: point.response.quantile_us(0.50),
                p99_us: point.response.quantile_us(0.99),
                lag_mean_us: (point.lag.count > 0).then(|| point.lag.mean_us()),
                reconnects: point.counts.reconnects,
                unreachable_us: point.counts.unreachable_us,
                errors: point.errors.clone(),
                clients: point.clients,
                disconnected: point.disconnected,
                agents: point.agents,
                complete: point.complete,
                agents_unreachable: point.unreachable,
                clients_moved: point.moved,
            }
        };
        timeline.points().iter().map(entry).collect()
    }
}
