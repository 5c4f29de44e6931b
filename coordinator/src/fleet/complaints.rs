//! What was turned away at the port: logged within bounds, and the last reasons kept for messages that must
//! say why an agent is missing. A flood of junk fills neither log nor memory, and does not push aside
//! what an agent of one's own was turned away for.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Lines in one span of time, in all and for one reason; further ones are only counted.
const LINES: usize = 10;
const LINES_OF_A_REASON: usize = 3;
const SPAN: Duration = Duration::from_secs(10);

/// Reasons kept for later.
const KEPT: usize = 3;

#[derive(Debug, Default)]
struct State {
    since: Option<Instant>,
    /// Reasons of the lines of this span.
    logged: Vec<String>,
    silent: u64,
    recent: VecDeque<Turned>,
}

/// Who was turned away for one reason, and how often.
#[derive(Debug)]
struct Turned {
    who: String,
    why: String,
    times: u64,
}

impl State {
    /// Ends a span that is over; what was only counted in it.
    fn settle(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.duration_since(since) < SPAN) {
            return None;
        }
        self.since = None;
        self.logged.clear();
        Some(std::mem::take(&mut self.silent)).filter(|silent| *silent > 0)
    }

    /// Takes a complaint; whether it is to be logged.
    fn add(&mut self, who: &str, why: &str, now: Instant) -> bool {
        self.since.get_or_insert(now);
        let known = self.recent.iter().position(|turned| turned.why == why);
        let times = known.and_then(|at| self.recent.remove(at)).map_or(0, |turned| turned.times);
        self.recent.truncate(KEPT - 1);
        let turned = Turned { who: who.to_owned(), why: why.to_owned(), times: times + 1 };
        self.recent.push_front(turned);
        let of_this = self.logged.iter().filter(|logged| *logged == why).count();
        if self.logged.len() < LINES && of_this < LINES_OF_A_REASON {
            self.logged.push(why.to_owned());
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
    /// `who` was turned away, and why.
    pub fn add(&self, who: &str, why: &str) {
        self.settle();
        if self.lock().add(who, why, Instant::now()) {
            tracing::warn!("{who} was turned away: {why}");
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

    /// The last of each of the last reasons, newest first.
    pub fn recent(&self) -> Vec<String> {
        let shown = |turned: &Turned| {
            let Turned { who, why, times } = turned;
            let others = if *times > 1 { format!(" ({times} times)") } else { String::new() };
            format!("{who}{others}: {why}")
        };
        self.lock().recent.iter().map(shown).collect()
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
    fn the_last_reasons_are_kept_whoever_else_came_for_the_same() {
        let complaints = Complaints::default();
        for (who, why) in [("1", "a"), ("2", "b"), ("3", "c"), ("4", "d"), ("5", "b"), ("6", "b")] {
            complaints.add(who, why);
        }
        assert_eq!(complaints.recent(), ["6 (3 times): b", "4: d", "3: c"]);
    }

    #[test]
    fn a_flood_is_counted_once_its_span_is_over_and_then_logged_again() {
        let mut state = State::default();
        let begun = Instant::now();
        let logged = (0..25).filter(|_| state.add("a stranger", "junk", begun)).count();
        assert_eq!(logged, LINES_OF_A_REASON);
        assert!(state.add("an agent", "expired", begun), "junk has pushed it aside");
        let logged = (0..25).filter(|n| state.add("a liar", &n.to_string(), begun)).count();
        assert_eq!(logged, LINES - LINES_OF_A_REASON - 1);
        let counted = 26 + 25 - u64::try_from(LINES).unwrap_or_default();
        assert_eq!(state.settle(begun + SPAN / 2), None);
        assert_eq!(state.settle(begun + SPAN), Some(counted));
        assert_eq!(state.settle(begun + 2 * SPAN), None);
        assert!(state.add("a stranger", "junk", begun + 2 * SPAN));
    }
}
