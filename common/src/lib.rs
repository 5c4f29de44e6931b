//! What both sides of a cluster must agree on, and nothing else: no network, no files, no clock.
//!
//! In reading order: names ([`ids`]), what is asked for ([`plan`], [`target`], [`tls`]), what is executed
//! ([`script`], [`workload`], [`random`]), when ([`schedule`]), what comes out ([`stats`],
//! [`outcome`]), and in what words ([`wording`]).

pub mod ids;
pub mod inference;
pub mod outcome;
pub mod plan;
pub mod random;
pub mod schedule;
pub mod script;
pub mod stats;
pub mod target;
pub mod tls;
pub mod wording;
pub mod workload;
