//! Intervals of all agents become cluster intervals, in order and complete; totals are proven (I1).
//!
//! Pure: no clock, no network. Knows who is missing, because it is told who was lost, and keeps sums,
//! never a list that grows with the run (I7): the open intervals are bounded, the timeline is coarsened.
//! In reading order: [`Merger`] takes and yields intervals, [`Merged`] is what is left at the end,
//! [`Mismatch`] and [`Missing`] are what the proof found, [`Timeline`] is the run over time.

mod error;
mod lane;
mod merged;
mod merger;
mod proof;
mod queue;
mod setup;
mod slot;
mod sums;
mod timeline;

#[cfg(test)]
mod tests;

pub use error::MergeError;
pub use merged::{AgentMerged, Merged};
pub use merger::Merger;
pub use proof::{Between, Mismatch, Missing};
pub use setup::Setup;
pub use slot::{ClusterInterval, PartInterval};
pub use sums::Sums;
pub use timeline::{Timeline, TimelinePoint};
