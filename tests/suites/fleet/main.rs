//! Coordinator and agents over real connections, with a load that is a timetable instead of a database:
//! what was produced is known, so that a lost or doubled interval shows.

#![allow(clippy::unwrap_used)]

mod floods;
mod frames;
mod junk;
mod lease;
mod liars;
mod logs;
mod reattach;
mod rebalance;
mod renewal;
mod runs;
mod scene;
mod silence;
mod simulation;
mod tls;

use std::time::Duration;

/// Far beyond what anything here takes; a deadline that is reached is a failure.
const SOON: Duration = Duration::from_secs(60);
