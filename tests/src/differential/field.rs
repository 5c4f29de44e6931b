//! All cases against one version: one server, a few cases at a time, each in a database of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::case::Case;
use super::sides::{Outcome, Place, Side, run};
use super::statements::{self, Seen};
use super::verdict::{Runs, judge};
use crate::cluster::Cluster;
use crate::postgres::{Postgres, Version};
use crate::process::Running;

/// Most of a short run is waiting, so more of them at once than a small machine has cores.
const SLOTS: usize = 4;

/// Names cases to run in place of all, for whoever works on them: `PGSURGE_CASES=T44,T45`.
const ONLY: &str = "PGSURGE_CASES";

/// Runs all cases that are for a version; what is wrong with them.
///
/// # Panics
/// If the server cannot be had.
#[must_use]
pub fn examine(version: Version, cases: &[Case]) -> Vec<String> {
    let only = std::env::var(ONLY).ok();
    let named = |case: &&Case| {
        only.as_deref().is_none_or(|only| only.split(',').any(|name| case.id.starts_with(name)))
    };
    let cases: Vec<&Case> = cases.iter().filter(|c| c.is_for(version)).filter(named).collect();
    assert!(!cases.is_empty(), "no case is for version {}", version.major());
    let server = Postgres::start(version, &statements::settings());
    prepare(&server);
    let done: Vec<Mutex<Vec<Runs>>> = cases.iter().map(|_| Mutex::default()).collect();
    let mut wrong = Vec::new();
    // Agents look for their coordinator ever more rarely, so the runs that need them follow each other.
    for sides in [&[Side::Pgbench, Side::Local][..], &[Side::Cluster]] {
        let next = AtomicUsize::new(0);
        let round = Round { server: &server, cases: &cases, done: &done, next: &next, sides };
        std::thread::scope(|scope| {
            let slots: Vec<_> =
                (0..SLOTS).map(|slot| scope.spawn(move || round.work(slot))).collect();
            wrong
                .extend(slots.into_iter().flat_map(|slot| slot.join().expect("panics are caught")));
        });
    }
    let seen = Seen::read(&server.log());
    for (case, runs) in cases.iter().zip(&done) {
        wrong.extend(judge(case, version, &lock(runs), &seen));
    }
    wrong
}

/// A database for each slot, with pgbench's tables at scale 1.
fn prepare(server: &Postgres) {
    server.execute("create database slot0");
    let mut init = server.command("pgbench");
    init.args(["-i", "-q", "slot0"]);
    let _ = Running::run("init", &mut init, Duration::from_secs(60)).expect_code(0);
    for slot in 1..SLOTS {
        server.execute(&format!("create database slot{slot} template slot0"));
    }
}

/// One pass over the cases with some of the sides.
#[derive(Clone, Copy)]
struct Round<'a> {
    server: &'a Postgres,
    cases: &'a [&'a Case],
    done: &'a [Mutex<Vec<Runs>>],
    next: &'a AtomicUsize,
    sides: &'static [Side],
}

impl Round<'_> {
    /// Takes case after case; the panics of those that could not be run.
    fn work(self, slot: usize) -> Vec<String> {
        let database = format!("slot{slot}");
        let clustered = self.sides.contains(&Side::Cluster);
        let cluster = clustered.then(|| Cluster::start(2));
        let place = Place { server: self.server, database: &database, cluster: cluster.as_ref() };
        let mut wrong = Vec::new();
        while let Some(case) = self.cases.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if clustered && !case.cluster {
                continue;
            }
            match catch_unwind(AssertUnwindSafe(|| self.run(case, &place))) {
                Ok(runs) => self.keep(case, runs),
                Err(panic) => wrong.push(format!("{}: {}", case.id, text(&*panic))),
            }
        }
        wrong
    }

    fn run(self, case: &Case, place: &Place<'_>) -> Vec<Runs> {
        let on = |line, side: Side| -> (Side, Outcome) { (side, run(case, line, side, place)) };
        // Two agents need two clients.
        let can = |line, side: &Side| *side != Side::Cluster || case.has_several_clients(line);
        let runs = |line| {
            let sides = self.sides.iter().filter(|side| can(line, side));
            sides.map(|side| on(line, *side)).collect()
        };
        (0..case.options.len()).map(runs).collect()
    }

    fn keep(self, case: &Case, runs: Vec<Runs>) {
        let place = self.cases.iter().position(|c| c.id == case.id).expect("a case of these");
        let mut kept = lock(&self.done[place]);
        kept.resize_with(runs.len(), Vec::new);
        kept.iter_mut().zip(runs).for_each(|(kept, runs)| kept.extend(runs));
    }
}

fn lock(runs: &Mutex<Vec<Runs>>) -> std::sync::MutexGuard<'_, Vec<Runs>> {
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| Some((*panic.downcast_ref::<&str>()?).to_owned())).unwrap_or_default()
}
