//! Lines for the user's stderr, so bounded that a storm of errors costs neither memory nor time.
//!
//! A worker may say so many lines between two refills; beyond that it counts, and tells the count.

use std::cell::Cell;

use pgsurge_common::ids::ClientId;

use crate::load::{Notice, NoticeLevel};

/// Lines that a worker may say a second; a thousand clients may all abort at once and say so.
const PER_REFILL: u32 = 1000;

/// See the module.
#[derive(Debug)]
pub struct Budget {
    left: Cell<u32>,
    swallowed: Cell<u64>,
}

impl Budget {
    /// A full budget.
    #[must_use]
    pub fn new() -> Self {
        Self { left: Cell::new(PER_REFILL), swallowed: Cell::new(0) }
    }

    /// Whether a line may be said; counts it either way.
    pub fn spend(&self) -> bool {
        let left = self.left.get();
        if left == 0 {
            self.swallowed.set(self.swallowed.get() + 1);
            return false;
        }
        self.left.set(left - 1);
        true
    }

    /// Fills the budget, once a second; says how many lines were swallowed, if any.
    pub fn refill(&self) -> Option<Notice> {
        self.left.set(PER_REFILL);
        let swallowed = self.swallowed.take();
        (swallowed > 0).then(|| Notice {
            client: None,
            level: NoticeLevel::Info,
            text: format!("{swallowed} further messages of this second are not shown"),
        })
    }
}

impl Notice {
    /// An error that a client met.
    #[must_use]
    pub fn error(client: ClientId, text: String) -> Self {
        Self { client: Some(client), level: NoticeLevel::Error, text }
    }

    /// Something about a client that is no error in itself.
    #[must_use]
    pub fn info(client: ClientId, text: String) -> Self {
        Self { client: Some(client), level: NoticeLevel::Info, text }
    }

    /// What the server or a script said in a client's session.
    #[must_use]
    pub fn raw(client: ClientId, text: String) -> Self {
        Self { client: Some(client), level: NoticeLevel::Raw, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_the_budget_are_counted_and_told_once() {
        let budget = Budget::new();
        let said = (0..PER_REFILL + 7).filter(|_| budget.spend()).count();
        assert_eq!(said, 1000);
        let told = budget.refill().map(|notice| notice.text);
        assert_eq!(told.as_deref(), Some("7 further messages of this second are not shown"));
        assert!(budget.refill().is_none());
        assert!(budget.spend());
    }
}
