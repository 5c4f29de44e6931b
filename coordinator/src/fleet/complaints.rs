//! What was turned away at the port: logged within bounds, and the last ones kept for messages that must
//! say why an agent is missing. A flood of junk fills neither log nor memory.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
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

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Complaints(Mutex<State>);

impl Complaints {
    pub fn add(&self, line: &str) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.since.is_none_or(|since| since.elapsed() >= SPAN) {
            if state.silent > 0 {
                tracing::warn!("{} more connections were turned away", state.silent);
            }
            (state.since, state.lines, state.silent) = (Some(Instant::now()), 0, 0);
        }
        if state.lines < LINES {
            state.lines += 1;
            tracing::warn!("{line}");
        } else {
            state.silent += 1;
        }
        if !state.recent.iter().any(|known| known == line) {
            state.recent.truncate(KEPT - 1);
            state.recent.push_front(line.to_owned());
        }
    }

    /// The last different ones, newest first.
    pub fn recent(&self) -> Vec<String> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.recent.iter().cloned().collect()
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
}
