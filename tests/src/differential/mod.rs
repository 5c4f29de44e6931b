//! The real pgbench as the oracle: the same script, seed and options through pgbench and through
//! pgsurge against the same server, and what both did laid side by side.
//!
//! In reading order: what a case is ([`case`]), running it ([`sides`], [`field`]), what the server saw
//! ([`statements`]), what may differ by nature and is masked ([`mask`]), and the judgement
//! ([`verdict`]). Knows pgbench's and pgsurge's outside only.

pub mod case;
pub mod field;
pub mod mask;
pub mod sides;
pub mod statements;
pub mod verdict;
