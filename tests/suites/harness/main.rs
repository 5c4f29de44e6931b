//! The harness itself: what the suites build on must not lie to them.

#![allow(clippy::unwrap_used)]

mod fake_server;
mod faults;
mod process;

use std::time::Duration;

/// Far beyond what anything here takes; a deadline that is reached is a failure.
const SOON: Duration = Duration::from_secs(20);
