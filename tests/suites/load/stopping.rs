//! How a load ends before its own end, and that it begins when it is told.

use std::time::{Duration, Instant};

use pgsurge_agent::load::Stop;
use pgsurge_tests::loading::Loading;
use pgsurge_tests::postgres::{Postgres, wait_until};

use super::{server, sessions};

const LONG: Duration = Duration::from_secs(600);

fn active(server: &Postgres) -> String {
    server.value(
        "select count(*) from pg_stat_activity where state = 'active' and query like '%pg_sleep%'
         and pid <> pg_backend_pid()",
    )
}

#[test]
fn nothing_begins_before_the_instant_and_it_can_be_called_off() {
    let server = server();
    server.execute("create table begun(at timestamptz)");
    let script = "insert into begun values (clock_timestamp());\n";
    let prepared =
        Loading::script(server.port(), script).clients(4, 2).transactions(1).prepare().unwrap();
    prepared.load.arm(Instant::now() + LONG);
    assert!(prepared.load.disarm());
    assert_eq!(server.value("select count(*) from begun"), "0");
    let named = Instant::now() + Duration::from_millis(200);
    prepared.load.arm(named);
    let loaded = prepared.finish();
    assert!(Instant::now() >= named);
    assert_eq!(loaded.totals.measured.transactions, 4);
    assert!(loaded.totals.start_offset_us >= 0);
    assert_eq!(server.value("select count(*) from begun"), "4");
}

#[test]
fn once_begun_it_cannot_be_called_off() {
    let server = server();
    let mut prepared =
        Loading::script(server.port(), "select 1;\n").duration(LONG).prepare().unwrap();
    prepared.load.arm(Instant::now());
    prepared.wait_for_interval();
    assert!(!prepared.load.disarm());
    let loaded = prepared.stop(Stop::Drain);
    assert!(loaded.totals.measured.transactions > 0);
}

#[test]
fn a_stop_while_sessions_are_being_opened_ends_the_load() {
    let server = server();
    let mut loading = Loading::script(server.port(), "select 1;\n").clients(4, 2);
    // The second session would be opened after a quarter of an hour.
    loading.plan.load.connect.rate_per_s = Some(0.001);
    loading.plan.load.connect.timeout = LONG;
    let prepared = loading.prepare_while(|load| {
        wait_until("one session is open", || sessions(&server) == "1");
        load.stop(Stop::Now);
    });
    let loaded = prepared.unwrap().finish();
    // The server may know a session before its client has heard that it is open.
    assert!(loaded.ready.connect.obtained <= 1, "{:?}", loaded.ready.connect);
    assert_eq!(loaded.totals.measured.transactions, 0);
    wait_until("sessions are closed", || sessions(&server) == "0");
}

#[test]
fn draining_lets_transactions_in_flight_finish() {
    let server = server();
    let prepared = Loading::script(server.port(), "select pg_sleep(1);\n")
        .clients(3, 2)
        .duration(LONG)
        .prepare()
        .unwrap();
    prepared.load.arm(Instant::now());
    wait_until("all are at work", || active(&server) == "3");
    let loaded = prepared.stop(Stop::Drain);
    assert_eq!(loaded.by_client(), [1, 1, 1]);
    assert_eq!(loaded.totals.aborted_clients, 0);
    wait_until("sessions are closed", || sessions(&server) == "0");
}

#[test]
fn stopping_at_once_cancels_what_the_server_is_doing() {
    let server = server();
    let prepared = Loading::script(server.port(), "select pg_sleep(600);\n")
        .clients(40, 2)
        .duration(LONG)
        .prepare()
        .unwrap();
    prepared.load.arm(Instant::now());
    wait_until("all are at work", || active(&server) == "40");
    let loaded = prepared.stop(Stop::Now);
    assert_eq!(loaded.totals.measured.transactions, 0);
    assert_eq!(loaded.totals.aborted_clients, 0, "they did not fail by themselves");
    wait_until("nothing runs on", || active(&server) == "0" && sessions(&server) == "0");
    assert!(!loaded.totals.commits_unpredictable.is_empty());
}

#[test]
fn a_drain_timeout_cuts_off_what_does_not_end() {
    let server = server();
    let mut loading =
        Loading::script(server.port(), "select pg_sleep(600) where :client_id = 1;\n")
            .clients(3, 1)
            .duration(Duration::from_secs(1));
    loading.plan.load.drain_timeout = Some(Duration::from_millis(500));
    let loaded = loading.run();
    assert_eq!(loaded.totals.aborted_clients, 1);
    assert!(loaded.totals.aborted[0].1.contains("drain timeout of 0.5 s"));
    wait_until("nothing runs on", || active(&server) == "0");
}

#[test]
fn a_client_that_waits_for_its_slot_leaves_when_the_load_drains() {
    let server = server();
    let mut loading = Loading::script(server.port(), "select 1;\n").clients(4, 2).duration(LONG);
    loading.plan.load.rate_tps = Some(0.01);
    let mut prepared = loading.prepare().unwrap();
    prepared.load.arm(Instant::now());
    prepared.wait_for_interval();
    let loaded = prepared.stop(Stop::Drain);
    assert!(loaded.totals.measured.transactions <= 1);
}

#[test]
fn dropping_the_load_ends_it() {
    let server = server();
    let prepared = Loading::script(server.port(), "select pg_sleep(600);\n")
        .clients(2, 2)
        .duration(LONG)
        .prepare()
        .unwrap();
    prepared.load.arm(Instant::now());
    wait_until("all are at work", || active(&server) == "2");
    drop(prepared);
    wait_until("nothing is left", || active(&server) == "0" && sessions(&server) == "0");
}

#[test]
fn a_stop_before_the_start_closes_the_sessions() {
    let server = server();
    let prepared = Loading::script(server.port(), "select 1;\n").clients(5, 2).prepare().unwrap();
    let loaded = prepared.stop(Stop::Drain);
    assert_eq!(loaded.totals.measured.transactions, 0);
    assert!(loaded.intervals.is_empty());
    wait_until("sessions are closed", || sessions(&server) == "0");
}

#[test]
fn a_shell_command_does_not_keep_a_stopped_load() {
    let server = server();
    let mut loading =
        Loading::script(server.port(), "select 1;\n\\shell sleep 300\n").duration(LONG);
    loading.options.allow_shell = true;
    let prepared = loading.prepare().unwrap();
    prepared.load.arm(Instant::now());
    let begun = Instant::now();
    wait_until("the script has come to the command", || {
        server.value("select count(*) from pg_stat_activity where query = 'select 1;'") == "1"
    });
    let loaded = prepared.stop(Stop::Now);
    assert_eq!(loaded.totals.measured.transactions, 0);
    assert!(begun.elapsed() < Duration::from_secs(200), "it waited for the command");
}
