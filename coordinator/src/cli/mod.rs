//! What the user types: one file a subcommand, over a shared reading of pgbench's options.

mod read;
mod table;
mod usage;
mod values;
