//! How long a target is full before those that may do with fewer sessions stop asking.
//!
//! Pure. A limit of the server does not change by waiting; what can free a place is a session of somebody else
//! that ends, and then another session is obtained.

use std::time::{Duration, Instant};

/// Sessions of an earlier run, or of agents that give up, are gone after so long.
const FOR_GOOD_AFTER: Duration = Duration::from_secs(5);

/// SQLSTATE of a server (or role, or database) that takes no further session.
const TOO_MANY: &str = "53300";

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Fullness {
    since: Option<Instant>,
}

impl Fullness {
    /// A session was obtained: there was a place.
    pub(super) fn obtained(&mut self) {
        self.since = None;
    }

    /// A session was refused with this kind of error; returns whether to stop asking.
    pub(super) fn refused(&mut self, kind: &str, now: Instant) -> bool {
        if kind != TOO_MANY {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        now.saturating_duration_since(since) >= FOR_GOOD_AFTER
    }
}

#[cfg(test)]
mod tests {
    use super::{FOR_GOOD_AFTER, Fullness};
    use std::time::{Duration, Instant};

    #[test]
    fn only_a_target_that_stays_full_is_given_up() {
        let begun = Instant::now();
        let almost = begun + FOR_GOOD_AFTER.saturating_sub(Duration::from_millis(1));
        let mut full = Fullness::default();
        assert!(!full.refused("53300", begun));
        assert!(!full.refused("53300", almost));
        assert!(full.refused("53300", begun + FOR_GOOD_AFTER));
        full.obtained();
        assert!(!full.refused("53300", begun + 2 * FOR_GOOD_AFTER));
        assert!(!full.refused("ECONNREFUSED", begun + 3 * FOR_GOOD_AFTER));
        assert!(!full.refused("53300", begun + 4 * FOR_GOOD_AFTER));
    }
}
