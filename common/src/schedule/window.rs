//! The phases of a run on the time axis of its load, in microseconds since the common start.

use crate::plan::{End, Load};
use crate::stats::{Phase, micros};

/// The warm-up is `[0, measure_start_us)`; the measured part follows, up to `end_us` if it is bounded in
/// time. What is in flight then still finishes and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where the measured part begins; 0 without a warm-up.
    pub measure_start_us: u64,
    /// No transaction begins at or after it; absent under `-t`.
    pub end_us: Option<u64>,
}

impl Window {
    /// The window that a plan's load asks for.
    #[must_use]
    pub fn of(load: &Load) -> Self {
        let measure_start_us = micros(load.warmup);
        let end_us = match load.end {
            End::Transactions(_) => None,
            End::Duration(length) => Some(measure_start_us.saturating_add(micros(length))),
        };
        Self { measure_start_us, end_us }
    }

    /// The phase to which a transaction belongs that was due (or, in a closed loop, began) at this time.
    #[must_use]
    pub fn phase(&self, us: u64) -> Phase {
        if us < self.measure_start_us { Phase::Warmup } else { Phase::Measure }
    }

    /// The time is over: no transaction begins any more, not even one that was due in time.
    #[must_use]
    pub fn is_over(&self, now_us: u64) -> bool {
        self.end_us.is_some_and(|end| now_us >= end)
    }

    /// Microseconds since the phase to which `us` belongs began.
    #[must_use]
    pub fn since_phase_start(&self, us: u64) -> u64 {
        us.checked_sub(self.measure_start_us).unwrap_or(us)
    }
}
