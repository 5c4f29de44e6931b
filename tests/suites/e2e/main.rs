//! pgsurge end to end: its processes as users start them, against real PostgreSQL and against the fake
//! server whose speed is known.

#![allow(clippy::unwrap_used)]

mod bad_input;
mod collect;
mod ending;
mod files;
mod findings;
mod fixture;
mod hosts;
mod interrupts;
mod latency;
mod log;
mod loss;
mod memory;
mod observing;
mod one_report;
mod operating;
mod randomness;
mod secrets;
mod tables;
mod time;
mod trouble;
mod trust;
