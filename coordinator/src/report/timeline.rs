//! The measured part over time, as the summary shows it. `intervals.csv` keeps every interval.

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
    /// Median response time in microseconds; the greatest of its intervals if it stands for several.
    pub p50_us: u64,
    /// 99th percentile, likewise.
    pub p99_us: u64,
    /// Mean schedule lag in microseconds; only under `-R` and where anything was begun.
    pub lag_mean_us: Option<f64>,
    /// Clients at work at its end.
    pub clients: u32,
    /// Agents alive, the fewest of its intervals.
    pub agents: u32,
    /// All live agents' intervals arrived.
    pub complete: bool,
}
