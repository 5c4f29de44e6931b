//! What was turned away at the port: logged within bounds, and the last ones kept for messages that must
//! say why an agent is missing. A flood of junk fills neither log nor memory.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Lines in one span of time; further ones are only counted.
const LINES: u32 = 10;
const SPAN: Duration = Duration::from_secs(10);

/// Kept for later.
const KEPT: usize = 3;

#[derive(Debug, Default)]
struct State {
    since: Option<Instant>,
    lines: u32,
    silent: u64,
    recent: VecDeque<String>,
}

impl State {
    /// Ends a span that is over; what was only counted in it.
    fn settle(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.duration_since(since) < SPAN) {
            return None;
        }
        (self.since, self.lines) = (None, 0);
        Some(std::mem::take(&mut self.silent)).filter(|silent| *silent > 0)
    }

    /// Takes a line; whether it is to be logged.
    fn add(&mut self, line: &str, now: Instant) -> bool {
        self.since.get_or_insert(now);
        if !self.recent.iter().any(|known| known == line) {
            self.recent.truncate(KEPT - 1);
            self.recent.push_front(line.to_owned());
        }
        if self.lines < LINES {
            self.lines += 1;
            return true;
        }
        self.silent += 1;
        false
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Complaints(Mutex<State>);

impl Complaints {
    pub fn add(&self, line: &str) {
        self.settle();
        if self.lock().add(line, Instant::now()) {
            tracing::warn!("{line}");
        }
    }

    /// Says how many were not logged once their time is over; to be called now and then.
    pub fn settle(&self) {
        tell(self.lock().settle(Instant::now()));
    }

    /// The same, before their time.
    pub fn close(&self) {
        let silent = std::mem::take(&mut self.lock().silent);
        tell(Some(silent).filter(|silent| *silent > 0));
    }

    /// The last different ones, newest first.
    pub fn recent(&self) -> Vec<String> {
        self.lock().recent.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell(silent: Option<u64>) {
    if let Some(silent) = silent {
        tracing::warn!(
            "{silent} more connections were turned away in the last {} s",
            SPAN.as_secs()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_different_complaints_are_kept() {
        let complaints = Complaints::default();
        for line in ["a", "b", "b", "c", "d", "d"] {
            complaints.add(line);
        }
        assert_eq!(complaints.recent(), ["d", "c", "b"]);
    }

    #[test]
    fn a_flood_is_counted_once_its_span_is_over_and_then_logged_again() {
        let mut state = State::default();
        let begun = Instant::now();
        let logged = (0..25).filter(|_| state.add("junk", begun)).count();
        assert_eq!(logged, 10);
        assert_eq!(state.settle(begun + SPAN / 2), None);
        assert_eq!(state.settle(begun + SPAN), Some(15));
        assert_eq!(state.settle(begun + 2 * SPAN), None);
        assert!(state.add("junk", begun + 2 * SPAN));
    }
}
