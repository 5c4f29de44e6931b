//! I2 against pooled samples; bytes of a stranger against a bounded answer.
#![allow(clippy::unwrap_used)]
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const QUANTILES: [f64; 9] = [0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

fn histogram(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for &us in values {
        histogram.record(us);
    }
    histogram
}

/// The definition that everything is held against: the value of that rank among all samples.
fn pooled(sorted: &[u64], q: f64) -> u64 {
    sorted[usize::try_from(rank(q, sorted.len() as u64)).unwrap() - 1]
}

/// Latencies of all magnitudes: 0, microseconds, seconds, and some beyond the upper bound.
fn latencies(most: usize) -> impl Strategy<Value = Vec<u64>> {
    let one = prop_oneof![
        1 => Just(0),
        4 => 0..5_000u64,
        4 => 1_000..200_000u64,
        2 => 200_000..HIGHEST_US,
        1 => HIGHEST_US - 2..HIGHEST_US + 3,
    ];
    vec(one, 1..most)
}

fn decode(h: &Histogram) -> Result<Histogram, DecodeError> {
    Histogram::decode(&h.encode(), h.moments, h.clipped)
}

#[test]
fn an_empty_histogram_has_only_zeros_and_travels() {
    let empty = Histogram::new();
    assert!(QUANTILES.iter().all(|&q| empty.quantile_us(q) == 0));
    assert_eq!(empty.encode(), b"");
    assert_eq!(decode(&empty).unwrap(), empty);
}

#[test]
fn the_stated_memory_is_what_the_buckets_take() {
    let buckets = Histogram::new().buckets.distinct_values() * size_of::<u64>();
    assert_eq!(Histogram::BYTES, buckets + size_of::<Histogram>());
    assert!((180_000..200_000).contains(&Histogram::BYTES));
}

#[test]
fn two_minutes_are_not_clipped_and_two_hours_are_counted_as_clipped() {
    let mut h = histogram(&[20_000_000, 120_000_000]);
    assert_eq!(h.clipped(), 0);
    assert!(h.quantile_us(0.5).abs_diff(20_000_000) < 20_000);
    h.record(2 * HIGHEST_US);
    assert_eq!((h.clipped(), h.len(), h.quantile_us(1.0)), (1, 3, 2 * HIGHEST_US));
    assert_eq!(h.moments().sum, 140_000_000 + 2 * u128::from(HIGHEST_US));
}

#[test]
fn clearing_forgets_everything() {
    let mut h = histogram(&[0, 5, 2 * HIGHEST_US]);
    h.clear();
    assert_eq!(h, Histogram::new());
}

#[test]
fn a_busy_second_takes_a_few_bytes_for_each_bucket_in_use() {
    let values: Vec<u64> = (0..5000).map(|n| 900 + n * n / 1000).collect();
    let h = histogram(&values);
    let used = h.buckets.iter_recorded().count();
    assert!(h.encode().len() <= 3 * used, "{} bytes for {used} buckets", h.encode().len());
}

#[test]
fn figures_that_contradict_the_buckets_are_refused() {
    let h = histogram(&[100, 200, 300_000]);
    let bytes = h.encode();
    let refused = |change: fn(&mut Moments), clipped| {
        let mut moments = h.moments;
        change(&mut moments);
        Histogram::decode(&bytes, moments, clipped).unwrap_err()
    };
    let contradiction = DecodeError::Contradiction;
    assert_eq!(refused(|m| m.count += 1, 0), contradiction("count"));
    assert_eq!(refused(|m| m.count -= 1, 0), contradiction("count"));
    assert_eq!(refused(|m| m.count = u64::MAX, 0), DecodeError::TooMany);
    assert_eq!(refused(|m| m.min = 99, 0), contradiction("minimum"));
    assert_eq!(refused(|m| m.max = 200, 0), contradiction("maximum"));
    assert_eq!(refused(|m| m.sum = 0, 0), contradiction("sum"));
    assert_eq!(refused(|m| m.sum_of_squares = u128::MAX, 0), contradiction("sum of squares"));
    assert_eq!(refused(|_| (), 1), contradiction("number of clipped values"));
    let empty = Moments { sum: 1, ..Moments::default() };
    assert_eq!(Histogram::decode(b"", empty, 0).unwrap_err(), contradiction("count"));
    assert_eq!(Histogram::decode(b"", h.moments, 0).unwrap_err(), contradiction("count"));
}

#[test]
fn hostile_bytes_are_refused_by_name() {
    let moments = histogram(&[1, 2]).moments;
    for (bytes, error) in [
        (&b"\x01"[..], DecodeError::Number(1)),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x01", DecodeError::Number(0)),
        (b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80", DecodeError::Number(0)),
        (b"\x01\x00", DecodeError::Bucket(0)),
        (b"\x01\x01\x00\x01", DecodeError::Bucket(2)),
        (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", DecodeError::Bounds(u64::MAX)),
        (b"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", DecodeError::Bounds(u64::MAX)),
        (b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", DecodeError::Contradiction("count")),
    ] {
        assert_eq!(Histogram::decode(bytes, moments, 0).unwrap_err(), error, "{bytes:x?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_merged_quantile_is_that_of_the_pooled_samples_to_three_digits(
        parts in vec(latencies(300), 1..5),
    ) {
        let mut merged = Histogram::new();
        for part in &parts {
            merged.merge(&histogram(part));
        }
        let mut pool = parts.concat();
        prop_assert_eq!(&merged, &histogram(&pool));
        pool.sort_unstable();
        for q in QUANTILES {
            let (got, exact) = (merged.quantile_us(q), pooled(&pool, q));
            if exact <= HIGHEST_US {
                prop_assert!(got.abs_diff(exact) <= exact / 1000, "{q}: {got}, exactly {exact}");
            }
            prop_assert_eq!(merged.pack().quantile_us(q), got);
        }
        prop_assert_eq!(merged.moments().min, pool[0]);
        prop_assert_eq!(merged.moments().max, pool[pool.len() - 1]);
        prop_assert_eq!(merged.clipped(), pool.iter().filter(|&&us| us > HIGHEST_US).count() as u64);
    }

    #[test]
    fn quantiles_ascend_within_the_extremes(
        values in vec(any::<u64>(), 1..20), small in latencies(100), mut qs in vec(0.0..=1.0f64, 2..20),
    ) {
        qs.sort_unstable_by(f64::total_cmp);
        let h = histogram(&[values, small].concat());
        let mut last = h.moments().min;
        for q in qs {
            let value = h.quantile_us(q);
            prop_assert!(value >= last && value <= h.moments().max);
            last = value;
        }
    }

    #[test]
    fn encoding_loses_nothing(values in latencies(400)) {
        let h = histogram(&values);
        prop_assert_eq!(decode(&h).unwrap(), h);
    }

    #[test]
    fn packed_histograms_merge_as_full_ones_do(a in latencies(200), b in latencies(200)) {
        let mut packed = histogram(&a).pack();
        packed.merge(&histogram(&b).pack());
        prop_assert_eq!(packed, histogram(&[a, b].concat()).pack());
    }

    #[test]
    fn junk_never_panics_and_what_decodes_keeps_the_order(
        bytes in vec(any::<u8>(), 0..200), flips in vec((any::<usize>(), any::<u8>()), 0..4),
        values in latencies(50), min: u64, max: u64, clipped in 0..3u64,
    ) {
        let h = histogram(&values);
        let mut damaged = h.encode();
        for (at, byte) in flips {
            let at = at % damaged.len();
            damaged[at] = byte;
        }
        let odd = Moments { min, max, ..h.moments };
        for (bytes, moments) in [(&bytes, odd), (&bytes, h.moments), (&damaged, odd), (&damaged, h.moments)] {
            if let Ok(h) = Histogram::decode(bytes, moments, clipped) {
                let values = QUANTILES.map(|q| h.quantile_us(q));
                prop_assert!(values.is_sorted());
                prop_assert_eq!(decode(&h).unwrap(), h);
            }
        }
    }
}
