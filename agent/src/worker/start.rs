//! The instant at which all workers of a load begin, and calling it off.
//!
//! Invariant: either every worker begins or none does, however close the call comes to the instant:
//! the first worker that begins decides for all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// See the module.
#[derive(Debug, Default)]
pub struct Start {
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Idle,
    Armed(Instant),
    Begun(Instant),
}

impl Start {
    /// Names the instant; without effect once a worker has begun.
    pub fn arm(&self, start: Instant) {
        let mut state = self.lock();
        if !matches!(*state, State::Begun(_)) {
            *state = State::Armed(start);
        }
    }

    /// Calls the instant off; `false` if a worker has begun.
    pub fn disarm(&self) -> bool {
        let mut state = self.lock();
        if matches!(*state, State::Begun(_)) {
            return false;
        }
        *state = State::Idle;
        true
    }

    /// The instant, if one is named.
    pub fn instant(&self) -> Option<Instant> {
        match *self.lock() {
            State::Idle => None,
            State::Armed(start) | State::Begun(start) => Some(start),
        }
    }

    /// Begins if the instant has come and has not been called off; returns it then.
    pub fn begin(&self, now: Instant) -> Option<Instant> {
        let mut state = self.lock();
        match *state {
            State::Armed(start) if now >= start => {
                *state = State::Begun(start);
                Some(start)
            }
            State::Begun(start) => Some(start),
            State::Idle | State::Armed(_) => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_instant_can_be_called_off_until_the_first_worker_begins() {
        let start = Start::default();
        let now = Instant::now();
        assert!(start.begin(now).is_none());
        start.arm(now);
        assert!(start.disarm());
        assert!(start.begin(now).is_none());
        let later = now + Duration::from_secs(1);
        start.arm(later);
        assert!(start.begin(now).is_none());
        assert_eq!(start.begin(later), Some(later));
        assert!(!start.disarm());
        start.arm(now);
        assert_eq!(start.begin(now), Some(later));
    }
}
