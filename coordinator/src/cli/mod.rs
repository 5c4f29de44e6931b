//! What the user types: one file a subcommand, over a shared reading of pgbench's options.

pub mod agent;
pub mod bench;
pub mod capacity;
pub mod certs;
pub mod compare;
pub mod completions;
mod connection;
mod experiment;
pub mod help;
pub mod init;
mod invocation;
pub mod logging;
pub mod man;
mod read;
pub mod report;
pub mod run;
pub mod sweep;
mod table;
mod target;
pub mod tell;
pub mod tune;
mod usage;
mod values;
pub mod version;

pub use connection::ConnectionArgs;
pub use invocation::{Invocation, Verbosity};
pub use read::CommandLine;
pub use usage::UsageError;
