//! The instant at which all workers of a load begin, and calling it off.
//!
//! Invariant: either every worker begins or none does, however close the call comes to the instant:
//! the first worker that begins decides for all.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// When the clients of a load begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// The common start, from which the time of the run counts.
    pub start: Instant,
    /// So long after it; zero but for clients that join a run in course.
    pub after: Duration,
}

impl Begin {
    /// The instant itself; one beyond what the system can express never comes.
    fn instant(self) -> Option<Instant> {
        self.start.checked_add(self.after)
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct Start {
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Idle,
    Armed(Begin),
    Begun(Begin),
}

impl Start {
    /// Names the instant; without effect once a worker has begun.
    pub fn arm(&self, begin: Begin) {
        let mut state = self.lock();
        if !matches!(*state, State::Begun(_)) {
            *state = State::Armed(begin);
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
            State::Armed(begin) | State::Begun(begin) => begin.instant(),
        }
    }

    /// Begins if the instant has come and has not been called off; returns it then.
    pub fn begin(&self, now: Instant) -> Option<Begin> {
        let mut state = self.lock();
        match *state {
            State::Armed(begin) if begin.instant().is_some_and(|instant| now >= instant) => {
                *state = State::Begun(begin);
                Some(begin)
            }
            State::Begun(begin) => Some(begin),
            State::Idle | State::Armed(_) => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_can_be_called_off_until_the_first_worker_begins() {
        let start = Start::default();
        let now = Instant::now();
        let at = |start| Begin { start, after: Duration::ZERO };
        assert!(start.begin(now).is_none());
        start.arm(at(now));
        assert!(start.disarm());
        assert!(start.begin(now).is_none());
        let later = now + Duration::from_secs(1);
        start.arm(at(later));
        assert!(start.begin(now).is_none());
        assert_eq!(start.begin(later), Some(at(later)));
        assert!(!start.disarm());
        start.arm(at(now));
        assert_eq!(start.begin(now), Some(at(later)));
    }

    #[test]
    fn clients_that_join_later_wait_for_their_own_instant() {
        let start = Start::default();
        let now = Instant::now();
        let begin = Begin { start: now, after: Duration::from_secs(30) };
        start.arm(begin);
        assert_eq!(start.begin(now), None);
        assert_eq!(start.instant(), Some(now + begin.after));
        assert_eq!(start.begin(now + begin.after), Some(begin));
    }
}
