//! Connections over which no agent has come yet, oldest first. Their number is bounded, and where there is no room
//! the oldest goes: an agent says hello within moments, so a crowd that says nothing keeps no agent out.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// Why one had to go.
pub(super) const NO_ROOM: &str = "no agent came over it and newer connections needed its place";

/// See the module.
#[derive(Debug)]
pub(super) struct Strangers {
    most: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    by_age: BTreeMap<u64, CancellationToken>,
}

impl Strangers {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, waiting: Mutex::default() })
    }

    /// Takes one more, at the cost of the oldest where there are too many.
    pub fn take(self: &Arc<Self>) -> Stranger {
        let mut waiting = self.lock();
        if waiting.by_age.len() >= self.most {
            waiting.oldest_out();
        }
        waiting.last += 1;
        let (age, out) = (waiting.last, CancellationToken::new());
        waiting.by_age.insert(age, out.clone());
        Stranger { strangers: Arc::clone(self), age, out }
    }

    /// The oldest is to go, if there is one.
    pub fn turn_out(&self) {
        self.lock().oldest_out();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn oldest_out(&mut self) {
        if let Some((_, out)) = self.by_age.pop_first() {
            out.cancel();
        }
    }
}

/// One of them; no longer once it is dropped.
#[derive(Debug)]
pub(super) struct Stranger {
    strangers: Arc<Strangers>,
    age: u64,
    out: CancellationToken,
}

impl Stranger {
    /// Cancelled when it has to go.
    pub fn out(&self) -> CancellationToken {
        self.out.clone()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.strangers.lock().by_age.remove(&self.age);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_and_whoever_became_an_agent_stays() {
        let strangers = Strangers::new(3);
        let [first, second, third] = [(); 3].map(|()| strangers.take());
        let outs = [&first, &second, &third].map(Stranger::out);
        let is_out = || outs.clone().map(|out| out.is_cancelled());
        // The first is none of them any more.
        drop(first);
        let fourth = strangers.take();
        assert_eq!(is_out(), [false; 3]);
        let _fifth = strangers.take();
        assert_eq!(is_out(), [false, true, false]);
        strangers.turn_out();
        assert_eq!(is_out(), [false, true, true]);
        assert!(!fourth.out().is_cancelled());
    }
}
