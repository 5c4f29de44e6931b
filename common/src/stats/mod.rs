//! What comes out: histograms, counters, intervals and totals, and how they add up.
//!
//! A worker owns its statistics and nobody else writes to them; everything that crosses a thread or a
//! host is a value of this module. Times are whole microseconds.

mod counts;
mod histogram;
mod interval;
mod outage;
mod packed;
mod totals;

pub use counts::{Counts, ErrorCounts, Moments};
pub use histogram::{HIGHEST_US, Histogram, PRECISION, micros};
pub use interval::{Interval, Phase, ScriptStats, Vitals};
pub use outage::{Outage, Outages};
pub use packed::{DecodeError, PackedHistogram};
pub use totals::{ClientCount, ConnectStats, LogTotals, StatementStats, Totals};
