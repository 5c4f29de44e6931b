//! Where clients come back to, and what keeps them away for good.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use pgsurge_agent::load::Stop;
use pgsurge_common::stats::Interval;
use pgsurge_common::target::{Host, Secret, SessionAttrs};
use pgsurge_tests::postgres::{Postgres, Settings, Version, wait_until};
use pgsurge_tests::proxy::Proxy;

use super::{
    BUSY, assert_came_back, assert_gone, assert_named, at_work, endless, server, sessions,
};

/// Ends some sessions of the load.
fn terminate(server: &Postgres, sessions: u32) {
    server.execute(&format!(
        "select pg_terminate_backend(pid) from pg_stat_activity \
         where backend_type = 'client backend' and application_name <> 'harness' limit {sessions}"
    ));
}

#[test]
fn sessions_that_an_administrator_ends_are_counted_and_replaced_if_that_is_wanted() {
    let server = server();
    for reconnect in [false, true] {
        let mut work = at_work(&endless(&server, BUSY, reconnect));
        terminate(&server, 3);
        let lost = |interval: &Interval| interval.errors.0.get("57P01").copied().unwrap_or(0);
        work.wait_until(|intervals| intervals.iter().map(lost).sum::<u64>() == 3);
        if reconnect {
            work.wait_for(|interval| interval.clients == 4);
        }
        let totals = work.stop(Stop::Drain).totals;
        assert_named(&totals, &["57P01"]);
        if reconnect {
            assert_came_back(&totals, 3);
            let clients: u32 = totals.outages.listed.iter().map(|outage| outage.clients).sum();
            assert_eq!(clients, 3, "{:?}", totals.outages);
        } else {
            assert_eq!((totals.aborted_clients, totals.measured.failed()), (3, 0));
        }
        assert_gone(&server);
    }
}

#[test]
fn sessions_that_are_lost_at_once_time_and_again_do_not_become_a_storm() {
    let server = server();
    let script = "select pg_terminate_backend(pg_backend_pid());\n";
    let loading = endless(&server, script, true).duration(Duration::from_secs(2));
    let totals = loading.run().totals;
    // Pauses of at least 25, 50, 100, 200, 400 and 800 ms: six or seven losses of each client.
    let losses = totals.measured.connection_failures;
    assert!((4..=32).contains(&losses), "{losses} losses");
    assert_gone(&server);
}

#[test]
fn what_was_committed_when_the_connection_was_cut_is_of_unknown_outcome() {
    let server = server();
    server.execute("create table seen(n int)");
    let rows = || server.value("select count(*) from seen").parse::<u64>().unwrap();
    let proxy = Proxy::start(SocketAddr::from((Ipv4Addr::LOCALHOST, server.port())));
    let mut loading = endless(&server, "insert into seen values (1);\n", true).clients(1, 1);
    loading.plan.target.hosts[0].port = proxy.address().port();
    let work = at_work(&loading);
    // What the server says from here on takes its time, and does not arrive.
    proxy.delay(Duration::from_secs(1));
    for _ in 0..3 {
        let before = rows();
        wait_until("a row is committed", || rows() > before);
        proxy.cut();
    }
    proxy.delay(Duration::ZERO);
    let totals = work.stop(Stop::Drain).totals;
    let (reported, unknown) = (totals.measured.transactions, totals.measured.connection_failures);
    assert!(reported < rows() && rows() <= reported + unknown, "{reported}, {unknown}, {}", rows());
    assert_gone(&server);
}

#[test]
fn clients_wait_for_a_slot_as_long_as_there_is_none() {
    let server = server();
    server.execute("create role few login connection limit 4");
    let mut loading = endless(&server, BUSY, true);
    loading.plan.target.user = "few".into();
    let mut work = at_work(&loading);
    server.execute("alter role few connection limit 2");
    terminate(&server, 4);
    work.wait_for(|interval| (interval.clients, interval.disconnected) == (2, 2));
    work.wait_for(|interval| interval.errors.0.contains_key("53300"));
    server.execute("alter role few connection limit 4");
    work.wait_for(|interval| interval.clients == 4);
    let totals = work.stop(Stop::Drain).totals;
    assert_came_back(&totals, 4);
    assert_named(&totals, &["57P01", "53300"]);
    assert!(totals.outages.listed.iter().any(|outage| outage.last_error.contains("too many")));
    assert_gone(&server);
}

#[test]
fn a_client_that_is_not_let_in_any_more_ends() {
    let server = server();
    server.execute("create role guest login password 'old'");
    server.set_hba(&["host all guest 127.0.0.1/32 scram-sha-256"]);
    let mut loading = endless(&server, BUSY, true);
    loading.plan.target.user = "guest".into();
    loading.plan.target.password = Some(Secret::new("old"));
    let work = at_work(&loading);
    server.execute("alter role guest password 'new'");
    terminate(&server, 4);
    let loaded = work.finish();
    assert_eq!(loaded.totals.aborted_clients, 4);
    loaded.assert_notice("could not reconnect: connection to server");
    assert_named(&loaded.totals, &["57P01", "28P01"]);
    assert_gone(&server);
}

#[test]
fn clients_follow_a_failover_to_the_host_that_takes_writes_by_then() {
    let mut first = server();
    let settings = Settings::new().set("default_transaction_read_only", "on");
    let second = Postgres::start(Version::V15, &settings);
    let mut loading = endless(&first, BUSY, true);
    let host = loading.plan.target.hosts[0].clone();
    loading.plan.target.hosts.push(Host { port: second.port(), ..host });
    loading.plan.target.session_attrs = SessionAttrs::ReadWrite;
    let mut work = at_work(&loading);
    assert_eq!((sessions(&first).as_str(), sessions(&second).as_str()), ("4", "0"));
    first.stop();
    work.wait_for(|interval| interval.errors.0.contains_key("attributes"));
    second.execute("alter system set default_transaction_read_only = off");
    second.reload();
    work.wait_for(|interval| interval.clients == 4);
    wait_until("all have moved", || sessions(&second) == "4");
    let totals = work.stop(Stop::Drain).totals;
    assert_came_back(&totals, 4);
    assert_gone(&second);
}
