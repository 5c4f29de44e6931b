//! The time of a run: nanoseconds since the load began, on this host's monotonic clock.
//!
//! No wall clock takes part. What lies before the beginning is the beginning.

use std::time::{Duration, Instant};

use pgsurge_common::schedule::Window;
use pgsurge_common::stats::Phase;

/// A point in the run: nanoseconds since the load began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunTime(u64);

impl RunTime {
    /// The beginning.
    pub const ZERO: Self = Self(0);

    /// So long after the beginning; saturates after 584 years.
    #[must_use]
    pub fn after(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    /// So many microseconds after the beginning.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1000))
    }

    /// Whole microseconds since the beginning.
    #[must_use]
    pub const fn us(self) -> u64 {
        self.0 / 1000
    }

    /// Microseconds since `earlier`, rounded; 0 if that is later.
    #[must_use]
    pub const fn us_since(self, earlier: Self) -> u64 {
        (self.0.saturating_sub(earlier.0) + 500) / 1000
    }

    /// The time since the beginning.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// A later point.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(Self::after(duration).0))
    }
}

/// Reads the time of a run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock of a load that begins at `origin`.
    #[must_use]
    pub const fn new(origin: Instant) -> Self {
        Self { origin }
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> RunTime {
        RunTime::after(Instant::now().saturating_duration_since(self.origin))
    }

    /// The instant of a point in the run; one beyond what the system can express is a century away.
    #[must_use]
    pub fn instant(&self, time: RunTime) -> Instant {
        let century = Duration::from_secs(100 * 365 * 86_400);
        self.origin + time.duration().min(century)
    }
}

/// The phases of a run cut into intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeline {
    window: Window,
}

impl Timeline {
    /// Length of an interval in microseconds.
    pub const INTERVAL_US: u64 = 1_000_000;

    /// The timeline of a load.
    #[must_use]
    pub fn new(window: Window) -> Self {
        Self { window }
    }

    /// The phases themselves.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The load has a warm-up.
    #[must_use]
    pub fn has_warmup(&self) -> bool {
        self.window.measure_start_us > 0
    }

    /// The measured part has begun.
    #[must_use]
    pub fn is_measuring(&self, now: RunTime) -> bool {
        now.us() >= self.window.measure_start_us
    }

    /// The phase of a transaction that is due (or begins) at `time`.
    #[must_use]
    pub fn phase(&self, time: RunTime) -> Phase {
        self.window.phase(time.us())
    }

    /// Microseconds since the measured part began.
    #[must_use]
    pub fn us_measured(&self, time: RunTime) -> u64 {
        time.us().saturating_sub(self.window.measure_start_us)
    }

    /// Microseconds since the measured part began; negative before.
    #[must_use]
    pub fn us_from_start(&self, time: RunTime) -> i64 {
        let signed = |us| i64::try_from(us).unwrap_or(i64::MAX);
        signed(time.us()) - signed(self.window.measure_start_us)
    }

    /// When an interval of a phase begins.
    #[must_use]
    pub fn beginning(&self, phase: Phase, index: u32) -> RunTime {
        let start_us = match phase {
            Phase::Warmup => 0,
            Phase::Measure => self.window.measure_start_us,
        };
        RunTime::from_us(start_us.saturating_add(Self::INTERVAL_US * u64::from(index)))
    }

    /// The interval of a phase in which something ended. The last one of the warm-up takes
    /// everything that ends later.
    #[must_use]
    pub fn index(&self, phase: Phase, end: RunTime) -> u32 {
        let (within_us, last) = match phase {
            Phase::Warmup => {
                let count = self.window.measure_start_us.div_ceil(Self::INTERVAL_US);
                (end.us(), count.saturating_sub(1))
            }
            Phase::Measure => (self.us_measured(end), u64::MAX),
        };
        u32::try_from((within_us / Self::INTERVAL_US).min(last)).unwrap_or(u32::MAX)
    }

    /// No transaction may begin any more.
    #[must_use]
    pub fn is_over(&self, now: RunTime) -> bool {
        self.window.is_over(now.us())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WARM: Timeline =
        Timeline { window: Window { measure_start_us: 2_500_000, end_us: Some(4_500_000) } };

    #[test]
    fn intervals_are_counted_from_the_beginning_of_their_phase() {
        for (phase, end_us, index) in [
            (Phase::Warmup, 0, 0),
            (Phase::Warmup, 999_999, 0),
            (Phase::Warmup, 1_000_000, 1),
            (Phase::Warmup, 2_499_999, 2),
            (Phase::Warmup, 9_000_000, 2),
            (Phase::Measure, 2_500_000, 0),
            (Phase::Measure, 3_499_999, 0),
            (Phase::Measure, 3_500_000, 1),
            (Phase::Measure, 12_500_000, 10),
        ] {
            let found = WARM.index(phase, RunTime::from_us(end_us));
            assert_eq!(found, index, "{phase:?} at {end_us} us");
        }
    }

    #[test]
    fn a_transaction_belongs_to_the_phase_in_which_it_is_due() {
        assert_eq!(WARM.phase(RunTime::from_us(2_499_999)), Phase::Warmup);
        assert_eq!(WARM.phase(RunTime::from_us(2_500_000)), Phase::Measure);
        assert!(!WARM.is_over(RunTime::from_us(4_499_999)));
        assert!(WARM.is_over(RunTime::from_us(4_500_000)));
    }

    #[test]
    fn times_are_rounded_to_microseconds_only_when_they_are_compared() {
        let begun = RunTime::after(Duration::from_nanos(1_600));
        let ended = RunTime::after(Duration::from_nanos(3_100));
        assert_eq!(ended.us_since(begun), 2);
        assert_eq!(begun.us_since(ended), 0);
    }
}
