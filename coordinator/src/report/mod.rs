//! What a run leaves behind: one result type, and printers over it.
//!
//! Knows nothing of agents' connections or of the state machine; writes to whatever `Write` it is
//! given. Start at [`RunResult`].

mod assemble;
mod bar;
pub mod cluster;
mod coverage;
mod evidence;
mod folder;
mod hlog;
mod intervals;
pub mod metrics;
mod parts;
pub mod pgbench;
mod plan_file;
mod progress;
mod result;
mod scripts;
mod server;
pub mod summary;
mod table;
mod timeline;

pub use assemble::{AgentPart, Parts};
pub use bar::Bar;
pub use folder::{Choice, DEFAULT_PARENT, Folder, ResultsError, json};
pub use hlog::HistogramLog;
pub use intervals::IntervalTable;
pub use progress::Progress;
pub use result::{
    AgentResult, Clock, Digests, Lost, Merged, Options, Partitions, RunResult, ServerCount,
    ServerResult, Span, StatementResult, Status,
};
pub use timeline::TimelineEntry;

/// Prints what stdout gets after the run: pgbench's report, then the cluster's block.
///
/// # Errors
/// The writer fails.
pub fn text(out: &mut impl std::io::Write, run: &RunResult) -> std::io::Result<()> {
    pgbench::report(out, run)?;
    cluster::report(out, run)
}

#[cfg(test)]
mod document_tests;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
