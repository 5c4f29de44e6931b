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
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
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
        let n = u128::from(self.count);
        // n·Σx² - (Σx)² in integers: floats lose the difference of two nearly equal numbers.
        let exact = n.checked_mul(self.sum_of_squares).zip(self.sum.checked_mul(self.sum));
        let variance = match exact {
            Some((a, b)) => a.saturating_sub(b) as f64 / (n as f64 * n as f64),
            None => self.sum_of_squares as f64 / n as f64 - self.mean_us() * self.mean_us(),
        };
        variance.max(0.0).sqrt()
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
    /// Failed since their session was lost (`--reconnect`); the server may have committed them.
    pub connection_failures: u64,
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
    /// Sessions opened in place of lost ones (`--reconnect`).
    pub reconnects: u64,
    /// Time that clients spent without a session after a loss, summed over clients, in microseconds.
    pub unreachable_us: u64,
}

impl Counts {
    /// Failed for good, for whatever reason.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.serialization_failures
            + self.deadlock_failures
            + self.other_failures
            + self.connection_failures
    }

    /// All that were scheduled: successful, failed and skipped.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.transactions + self.failed() + self.skipped
    }

    /// All counters of events with their names; what is left out are times.
    #[must_use]
    pub fn events(&self) -> [(&'static str, u64); 12] {
        [
            ("transactions", self.transactions),
            ("serialization failures", self.serialization_failures),
            ("deadlock failures", self.deadlock_failures),
            ("other failures", self.other_failures),
            ("connection failures", self.connection_failures),
            ("skipped", self.skipped),
            ("retried", self.retried),
            ("retries", self.retries),
            ("late", self.late),
            ("commits", self.commits),
            ("connects", self.connects),
            ("reconnects", self.reconnects),
        ]
    }

    /// Adds another's counters; saturates, since they may come from another host.
    pub fn merge(&mut self, other: &Self) {
        let add = |own: &mut u64, n: u64| *own = own.saturating_add(n);
        add(&mut self.transactions, other.transactions);
        add(&mut self.serialization_failures, other.serialization_failures);
        add(&mut self.deadlock_failures, other.deadlock_failures);
        add(&mut self.other_failures, other.other_failures);
        add(&mut self.connection_failures, other.connection_failures);
        add(&mut self.skipped, other.skipped);
        add(&mut self.retried, other.retried);
        add(&mut self.retries, other.retries);
        add(&mut self.late, other.late);
        add(&mut self.commits, other.commits);
        add(&mut self.connects, other.connects);
        add(&mut self.connect_us, other.connect_us);
        add(&mut self.reconnects, other.reconnects);
        add(&mut self.unreachable_us, other.unreachable_us);
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
            *count = count.saturating_add(n);
        } else if self.0.len() < Self::MOST {
            self.0.insert(kind.to_owned(), n);
        } else {
            let others = self.0.entry("others".to_owned()).or_default();
            *others = others.saturating_add(n);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moments(values: &[u64]) -> Moments {
        let mut moments = Moments::default();
        for &us in values {
            moments.record(us);
        }
        moments
    }

    #[test]
    #[allow(clippy::float_cmp)]
    fn an_empty_one_has_no_mean_and_no_extremes_and_adds_nothing() {
        let (mut some, none) = (moments(&[7, 9]), Moments::default());
        assert_eq!((none.mean_us(), none.stddev_us()), (0.0, 0.0));
        some.merge(&none);
        assert_eq!(some, moments(&[7, 9]));
        let mut none = none;
        none.merge(&some);
        assert_eq!(none, some);
    }

    #[test]
    #[allow(clippy::float_cmp)] // the claim is that they are exact
    fn the_deviation_is_the_populations_and_exact_where_floats_are_not() {
        assert_eq!(moments(&[2, 4, 4, 4, 5, 5, 7, 9]).stddev_us(), 2.0);
        let hour = 3_600_000_000;
        assert_eq!(moments(&[hour - 1, hour + 1]).stddev_us(), 1.0);
        assert_eq!(moments(&[u64::MAX; 3]).stddev_us(), 0.0);
    }

    #[test]
    fn kinds_of_errors_are_bounded_and_none_is_lost() {
        let mut errors = ErrorCounts::default();
        for kind in 0..1000 {
            errors.add(&format!("{kind:05}"), 2);
        }
        errors.add("00001", u64::MAX);
        errors.add("00001", 1);
        assert_eq!(errors.0.len(), ErrorCounts::MOST + 1);
        assert_eq!(errors.0["others"], 2 * (1000 - ErrorCounts::MOST as u64));
        assert_eq!(errors.0["00001"], u64::MAX);
    }

    proptest! {
        #[test]
        fn merging_is_pooling(
            a in proptest::collection::vec(any::<u64>(), 0..50),
            b in proptest::collection::vec(0..1_000_000u64, 0..50),
        ) {
            let mut merged = moments(&a);
            merged.merge(&moments(&b));
            prop_assert_eq!(merged, moments(&[a, b].concat()));
        }
    }
}
