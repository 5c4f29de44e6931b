//! Counters of transactions, and exact moments of measured times.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Exact count, sum, sum of squares and extremes of values in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moments {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The sum of their squares.
    pub sum_of_squares: u128,
    /// The least, 0 if none.
    pub min: u64,
    /// The greatest, 0 if none.
    pub max: u64,
}

impl Moments {
    /// Adds one value.
    pub fn record(&mut self, us: u64) {
        self.min = if self.count == 0 { us } else { self.min.min(us) };
        self.max = self.max.max(us);
        self.count += 1;
        let wide = u128::from(us);
        self.sum += wide;
        self.sum_of_squares = self.sum_of_squares.saturating_add(wide * wide);
    }

    /// Adds all values of another.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
    }

    /// Mean in microseconds; 0 if empty.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Population standard deviation in microseconds, as pgbench prints it; 0 if empty.
    #[must_use]
    pub fn stddev_us(&self) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let mean = self.mean_us();
        (self.sum_of_squares as f64 / self.count as f64 - mean * mean).max(0.0).sqrt()
    }
}

/// Counters of transactions by how they ended. All are sums, so they add over workers, agents and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Successful transactions.
    pub transactions: u64,
    /// Failed for good with 40001.
    pub serialization_failures: u64,
    /// Failed for good with 40P01.
    pub deadlock_failures: u64,
    /// Failed for good with another SQL error (`--continue-on-error`).
    pub other_failures: u64,
    /// Never sent, since they would have been too late (`-R` with `-L`).
    pub skipped: u64,
    /// Successful or failed ones that took more than one try.
    pub retried: u64,
    /// Tries beyond the first.
    pub retries: u64,
    /// Successful ones above the latency limit.
    pub late: u64,
    /// Commits that the server must have counted (see `docs/measurement.md`).
    pub commits: u64,
    /// Connections opened within transactions (`-C`).
    pub connects: u64,
    /// Time spent opening and closing them, in microseconds.
    pub connect_us: u64,
}

impl Counts {
    /// Failed for good, for whatever reason.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.serialization_failures + self.deadlock_failures + self.other_failures
    }

    /// All that were scheduled: successful, failed and skipped.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.transactions + self.failed() + self.skipped
    }

    /// Adds another's counters.
    pub fn merge(&mut self, other: &Self) {
        self.transactions += other.transactions;
        self.serialization_failures += other.serialization_failures;
        self.deadlock_failures += other.deadlock_failures;
        self.other_failures += other.other_failures;
        self.skipped += other.skipped;
        self.retried += other.retried;
        self.retries += other.retries;
        self.late += other.late;
        self.commits += other.commits;
        self.connects += other.connects;
        self.connect_us += other.connect_us;
    }
}

/// Errors by SQLSTATE (`40001`) or, where the server said nothing, by errno (`ECONNRESET`) or kind
/// (`timeout`). Bounded: beyond [`ErrorCounts::MOST`] kinds they count as `others`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCounts(pub BTreeMap<String, u64>);

impl ErrorCounts {
    /// Kinds kept apart.
    pub const MOST: usize = 64;

    /// Counts `n` errors of a kind.
    pub fn add(&mut self, kind: &str, n: u64) {
        if let Some(count) = self.0.get_mut(kind) {
            *count += n;
        } else if self.0.len() < Self::MOST {
            self.0.insert(kind.to_owned(), n);
        } else {
            *self.0.entry("others".to_owned()).or_default() += n;
        }
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Self) {
        for (kind, n) in &other.0 {
            self.add(kind, *n);
        }
    }

    /// No error was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
