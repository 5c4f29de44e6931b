//! Times in which clients were without their sessions (`--reconnect`).
//!
//! Every worker keeps its own list; lists are joined where their times overlap, so that a restart of the
//! server is one outage however many workers and agents saw it.

/// A time in which at least one client was without its session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    /// The first loss, in microseconds since the measured part began; negative in the warm-up.
    pub start_us: i64,
    /// When no client was without a session any more, or was there to be.
    pub end_us: i64,
    /// All clients had a session again; otherwise the run ended before.
    pub over: bool,
    /// Clients that lost a session. One that lost it twice in a time that several workers bridge counts
    /// twice.
    pub clients: u32,
    /// What the first loss was.
    pub first_error: String,
    /// What kept clients away at last.
    pub last_error: String,
}

impl Outage {
    /// Its length in microseconds.
    #[must_use]
    pub fn length_us(&self) -> u64 {
        u64::try_from(self.end_us.saturating_sub(self.start_us)).unwrap_or(0)
    }

    /// Takes in one that did not begin earlier.
    fn join(&mut self, later: Self) {
        self.clients = self.clients.saturating_add(later.clients);
        self.over &= later.over;
        if later.end_us >= self.end_us {
            self.end_us = later.end_us;
            self.last_error = later.last_error;
        }
    }
}

/// Outages in the order of their time. Bounded, since they travel and are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outages {
    /// The first ones.
    pub listed: Vec<Outage>,
    /// How many there were beyond those.
    pub more: u64,
}

impl Outages {
    /// Outages that are kept apart.
    pub const MOST: usize = 100;

    /// Adds the next one.
    pub fn push(&mut self, outage: Outage) {
        if self.listed.len() < Self::MOST {
            self.listed.push(outage);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// Adds those of another worker or agent; what overlaps becomes one.
    pub fn merge(&mut self, other: &Self) {
        let mut all = std::mem::take(&mut self.listed);
        all.extend(other.listed.iter().cloned());
        all.sort_by_key(|outage| outage.start_us);
        self.more = self.more.saturating_add(other.more);
        let mut joined: Vec<Outage> = Vec::new();
        for outage in all {
            match joined.last_mut() {
                Some(last) if outage.start_us <= last.end_us => last.join(outage),
                _ => joined.push(outage),
            }
        }
        for outage in joined {
            self.push(outage);
        }
    }

    /// How many there were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.more.saturating_add(self.listed.len() as u64)
    }

    /// Length of the listed ones, which do not overlap, in microseconds.
    #[must_use]
    pub fn length_us(&self) -> u64 {
        self.listed.iter().map(Outage::length_us).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outage(start_us: i64, end_us: i64, error: &str) -> Outage {
        let error = error.to_owned();
        let (first_error, last_error) = (format!("first {error}"), format!("last {error}"));
        Outage { start_us, end_us, over: true, clients: 2, first_error, last_error }
    }

    fn outages(listed: &[Outage]) -> Outages {
        Outages { listed: listed.to_vec(), more: 0 }
    }

    #[test]
    fn what_overlaps_is_one_outage_with_the_first_and_the_last_error() {
        let mut merged = outages(&[outage(-5, 10, "a"), outage(30, 40, "b")]);
        merged.merge(&outages(&[outage(8, 20, "c"), outage(50, 60, "d")]));
        let spans: Vec<_> = merged.listed.iter().map(|o| (o.start_us, o.end_us)).collect();
        assert_eq!(spans, [(-5, 20), (30, 40), (50, 60)]);
        let first = &merged.listed[0];
        assert_eq!((first.first_error.as_str(), first.last_error.as_str()), ("first a", "last c"));
        assert_eq!((first.clients, first.over), (4, true));
        assert_eq!((merged.count(), merged.length_us()), (3, 45));
    }

    #[test]
    fn one_that_lasts_to_the_end_keeps_the_whole_from_being_over() {
        let mut merged = outages(&[outage(0, 10, "a")]);
        merged.merge(&outages(&[Outage { over: false, ..outage(5, 9, "b") }]));
        assert_eq!(merged.listed.len(), 1);
        assert!(!merged.listed[0].over);
        assert_eq!(merged.listed[0].last_error, "last a");
    }

    #[test]
    fn the_list_is_bounded_and_none_goes_uncounted() {
        let mut many = Outages::default();
        for n in 0..120 {
            many.push(outage(10 * n, 10 * n + 1, ""));
        }
        assert_eq!((many.listed.len(), many.count()), (Outages::MOST, 120));
        let mut twice = many.clone();
        twice.merge(&many);
        assert_eq!((twice.listed.len(), twice.more), (Outages::MOST, 40));
    }
}
