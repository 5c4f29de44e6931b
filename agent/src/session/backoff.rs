//! How long to wait before dialling again.
//!
//! Pure: doubles from try to try up to a bound, and takes chance as an argument, so that a thousand agents
//! that lost the same coordinator do not come back at the same moment.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// The pause after another failure. `chance` shortens it by up to a half.
    pub fn next(&mut self, chance: u32) -> Duration {
        let doubled =
            FIRST.saturating_mul(2_u32.saturating_pow(self.failures.min(16))).min(LONGEST);
        self.failures += 1;
        let half = doubled / 2;
        half + half.mul_f64(f64::from(chance) / f64::from(u32::MAX))
    }

    /// It worked.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_two_seconds_and_begin_anew_after_success() {
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = (0..7).map(|_| backoff.next(u32::MAX).as_millis()).collect();
        assert_eq!(pauses, [100, 200, 400, 800, 1600, 2000, 2000]);
        backoff.reset();
        assert_eq!(backoff.next(0).as_millis(), 50);
    }
}
