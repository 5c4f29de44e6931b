//! Random numbers, bit for bit those of pgbench 15 and later: the generator, the order in which
//! streams are seeded, the distributions, the hashes and the permutation of its expressions.
//!
//! Nothing here knows scripts or plans, and nothing reads a clock: the same seed gives the same
//! values on every host, whatever the number of agents and workers.

mod distribution;
mod generator;
mod hash;
mod permute;
mod streams;

pub use distribution::{exponential, gaussian, poisson_gap_us, uniform, zipfian};
pub use generator::Generator;
pub use hash::{fnv1a, murmur2};
pub use permute::permute;
pub use streams::{ClientStreams, Streams, WorkerStreams};
