//! `compare`: sets of repeated runs against each other.

mod judge;
mod metric;
mod page;
mod sets;
mod table;

pub use judge::{Comparison, Difference, Word, compare};
pub use metric::Metric;
pub use page::page;
pub use sets::{Set, SetError, different};
pub use table::print;

/// Name and version of the form of its document.
pub const SCHEMA: &str = "pgsurge.compare/1";
