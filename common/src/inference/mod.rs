//! What can be concluded from repeated runs, and how sure that is. Pure; no distribution of the figures is assumed:
//! throughput and percentiles of a server have tails and humps that no bell has.
//!
//! [`median`] is of one set of repeats, [`ratio`] compares two, [`noise`] looks into one run, whose intervals depend on each
//! other. All confidence is 95 %.

mod difference;
mod noise;
mod order;

pub use difference::{Ratio, ratio};
pub use noise::noise;
pub use order::{Median, median};

/// What is left to chance, both sides together.
const DOUBT: f64 = 0.05;
