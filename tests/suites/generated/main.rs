//! Generated inputs: pgbench and pgsurge agree on them, and no decoder is harmed by them. A bounded sample at fixed
//! seeds; `tests/nightly` has no bounds.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod agreement;
mod decoders;
