//! What can be concluded from repeated runs, and how sure that is. Pure; no distribution of the figures is assumed:
//! throughput and percentiles of a server have tails and humps that no bell has.
//!
//! [`median`] is of one set of repeats, [`ratio`] compares two, [`noise`] and [`unsettled`] look into one run, whose
//! intervals depend on each other. All confidence is 95 %.

mod difference;
mod noise;
mod order;

pub use difference::{Ratio, ratio};
pub use noise::{noise, unsettled};
pub use order::{Median, median};

/// What is left to chance, both sides together.
const DOUBT: f64 = 0.05;
/// The normal distribution's quantile for it.
const NORMAL: f64 = 1.959_964;
/// Ranks of so many repeats come from exact distributions; beyond, the normal one is as good and stays computable.
const EXACT_MOST: usize = 100;

/// A count of what may be left out; none if not even the outermost may.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
fn below(cut: f64) -> Option<usize> {
    (cut >= 0.0).then_some(cut as usize)
}
