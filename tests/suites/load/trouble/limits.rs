//! Time limits of the server: on statements, on locks, on idle sessions.

use std::time::Instant;

use pgsurge_agent::load::Stop;
use pgsurge_tests::loading::Loading;
use pgsurge_tests::postgres::{Postgres, wait_until};

use super::{LONG, assert_gone, assert_named, server};

/// A limit, a script that runs into it, and what the server calls that.
struct Limit {
    option: &'static str,
    script: &'static str,
    sqlstate: &'static str,
    /// The server ends the session with it.
    ends_session: bool,
}

const LIMITS: [Limit; 4] = [
    Limit {
        option: "statement_timeout",
        script: "select pg_sleep(600);\n",
        sqlstate: "57014",
        ends_session: false,
    },
    Limit {
        option: "lock_timeout",
        script: "select pg_advisory_lock(1);\n",
        sqlstate: "55P03",
        ends_session: false,
    },
    Limit {
        option: "idle_in_transaction_session_timeout",
        script: "begin;\n\\sleep 1 s\nselect 1;\nend;\n",
        sqlstate: "25P03",
        ends_session: true,
    },
    Limit {
        option: "idle_session_timeout",
        script: "select 1;\n\\sleep 1 s\nselect 1;\n",
        sqlstate: "57P05",
        ends_session: true,
    },
];

impl Limit {
    fn loading(&self, server: &Postgres) -> Loading {
        let mut loading = Loading::script(server.port(), self.script).transactions(2);
        loading.plan.target.options = Some(format!("-c {}=50ms", self.option));
        loading
    }
}

/// A session that keeps a lock.
fn with_lock(server: &Postgres, test: impl FnOnce()) {
    let keeper = Loading::script(server.port(), "select pg_advisory_lock(1), pg_sleep(600);\n")
        .duration(LONG)
        .prepare()
        .unwrap();
    keeper.load.arm(Instant::now());
    let locks = "select count(*) from pg_locks where locktype = 'advisory' and granted";
    wait_until("the lock is taken", || server.value(locks) == "1");
    test();
    let _ = keeper.stop(Stop::Now);
}

#[test]
fn a_limit_of_the_server_ends_the_client_with_the_servers_word() {
    let server = server();
    with_lock(&server, || {
        for limit in &LIMITS {
            let totals = limit.loading(&server).run().totals;
            assert_eq!(totals.aborted_clients, 1, "{}", limit.option);
            assert_eq!(totals.errors.0.get(limit.sqlstate), Some(&1), "{:?}", totals.errors);
            assert_named(&totals, &[limit.sqlstate]);
        }
    });
    assert_gone(&server);
}

#[test]
fn or_it_fails_each_transaction_and_the_client_goes_on() {
    let server = server();
    with_lock(&server, || {
        for limit in &LIMITS {
            let mut loading = limit.loading(&server);
            loading.plan.workload.continue_on_error = true;
            loading.plan.load.reconnect = true;
            let totals = loading.run().totals;
            let measured = &totals.measured;
            let expected = if limit.ends_session { (0, 2) } else { (2, 0) };
            let found = (measured.other_failures, measured.connection_failures);
            assert_eq!((found, totals.aborted_clients), (expected, 0), "{}", limit.option);
            assert_eq!(totals.errors.0.get(limit.sqlstate), Some(&2), "{:?}", totals.errors);
        }
    });
    assert_gone(&server);
}
