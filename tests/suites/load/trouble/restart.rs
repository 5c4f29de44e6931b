//! A server that ends at half time, in every way, and comes back or not.

use std::time::Duration;

use pgsurge_agent::load::Stop;
use pgsurge_common::plan::End;
use pgsurge_tests::loading::Loading;
use pgsurge_tests::postgres::Postgres;

use super::{BUSY, assert_came_back, assert_gone, assert_named, at_work, endless, server};

/// Restarted, crashed, killed.
const ENDS: [fn(&mut Postgres); 3] = [Postgres::stop, Postgres::crash, Postgres::kill];

/// How clients learn of it.
const LOSSES: [&str; 5] = ["57P01", "57P02", "closed", "ECONNRESET", "EPIPE"];

#[test]
fn without_reconnect_the_end_of_the_server_ends_every_client() {
    for end in ENDS {
        let mut server = server();
        let work = at_work(&endless(&server, BUSY, false));
        end(&mut server);
        let totals = work.finish().totals;
        assert_eq!((totals.aborted_clients, totals.measured.failed()), (4, 0));
        assert_named(&totals, &LOSSES);
        assert_eq!(totals.errors.0.values().sum::<u64>(), 4, "{:?}", totals.errors);
        assert_eq!(totals.outages.count(), 0);
        server.resume();
        assert_gone(&server);
    }
}

#[test]
fn with_reconnect_it_is_an_outage_and_variables_outlive_it() {
    let script = "\\set n :n + 1\ninsert into seen values (:client_id, :n);\n".to_owned() + BUSY;
    for end in ENDS {
        let mut server = server();
        server.execute("create table seen(client int, n int)");
        let mut loading = endless(&server, &script, true);
        loading.plan.workload.defines.push(("n".into(), "0".into()));
        let mut work = at_work(&loading);
        end(&mut server);
        work.wait_for(|interval| (interval.clients, interval.disconnected) == (0, 4));
        server.resume();
        work.wait_for(|interval| (interval.clients, interval.disconnected) == (4, 0));
        let loaded = work.stop(Stop::Drain);
        assert_came_back(&loaded.totals, 4);
        let outages = &loaded.totals.outages;
        assert_eq!((outages.count(), outages.listed[0].clients), (1, 4), "{outages:?}");
        assert!(loaded.totals.errors.0.contains_key("ECONNREFUSED"), "{:?}", loaded.totals.errors);
        loaded.assert_notice("; reconnecting");
        loaded.assert_notice("is connected again after");
        let begun = loaded.totals.measured.transactions + 4;
        let counted =
            server.value("select sum(m) from (select max(n) m from seen group by client) x");
        assert_eq!(counted, begun.to_string(), "each client went on counting where it was");
        assert_gone(&server);
    }
}

#[test]
fn under_a_rate_response_times_run_on_through_the_outage() {
    let mut server = server();
    let mut loading = endless(&server, "select 1;\n", true);
    loading.plan.load.rate_tps = Some(200.0);
    let mut work = at_work(&loading);
    server.crash();
    work.wait_for(|interval| interval.disconnected == 4);
    server.resume();
    work.wait_for(|interval| interval.clients == 4);
    let loaded = work.stop(Stop::Drain);
    let longest = loaded.intervals.iter().map(|i| i.response.moments().max).max().unwrap();
    let outage = loaded.totals.outages.length_us();
    assert!(longest > outage / 2, "{longest} us of an outage of {outage} us");
    assert_gone(&server);
}

#[test]
fn new_connections_for_each_transaction_are_tried_again_too() {
    let mut server = server();
    let mut loading = endless(&server, "select 1;\n", true);
    loading.plan.load.connect_per_transaction = true;
    let mut work = at_work(&loading);
    server.stop();
    work.wait_for(|interval| interval.disconnected == 4);
    server.resume();
    work.wait_for(|interval| interval.clients == 4 && interval.counts.transactions > 0);
    let totals = work.stop(Stop::Drain).totals;
    assert_eq!(totals.aborted_clients, 0);
    assert!(totals.measured.reconnects >= 4, "{:?}", totals.measured);
    assert!(totals.errors.0.contains_key("ECONNREFUSED"), "{:?}", totals.errors);
    assert_gone(&server);
}

#[test]
fn a_server_that_stays_away_leaves_clients_unconnected_at_the_end_of_the_run() {
    let mut server = server();
    let loading = endless(&server, BUSY, true).duration(Duration::from_secs(5));
    let work = at_work(&loading);
    server.stop();
    let loaded = work.finish();
    let totals = &loaded.totals;
    assert_eq!((totals.aborted_clients, totals.measured.connection_failures), (4, 4));
    let (_, reason) = &totals.aborted[0];
    assert!(reason.contains("was without a connection when the run ended"), "{reason}");
    assert!(reason.contains("Connection refused"), "{reason}");
    assert!(!totals.outages.listed[0].over, "{:?}", totals.outages);
}

#[test]
fn a_number_of_transactions_does_not_wait_for_a_server_for_ever() {
    let mut server = server();
    let mut loading = endless(&server, BUSY, true);
    loading.plan.load.end = End::Transactions(1_000_000);
    loading.plan.load.connect.timeout = Duration::from_secs(1);
    let work = at_work(&loading);
    server.stop();
    let totals = work.finish().totals;
    assert_eq!(totals.aborted_clients, 4);
    let (_, reason) = &totals.aborted[0];
    assert!(reason.contains("could not reconnect"), "{reason}");
}

#[test]
fn a_loss_at_the_last_transaction_needs_no_further_session() {
    let server = server();
    let script = "select pg_terminate_backend(pg_backend_pid());\n";
    let mut loading = Loading::script(server.port(), script).transactions(3);
    loading.plan.load.reconnect = true;
    let totals = loading.run().totals;
    let measured = &totals.measured;
    assert_eq!((measured.connection_failures, measured.reconnects), (3, 2));
    assert_eq!((totals.outages.count(), totals.aborted_clients), (3, 0));
    assert!(totals.outages.listed.iter().all(|outage| outage.over), "{:?}", totals.outages);
    assert_gone(&server);
}
