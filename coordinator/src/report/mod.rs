//! What a run leaves behind: one result type, and printers over it.
//!
//! Knows nothing of agents' connections or of the state machine; writes to whatever `Write` it is
//! given. Start at [`RunResult`].

pub mod cluster;
mod evidence;
pub mod pgbench;
mod result;
mod scripts;
mod table;
mod timeline;

pub use result::{
    AgentResult, Clock, Digests, Lost, Merged, Options, Partitions, RunResult, ServerCount,
    ServerResult, StatementResult, Status,
};
pub use timeline::TimelineEntry;
