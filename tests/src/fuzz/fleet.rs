//! What agents and coordinators send each other.

use pgsurge_common::stats::{Histogram, Moments};
use pgsurge_proto::bytes;

/// An agent's message; one that is taken comes back from its own bytes.
pub fn agent_message(input: &[u8]) {
    if let Ok(message) = bytes::agent_message(input) {
        let again = bytes::agent_message(&bytes::of_agent(message));
        assert!(again.is_ok(), "{again:?}");
    }
}

/// A coordinator's message, likewise.
pub fn coordinator_message(input: &[u8]) {
    if let Ok(message) = bytes::coordinator_message(input) {
        let again = bytes::coordinator_message(&bytes::of_coordinator(message));
        assert!(again.is_ok(), "{again:?}");
    }
}

/// The buckets of a histogram behind what is said of them: count, sum, least, greatest, clipped, in eight bytes each,
/// and the sum of squares in sixteen.
pub fn histogram(input: &[u8]) {
    let Some((head, buckets)) = input.split_at_checked(56) else { return };
    let number = |at: usize| {
        u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes are eight bytes"))
    };
    let moments = Moments {
        count: number(0),
        sum: u128::from(number(8)),
        min: number(16),
        max: number(24),
        sum_of_squares: u128::from(number(40)) | u128::from(number(48)) << 64,
    };
    let Ok(histogram) = Histogram::decode(buckets, moments, number(32)) else { return };
    let quantiles = [0.0, 0.5, 0.99, 1.0].map(|quantile| histogram.quantile_us(quantile));
    assert!(quantiles.is_sorted(), "{quantiles:?}");
    let again = Histogram::decode(&histogram.encode(), moments, number(32));
    assert!(again.is_ok_and(|again| again.len() == histogram.len()), "it comes back");
    let mut sum = Histogram::new();
    sum.merge(&histogram);
    assert_eq!(sum.len(), histogram.len());
}
