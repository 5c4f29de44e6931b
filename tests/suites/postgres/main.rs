//! What talks to a real PostgreSQL server: the harness itself, pgbench's tables, and the view of the target.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod connect;
mod harness;
mod init;
mod observe;
mod servers;
mod wire;

use pgsurge_common::target::{Address, Host, Target};
use pgsurge_tests::postgres::Postgres;

/// The server over TCP as `postgres`, without TLS unless it has it.
fn target(server: &Postgres, database: &str) -> Target {
    let address = Address::Tcp { name: "127.0.0.1".into(), addr: None };
    let host = Host { address, port: server.port(), password: None };
    let mut target = Target::new(vec![host], "postgres", database);
    target.application_name = "pgsurge".into();
    target
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.unwrap().block_on(future)
}
