//! Whole runs through a connection pooler between pgsurge and the server: what must work there as it does
//! without one, and what cannot work and has to say so.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod fixture;
mod refusals;
mod work;
