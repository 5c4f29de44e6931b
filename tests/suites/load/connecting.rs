//! Opening sessions: how many, how long, and why not more.

use std::time::Duration;

use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::loading::Loading;
use pgsurge_tests::postgres::{Postgres, Settings, Version, wait_until};

use super::server;

#[test]
fn all_sessions_are_open_before_the_start_and_the_server_is_known() {
    let server = server();
    let loading = Loading::script(server.port(), "select 1;\n").clients(20, 3);
    let prepared = loading.prepare().unwrap();
    let connect = &prepared.ready.connect;
    assert_eq!((connect.wanted, connect.obtained), (20, 20));
    assert_eq!(connect.latency.len(), 20);
    assert!(connect.errors.is_empty() && connect.elapsed_us > 0);
    let identity = connect.server_identity.clone().unwrap();
    assert!(identity.contains("system "), "{identity}");
    assert_eq!(prepared.ready.direct, Some(true));
    let sessions = "select count(*) from pg_stat_activity where application_name <> 'harness'
        and backend_type = 'client backend'";
    assert_eq!(server.value(sessions), "20");
    let again = loading.prepare().unwrap();
    assert_eq!(again.ready.connect.server_identity, Some(identity));
}

#[test]
fn a_role_that_may_not_read_the_system_identifier_still_names_the_server() {
    let server = server();
    server.execute("create role plain login");
    let mut loading = Loading::script(server.port(), "select 1;\n");
    loading.plan.target.user = "plain".into();
    let loaded = loading.run();
    let identity = loaded.ready.connect.server_identity.unwrap();
    assert!(identity.contains("postmaster start"), "{identity}");
}

#[test]
fn a_full_server_gives_what_it_has_and_the_reasons_are_counted() {
    let server = Postgres::start(Version::V15, &Settings::new().connections(10));
    let mut loading = Loading::script(server.port(), "select 1;\n").clients(15, 2);
    loading.plan.load.connect.timeout = Duration::from_secs(2);
    let loaded = loading.run();
    let connect = &loaded.ready.connect;
    assert_eq!((connect.wanted, connect.obtained), (15, 10));
    assert!(connect.errors.0["53300"] >= 5, "{:?}", connect.errors);
    assert!(connect.example.as_ref().unwrap().contains("too many clients"), "{connect:?}");
    assert_eq!(loaded.totals.measured.transactions, 100, "those that came work");
}

#[test]
fn slots_that_become_free_are_taken() {
    let server = Postgres::start(Version::V15, &Settings::new().connections(10));
    let first = Loading::script(server.port(), "select 1;\n").clients(8, 1).prepare().unwrap();
    let second = std::thread::spawn({
        let port = server.port();
        move || Loading::script(port, "select 1;\n").clients(8, 1).run()
    });
    wait_until("some are refused", || server.log().contains("too many clients"));
    drop(first);
    let loaded = second.join().unwrap();
    assert_eq!(loaded.ready.connect.obtained, 8);
    assert!(loaded.ready.connect.errors.0.contains_key("53300"));
    assert!(loaded.ready.connect.latency.moments().max > 25_000, "retries count");
}

#[test]
fn a_wrong_password_is_not_tried_again() {
    let server = server();
    server.execute("create role careful login password 'right'");
    server.set_hba(&[
        "host all careful 127.0.0.1/32 scram-sha-256",
        "host all all 127.0.0.1/32 trust",
    ]);
    let mut loading = Loading::script(server.port(), "select 1;\n").clients(50, 2);
    loading.plan.target.user = "careful".into();
    loading.plan.target.password = Some(pgsurge_common::target::Secret::new("wrong"));
    let ready = loading.prepare().unwrap().ready;
    assert_eq!(ready.connect.obtained, 0);
    assert!(ready.connect.errors.0["28P01"] <= 32, "{:?}", ready.connect.errors);
    let example = ready.connect.example.unwrap();
    assert!(example.contains("password authentication failed"), "{example}");
}

#[test]
fn nobody_listening_ends_at_the_deadline_with_the_errno() {
    let port = FakeServer::start(Behaviour::default()).port();
    let mut loading = Loading::script(port, "select 1;\n").clients(3, 1);
    loading.plan.load.connect.timeout = Duration::from_millis(500);
    let ready = loading.prepare().unwrap().ready;
    assert_eq!(ready.connect.obtained, 0);
    assert!(ready.connect.errors.0.contains_key("ECONNREFUSED"), "{:?}", ready.connect.errors);
    assert!(ready.connect.example.unwrap().contains("refused"));
}

#[test]
fn the_budget_bounds_how_many_connect_at_the_same_time() {
    let server = server();
    let mut loading = Loading::script(server.port(), "select 1;\n").clients(12, 3);
    loading.plan.load.connect.concurrency = 1;
    loading.plan.load.connect.rate_per_s = Some(100.0);
    let connect = loading.prepare().unwrap().ready.connect;
    assert_eq!(connect.obtained, 12);
    assert!(connect.elapsed_us >= 110_000, "12 sessions, 10 ms apart: {}", connect.elapsed_us);
}
