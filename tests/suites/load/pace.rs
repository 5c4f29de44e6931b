//! When transactions begin, and what their times mean.

use std::time::Duration;

use pgsurge_common::plan::End;
use pgsurge_common::stats::Phase;
use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::loading::Loading;

const MS: u64 = 1000;

#[test]
fn a_transaction_takes_as_long_as_the_server_and_counts_once() {
    let fake = FakeServer::start(Behaviour::fixed(Duration::from_millis(300)));
    let loaded = Loading::script(fake.port(), "select 1;\n")
        .clients(3, 2)
        .duration(Duration::from_millis(1500))
        .run();
    let measured = &loaded.totals.measured;
    // What is in flight at the end finishes and counts.
    assert_eq!(measured.transactions, 3 * 5, "{measured:?}");
    for interval in &loaded.intervals {
        if !interval.response.is_empty() {
            assert!(interval.response.moments().min >= 300 * MS);
        }
        assert!(interval.service.is_none() && interval.lag.is_none());
    }
}

#[test]
fn under_a_rate_response_time_counts_from_when_a_transaction_was_due() {
    // One client can do 10 a second, 40 are asked for: the backlog shows in the response time and in
    // the lag, not in the service time.
    let fake = FakeServer::start(Behaviour::fixed(Duration::from_millis(100)));
    let mut loading = Loading::script(fake.port(), "select 1;\n").transactions(15);
    loading.plan.load.rate_tps = Some(40.0);
    let loaded = loading.run();
    let mut worst = [0, 0, 0];
    for interval in &loaded.intervals {
        let (service, lag) = (interval.service.as_ref().unwrap(), interval.lag.as_ref().unwrap());
        assert_eq!(service.len(), interval.response.len());
        let figures = [interval.response.moments().max, service.moments().max, lag.moments().max];
        for (worst, figure) in worst.iter_mut().zip(figures) {
            *worst = (*worst).max(figure);
        }
    }
    let [response, service, lag] = worst;
    assert!(lag > 500 * MS, "lag {lag}");
    assert!(response >= lag + 99 * MS, "response {response}, lag {lag}");
    assert!(service >= 99 * MS && service < response, "service {service}");
}

#[test]
fn what_would_be_too_late_is_skipped_and_counts_as_one_of_the_transactions() {
    let fake = FakeServer::start(Behaviour::fixed(Duration::from_millis(100)));
    let mut loading = Loading::script(fake.port(), "select 1;\n").transactions(50);
    loading.plan.load.rate_tps = Some(100.0);
    loading.plan.load.latency_limit_us = Some(50 * MS);
    let loaded = loading.run();
    let measured = &loaded.totals.measured;
    assert_eq!(measured.all(), 50);
    assert!(measured.skipped > 10, "{measured:?}");
    assert_eq!(measured.late, measured.transactions, "each takes 100 ms, more than the limit");
}

#[test]
fn a_client_stops_when_the_next_slot_is_beyond_the_end() {
    let fake = FakeServer::start(Behaviour::default());
    let mut loading = Loading::script(fake.port(), "select 1;\n").clients(4, 2);
    loading.plan.load.end = End::Duration(Duration::from_secs(600));
    loading.plan.load.rate_tps = Some(1e-6);
    let loaded = loading.run();
    assert_eq!(loaded.totals.measured.all(), 0);
    assert_eq!(loaded.totals.aborted_clients, 0);
}

#[test]
fn sleeping_counts_in_the_latency_and_lets_others_work() {
    let fake = FakeServer::start(Behaviour::default());
    let loaded = Loading::script(fake.port(), "\\sleep 300 ms\nselect 1;\n\\sleep 1500 us\n")
        .clients(20, 1)
        .transactions(1)
        .run();
    assert_eq!(loaded.totals.measured.transactions, 20);
    let least = loaded.intervals.iter().map(|i| i.response.moments().min).min().unwrap();
    assert!(least >= 301 * MS + 500, "{least}");
    assert!(loaded.totals.last_end_us < 20 * 300 * MS, "they slept one after the other");
}

#[test]
fn a_script_that_waits_for_nothing_ends_in_time() {
    let fake = FakeServer::start(Behaviour::default());
    let loaded = Loading::script(fake.port(), "\\set x 1\n")
        .clients(3, 1)
        .duration(Duration::from_millis(300))
        .run();
    assert!(loaded.by_client().iter().all(|count| *count > 10), "{:?}", loaded.by_client());
}

#[test]
fn a_warm_up_is_the_same_load_and_enters_no_measured_figure() {
    let fake = FakeServer::start(Behaviour::fixed(Duration::from_millis(10)));
    let mut loading = Loading::script(fake.port(), "select 1;\n").clients(2, 2).transactions(20);
    loading.plan.load.warmup = Duration::from_millis(1300);
    let loaded = loading.run();
    assert_eq!(loaded.totals.measured.transactions, 40, "-t counts measured transactions");
    assert!(loaded.totals.warmup.transactions > 40);
    assert_eq!(loaded.phase(Phase::Warmup).count(), 2);
    assert_eq!(loaded.by_client(), [20, 20]);
}

#[test]
fn the_measured_part_begins_with_an_empty_queue() {
    // The warm-up asks for ten times what the server can do.
    let fake = FakeServer::start(Behaviour::fixed(Duration::from_millis(50)));
    let mut loading =
        Loading::script(fake.port(), "select 1;\n").duration(Duration::from_millis(900));
    loading.plan.load.warmup = Duration::from_secs(2);
    loading.plan.load.rate_tps = Some(200.0);
    let loaded = loading.run();
    assert!(loaded.totals.inherited_backlog > 100, "{}", loaded.totals.inherited_backlog);
    let first = loaded.phase(Phase::Measure).next().unwrap();
    let lag = first.lag.as_ref().unwrap();
    assert!(lag.moments().max < 1000 * MS, "backlog of the warm-up in the measured part");
}
