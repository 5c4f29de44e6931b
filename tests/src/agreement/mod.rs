//! Do pgbench and pgsurge agree? Generated expressions and scripts go through both, and what they say and
//! send is compared.
//!
//! In reading order: how either program is run (`tool`), what of its output has to be equal (`said`), what
//! reached a real server (`log`), expressions in batches ([`expressions`]), whole runs ([`scripts`]), and the
//! differences with a case to repeat them (`difference`). Knows neither language nor protocol: pgbench is the
//! judge.

mod difference;
pub mod expressions;
mod log;
mod parallel;
mod said;
pub mod scripts;
mod tool;

pub use difference::{Difference, Tally};
pub use tool::Tools;
