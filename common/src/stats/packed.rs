//! A histogram as a row of bytes: one pair of numbers for each bucket that holds anything.
//!
//! A pair is the distance to the bucket before and the count, each as a LEB128 number; a bucket is named
//! by the greatest value that falls into it. So a second of a thousand transactions takes about 3 kB,
//! not 190. Reading allocates nothing and never panics, whatever the bytes are.

use super::Moments;

/// Values in one decoded histogram, about 10¹²: no agent measures more in an interval, and millions of
/// such intervals still add up without overflow.
pub(super) const MOST_VALUES: u64 = 1 << 40;

/// Why bytes are not a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// A number is cut off or longer than 64 bits.
    #[error("histogram does not decode: broken number at byte {0}")]
    Number(usize),
    /// A bucket is empty or named twice.
    #[error("histogram does not decode: empty or repeated bucket at byte {0}")]
    Bucket(usize),
    /// A value beyond the fixed bounds.
    #[error("histogram does not decode: {0} us is out of bounds")]
    Bounds(u64),
    /// More values than can be.
    #[error("histogram does not decode: too many values")]
    TooMany,
    /// The exact figures that travel beside the buckets contradict them.
    #[error("histogram does not decode: its {0} contradicts its buckets")]
    Contradiction(&'static str),
}

/// Writes pairs of ascending values and counts.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    last: Option<u64>,
}

impl Writer {
    pub(super) fn push(&mut self, value: u64, count: u64) {
        number(&mut self.bytes, self.last.map_or(value, |last| value - last));
        number(&mut self.bytes, count);
        self.last = Some(value);
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn number(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push(low_bits(n) | 0x80);
        n >>= 7;
    }
    bytes.push(low_bits(n));
}

fn low_bits(n: u64) -> u8 {
    u8::try_from(n & 0x7f).expect("seven bits fit eight")
}

/// Reads the pairs; ends after the first error.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    last: Option<u64>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, last: None }
    }

    fn number(&mut self) -> Result<u64, DecodeError> {
        let start = self.at;
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(DecodeError::Number(start))?;
            self.at += 1;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            n |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(n);
            }
        }
        Err(DecodeError::Number(start))
    }

    fn pair(&mut self) -> Result<(u64, u64), DecodeError> {
        let start = self.at;
        let (distance, count) = (self.number()?, self.number()?);
        if count == 0 || (distance == 0 && self.last.is_some()) {
            return Err(DecodeError::Bucket(start));
        }
        let value = self.last.unwrap_or(0).checked_add(distance);
        let value = value.ok_or(DecodeError::Bounds(u64::MAX))?;
        self.last = Some(value);
        Ok((value, count))
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<(u64, u64), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let pair = self.pair();
        if pair.is_err() {
            self.at = self.bytes.len();
        }
        Some(pair)
    }
}

/// A histogram that is only kept, merged and asked: a few bytes for each bucket in use. Answers as
/// [`super::Histogram`] does, to the last digit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedHistogram {
    bytes: Box<[u8]>,
    moments: Moments,
}

impl PackedHistogram {
    /// The bytes must come from a histogram of this process: nothing is checked.
    pub(super) fn new(bytes: Vec<u8>, moments: Moments) -> Self {
        Self { bytes: bytes.into(), moments }
    }

    /// Exact count, sum, sum of squares and extremes.
    #[must_use]
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Memory that it takes beyond its own size, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// As [`super::Histogram::quantile_us`].
    #[must_use]
    pub fn quantile_us(&self, q: f64) -> u64 {
        let Moments { count, min, max, .. } = self.moments;
        if q >= 1.0 || count == 0 {
            return max;
        }
        let wanted = super::histogram::rank(q, count);
        let mut below = 0;
        let bucket = self.pairs().find(|(_, count)| {
            below += count;
            below >= wanted
        });
        bucket.map_or(max, |(value, _)| value).clamp(min, max)
    }

    /// Adds all values of another.
    pub fn merge(&mut self, other: &Self) {
        let mut merged = Writer::default();
        let (mut a, mut b) = (self.pairs().peekable(), other.pairs().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    a.next().zip(b.next()).map(|(x, y)| (x.0, x.1.saturating_add(y.1)))
                }
                (Some(x), Some(y)) if x.0 < y.0 => a.next(),
                (Some(_), None) => a.next(),
                _ => b.next(),
            };
            let Some((value, count)) = next else { break };
            merged.push(value, count);
        }
        drop(a);
        self.bytes = merged.into_bytes().into();
        self.moments.merge(&other.moments);
    }

    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        Reader::new(&self.bytes).map_while(Result::ok)
    }
}
