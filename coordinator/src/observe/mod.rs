//! The target as the target sees itself, before and after a run, and the upkeep that pgbench does in between.
//!
//! Knows nothing of agents or of the run's state; writes only to what it is given. It never creates, drops or
//! loads a table: the upkeep empties `pgbench_history` and vacuums, as pgbench's does.
//!
//! In the order of a run: [`Session::open`], [`Facts::read`], [`Tables::read`] (built-in scripts only),
//! [`upkeep()`], [`prewarm()`], [`Before::read`], then an [`Observer`] beside the load; after the last client has left
//! [`After::read`], and [`Figures::between`].

mod connect;
mod counters;
mod error;
mod facts;
mod figures;
mod guard;
mod place;
mod prewarm;
mod sampling;
mod session;
mod slots;
mod tables;
mod upkeep;

pub use counters::{After, Before, Counters};
pub use error::TargetError;
pub use facts::{Facts, Identity};
pub use figures::Figures;
pub use prewarm::{Warm, prewarm};
pub use sampling::{Observed, Observer, Own, Starts, Watching};
pub(crate) use session::Canceller;
pub use session::{Rows, Session};
pub use slots::{Limit, Slots};
pub use tables::Tables;
pub use upkeep::upkeep;
