//! Chaos with a seed: a cluster on hosts of its own, a run, and what goes wrong in the middle of it.
//!
//! [`Schedule`] is a pure function of the seed, [`Site`] executes it, [`judge`] looks at what was seen. A schedule
//! that went wrong once goes wrong again as far as time allows: events come at the same moments, the machine may
//! be slower.

mod draw;
mod execute;
mod judge;
mod schedule;
mod site;

pub use execute::{Outcome, execute};
pub use judge::{Observed, Seen, judge};
pub use schedule::{Event, Policy, Protocol, Schedule, What, Workload};
pub use site::Site;
