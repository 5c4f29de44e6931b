//! A latency histogram with fixed bounds: 1 µs to 1 h, 3 significant digits, about 190 kB.
//!
//! Never resizes, so recording allocates nothing. Exact extremes, sum and sum of squares are kept
//! beside the buckets; what exceeds the upper bound is counted as clipped, and its true value still
//! enters the extremes and sums. Invariant I2: merging histograms loses nothing.

use std::time::Duration;

use hdrhistogram::Histogram as Buckets;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

use super::Moments;

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

/// Why bytes are not a histogram.
#[derive(Debug, thiserror::Error)]
#[error("histogram does not decode: {0}")]
pub struct DecodeError(String);

impl Histogram {
    /// An empty histogram; allocates all its memory at once.
    #[must_use]
    pub fn new() -> Self {
        let buckets = Buckets::new_with_bounds(1, HIGHEST_US, PRECISION)
            .expect("constant bounds that the crate documents as legal");
        Self { buckets, moments: Moments::default(), clipped: 0 }
    }

    /// Records one value in microseconds.
    pub fn record(&mut self, us: u64) {
        if us > HIGHEST_US {
            self.clipped += 1;
        }
        self.buckets.saturating_record(us.min(HIGHEST_US));
        self.moments.record(us);
    }

    /// Forgets everything, keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.reset();
        self.moments = Moments::default();
        self.clipped = 0;
    }

    /// Adds all values of another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.add(&other.buckets).expect("both have the same constant bounds");
        self.moments.merge(&other.moments);
        self.clipped += other.clipped;
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
        if self.is_empty() {
            return 0;
        }
        if q >= 1.0 {
            return self.moments.max;
        }
        self.buckets.value_at_quantile(q).clamp(self.moments.min, self.moments.max)
    }

    /// The buckets, for the interval log.
    #[must_use]
    pub fn buckets(&self) -> &Buckets<u64> {
        &self.buckets
    }

    /// The buckets in HdrHistogram's V2 deflate encoding; the moments travel beside it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(&self.buckets, &mut bytes)
            .expect("writing to a vector does not fail");
        bytes
    }

    /// Rebuilds a histogram from its parts.
    ///
    /// # Errors
    /// The bytes do not decode, have other bounds, or disagree with the moments about the count.
    pub fn decode(bytes: &[u8], moments: Moments, clipped: u64) -> Result<Self, DecodeError> {
        let decoded: Buckets<u64> = Deserializer::new()
            .deserialize(&mut &*bytes)
            .map_err(|e| DecodeError(e.to_string()))?;
        if decoded.len() != moments.count {
            return Err(DecodeError(format!(
                "{} values in the buckets, {} counted",
                decoded.len(),
                moments.count
            )));
        }
        if decoded.sigfig() != PRECISION || decoded.high() > 2 * HIGHEST_US {
            return Err(DecodeError("other bounds".into()));
        }
        let mut histogram = Self::new();
        histogram.buckets.add(&decoded).map_err(|e| DecodeError(e.to_string()))?;
        histogram.moments = moments;
        histogram.clipped = clipped;
        Ok(histogram)
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

/// Whole microseconds of a duration; saturates after half a million years.
#[must_use]
pub fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
