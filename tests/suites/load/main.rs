//! One agent's share of a run against real servers and against one whose speed is known.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod connecting;
mod counting;
mod errors;
mod pace;
mod protocols;
mod stopping;
mod trouble;

use pgsurge_tests::postgres::{Postgres, Settings, Version};

/// A server of the older version, which every machine has.
fn server() -> Postgres {
    Postgres::start(Version::V15, &Settings::new())
}

/// Sessions on the server that are not the harness's.
fn sessions(server: &Postgres) -> String {
    server.value(
        "select count(*) from pg_stat_activity where backend_type = 'client backend'
         and application_name <> 'harness'",
    )
}

/// pgbench's tables at scale 1.
fn with_tables(server: &Postgres) {
    let made = server.command("pgbench").args(["-iq", "postgres"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
