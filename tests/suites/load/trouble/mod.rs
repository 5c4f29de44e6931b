//! A target that gives trouble: every trouble ends in a counted, named error, no client waits for ever,
//! and no session is left on the server. With `--reconnect` clients come back.

mod coming_back;
mod limits;
mod restart;
mod silence;

use std::time::{Duration, Instant};

use pgsurge_common::stats::Totals;
use pgsurge_tests::loading::{Loading, Prepared};
use pgsurge_tests::postgres::{Postgres, wait_until};

use super::{server, sessions};

/// Longer than any test waits.
const LONG: Duration = Duration::from_secs(600);

/// A statement that is in flight most of the time.
const BUSY: &str = "select pg_sleep(0.002);\n";

/// Clients that execute a script until they are stopped, or until trouble ends them.
fn endless(server: &Postgres, script: &str, reconnect: bool) -> Loading {
    let mut loading = Loading::script(server.port(), script).clients(4, 2).duration(LONG);
    loading.plan.load.reconnect = reconnect;
    loading
}

/// A load that has begun.
fn at_work(loading: &Loading) -> Prepared {
    let mut prepared = loading.prepare().unwrap();
    prepared.load.arm(Instant::now());
    prepared.wait_for_interval();
    prepared
}

/// Nobody stays on the server.
#[track_caller]
fn assert_gone(server: &Postgres) {
    wait_until("the last session is gone", || sessions(server) == "0");
}

/// Errors were counted, and all of them by these names.
#[track_caller]
fn assert_named(totals: &Totals, kinds: &[&str]) {
    let errors = &totals.errors.0;
    assert!(!errors.is_empty(), "nothing was counted");
    assert!(errors.keys().all(|kind| kinds.contains(&kind.as_str())), "{errors:?}");
}

/// Every session that was lost was replaced, and the connection phase does not show it.
#[track_caller]
fn assert_came_back(totals: &Totals, losses: u64) {
    let measured = &totals.measured;
    assert_eq!((measured.connection_failures, measured.reconnects), (losses, losses), "{totals:?}");
    assert_eq!((totals.reconnecting.len(), totals.aborted_clients), (losses, 0));
    assert!(measured.unreachable_us > 0);
    assert!(totals.outages.listed.iter().all(|outage| outage.over), "{:?}", totals.outages);
    assert_eq!(totals.connect.latency.len(), u64::from(totals.connect.obtained));
}
