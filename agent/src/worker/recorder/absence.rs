//! The clients of one worker that are without a session: how many, since when, and the outages that
//! their absences add up to.
//!
//! Touched when a session is lost or regained, never by a transaction.

use std::collections::BTreeSet;

use pgsurge_common::ids::ClientId;
use pgsurge_common::stats::{Outage, Outages};

use super::super::clock::RunTime;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Absence {
    clients: u32,
    /// Up to when their time is booked.
    booked: RunTime,
    current: Option<Current>,
    past: Outages,
}

#[derive(Debug)]
struct Current {
    outage: Outage,
    /// Everybody who lost a session in it.
    clients: BTreeSet<ClientId>,
    /// One of them ended without getting another.
    unfinished: bool,
}

impl Absence {
    /// Clients without a session.
    pub(super) fn clients(&self) -> u32 {
        self.clients
    }

    /// There are any.
    pub(super) fn is_any(&self) -> bool {
        self.clients > 0
    }

    /// Time goes on to `now`; the stretch to be booked and for how many clients.
    pub(super) fn pass(&mut self, now: RunTime) -> Option<(RunTime, u32)> {
        let since = self.booked.min(now);
        self.booked = self.booked.max(now);
        self.is_any().then_some((since, self.clients))
    }

    /// A client is without a session from now on; `true` if it is the only one.
    pub(super) fn begin(&mut self, client: ClientId, at_us: i64, error: &str) -> bool {
        self.clients += 1;
        let first = self.current.is_none();
        let current = self.current.get_or_insert_with(|| Current {
            outage: Outage { start_us: at_us, first_error: error.into(), ..Outage::default() },
            clients: BTreeSet::new(),
            unfinished: false,
        });
        current.clients.insert(client);
        self.go_on(error);
        first
    }

    /// What keeps clients away by now.
    pub(super) fn go_on(&mut self, error: &str) {
        if let Some(Current { outage, .. }) = &mut self.current {
            error.clone_into(&mut outage.last_error);
        }
    }

    /// A client has a session again, or no need of one, or ends without; `true` if nobody is without any more.
    pub(super) fn end_one(&mut self, at_us: i64, settled: bool) -> bool {
        self.clients = self.clients.saturating_sub(1);
        if !settled && let Some(current) = &mut self.current {
            current.unfinished = true;
        }
        if self.clients > 0 {
            return false;
        }
        self.close(at_us);
        true
    }

    /// The worker ends; whoever is still without ends so.
    pub(super) fn finish(mut self, at_us: i64) -> Outages {
        if let Some(current) = &mut self.current {
            current.unfinished = true;
        }
        self.close(at_us);
        self.past
    }

    fn close(&mut self, at_us: i64) {
        let Some(Current { mut outage, clients, unfinished }) = self.current.take() else { return };
        outage.end_us = at_us.max(outage.start_us);
        outage.over = !unfinished;
        outage.clients = u32::try_from(clients.len()).unwrap_or(u32::MAX);
        self.past.push(outage);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absences_that_overlap_are_one_outage() {
        let mut absence = Absence::default();
        assert!(absence.begin(ClientId(1), 100, "57P01"));
        assert!(!absence.begin(ClientId(2), 150, "closed"));
        absence.go_on("ECONNREFUSED");
        assert!(!absence.end_one(200, true));
        assert!(!absence.begin(ClientId(1), 220, "57P03"));
        assert!(!absence.end_one(250, true));
        assert!(absence.end_one(300, true));
        assert!(absence.begin(ClientId(1), 400, "ETIMEDOUT"));
        let past = absence.finish(500);
        let told: Vec<_> =
            past.listed.iter().map(|o| (o.start_us, o.end_us, o.clients, o.over)).collect();
        assert_eq!(told, [(100, 300, 2, true), (400, 500, 1, false)]);
        let errors = (past.listed[0].first_error.as_str(), past.listed[0].last_error.as_str());
        assert_eq!(errors, ("57P01", "57P03"));
    }

    #[test]
    fn time_passes_for_those_who_are_without_only() {
        let at = RunTime::from_us;
        let mut absence = Absence::default();
        assert_eq!(absence.pass(at(10)), None);
        absence.begin(ClientId(1), 10, "");
        assert_eq!(absence.pass(at(30)), Some((at(10), 1)));
        absence.begin(ClientId(2), 30, "");
        assert_eq!(absence.pass(at(25)), Some((at(25), 2)), "never backwards");
        assert_eq!(absence.pass(at(40)), Some((at(30), 2)));
    }
}
