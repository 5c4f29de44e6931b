//! What talks to a real PostgreSQL server: the harness itself, pgbench's tables, and the view of the target.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod harness;
