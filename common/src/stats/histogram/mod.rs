//! A latency histogram with fixed bounds: 1 µs to 1 h, 3 significant digits, about 190 kB.
//!
//! Never resizes, so recording allocates nothing. Exact extremes, sum and sum of squares are kept
//! beside the buckets; what exceeds the upper bound is counted as clipped, and its true value still
//! enters the extremes and sums. Invariant I2: merging histograms loses nothing.

use std::time::Duration;

use hdrhistogram::Histogram as Buckets;

use super::packed::{MOST_VALUES, PackedHistogram, Reader, Writer};
use super::{DecodeError, Moments};

/// Upper bound of the buckets: one hour in microseconds.
pub const HIGHEST_US: u64 = 3_600_000_000;

/// Significant decimal digits kept.
pub const PRECISION: u8 = 3;

/// See the module.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Buckets<u64>,
    moments: Moments,
    clipped: u64,
}

impl Histogram {
    /// Memory that one histogram takes, in bytes.
    pub const BYTES: usize = 23 * 1024 * size_of::<u64>() + size_of::<Self>();

    /// An empty histogram; allocates all its memory at once.
    #[must_use]
    pub fn new() -> Self {
        let buckets = Buckets::new_with_bounds(1, HIGHEST_US, PRECISION)
            .expect("constant bounds that the crate documents as legal");
        Self { buckets, moments: Moments::default(), clipped: 0 }
    }

    /// Records one value in microseconds.
    #[inline]
    pub fn record(&mut self, us: u64) {
        if us > HIGHEST_US {
            self.clipped += 1;
        }
        self.buckets.saturating_record(us.min(HIGHEST_US));
        self.moments.record(us);
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        if self.is_empty() {
            return;
        }
        self.buckets.reset();
        self.moments = Moments::default();
        self.clipped = 0;
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.add(&other.buckets).expect("both have the same constant bounds");
        self.moments.merge(&other.moments);
        self.clipped = self.clipped.saturating_add(other.clipped);
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.moments.count
    }

    /// No value was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moments.count == 0
    }

    /// Values above the upper bound.
    #[must_use]
    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    /// Exact count, sum, sum of squares and extremes.
    #[must_use]
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// The value in microseconds at or below which the share `q` (0 to 1) of all values lies, to three
    /// significant digits and always within the exact extremes; 0 if empty.
    #[must_use]
    pub fn quantile_us(&self, q: f64) -> u64 {
        let Moments { count, min, max, .. } = self.moments;
        if q >= 1.0 || count == 0 {
            return max;
        }
        // At 0 the crate answers with the lower edge of a bucket instead of the upper one.
        let q = q.max(f64::MIN_POSITIVE);
        self.buckets.value_at_quantile(q).clamp(min, max)
    }

    /// The buckets, for the interval log.
    #[must_use]
    pub fn buckets(&self) -> &Buckets<u64> {
        &self.buckets
    }

    /// The same histogram in a few bytes for each bucket in use.
    #[must_use]
    pub fn pack(&self) -> PackedHistogram {
        PackedHistogram::new(self.encode(), self.moments)
    }

    /// The buckets as bytes, a pair of numbers for each one in use; the moments travel beside them.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        for bucket in self.buckets.iter_recorded() {
            writer.push(bucket.value_iterated_to(), bucket.count_since_last_iteration());
        }
        writer.into_bytes()
    }

    /// Rebuilds a histogram from its parts. Takes a histogram's memory and no more, whatever the bytes.
    ///
    /// # Errors
    /// The bytes do not decode, or contradict the moments or the number of clipped values.
    pub fn decode(bytes: &[u8], moments: Moments, clipped: u64) -> Result<Self, DecodeError> {
        if moments.count > MOST_VALUES {
            return Err(DecodeError::TooMany);
        }
        let mut histogram = Self::new();
        let highest = histogram.buckets.highest_equivalent(HIGHEST_US);
        let mut count_left = moments.count;
        for pair in Reader::new(bytes) {
            let (value, count) = pair?;
            if value > highest {
                return Err(DecodeError::Bounds(value));
            }
            count_left =
                count_left.checked_sub(count).ok_or(DecodeError::Contradiction("count"))?;
            histogram.buckets.saturating_record_n(value.min(HIGHEST_US), count);
        }
        if count_left > 0 {
            return Err(DecodeError::Contradiction("count"));
        }
        histogram.moments = moments;
        histogram.clipped = clipped;
        histogram.check()?;
        Ok(histogram)
    }

    /// The moments and the clipped values agree with the buckets, as far as these can tell.
    fn check(&self) -> Result<(), DecodeError> {
        let Moments { count, sum, sum_of_squares, min, max } = self.moments;
        if count == 0 {
            let empty = self.moments == Moments::default() && self.clipped == 0;
            return if empty { Ok(()) } else { Err(DecodeError::Contradiction("count")) };
        }
        let same = |a: u64, b: u64| self.buckets.equivalent(a, b.min(HIGHEST_US));
        if !same(self.buckets.min(), min) {
            return Err(DecodeError::Contradiction("minimum"));
        }
        if !same(self.buckets.max(), max) || max < min {
            return Err(DecodeError::Contradiction("maximum"));
        }
        let within = |sum: u128, low: u128, high: u128| {
            let n = u128::from(count);
            sum >= low.saturating_mul(n) && sum <= high.saturating_mul(n)
        };
        let (low, high) = (u128::from(min), u128::from(max));
        if !within(sum, low, high) {
            return Err(DecodeError::Contradiction("sum"));
        }
        if !within(sum_of_squares, low * low, high * high) {
            return Err(DecodeError::Contradiction("sum of squares"));
        }
        let top = self.buckets.count_at(HIGHEST_US);
        if self.clipped > top || (self.clipped > 0) != (max > HIGHEST_US) {
            return Err(DecodeError::Contradiction("number of clipped values"));
        }
        Ok(())
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.buckets == other.buckets
            && self.moments == other.moments
            && self.clipped == other.clipped
    }
}

/// The rank, from 1, of the value at quantile `q` among `count` ascending values.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // q is 0 to 1
pub(super) fn rank(q: f64, count: u64) -> u64 {
    ((q * count as f64).ceil() as u64).clamp(1, count.max(1))
}

/// Whole microseconds of a duration; saturates after half a million years.
#[must_use]
pub fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
