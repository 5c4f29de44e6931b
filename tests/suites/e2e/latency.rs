//! Latency figures against a known truth: the fake server's own.

use std::time::Duration;

use pgsurge_tests::cluster::{Cluster, Run};
use pgsurge_tests::fake_server::{Behaviour, FakeServer, Keep, Request};
use pgsurge_tests::process::{eventually, let_pass};
use pgsurge_tests::turn;

use super::fixture::{PATIENCE, assert_adds_up, assert_in_order};

/// A percentile of samples, as the histogram defines it: the smallest value that so many do not exceed.
fn percentile(samples: &mut [f64], percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[(percent * samples.len()).div_ceil(100) - 1]
}

#[test]
fn a_transaction_of_1_9_s_shows_as_1_9_s_and_clients_over_1_9_per_second() {
    let server = FakeServer::start(Behaviour::fixed(Duration::from_millis(1900)));
    let arguments = ["-c", "4", "-T", "5", "-S", "-n", "-P", "1", &server.uri()];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    // Begun at 0, 1.9 and 3.8 s; what is in flight at 5 s finishes and counts.
    assert_eq!(report.summary()["totals"]["transactions"], 12);
    let mean = report.figure("/totals/latency_ms/mean");
    assert!((1900.0..2000.0).contains(&mean), "{mean}");
    let tps = report.figure("/totals/tps");
    assert!((1.9..=4.0 / 1.9).contains(&tps), "{tps}");
}

#[test]
fn a_statement_of_twenty_seconds_is_not_clipped() {
    one_long_statement(Duration::from_secs(20));
}

#[test]
fn a_statement_of_two_minutes_is_not_clipped() {
    one_long_statement(Duration::from_secs(120));
}

fn one_long_statement(service: Duration) {
    let server = FakeServer::start(Behaviour::fixed(service));
    let cluster = Cluster::start(2);
    let arguments = ["-c", "2", "-j", "1", "-t", "1", "-S", "-n", &server.uri()];
    let report = cluster.run(&arguments).finish(PATIENCE + service).expect_code(0);
    assert_adds_up(&report);
    let (min, max) =
        (report.figure("/totals/latency_ms/min"), report.figure("/totals/latency_ms/max"));
    let truth = service.as_secs_f64() * 1000.0;
    assert!(min >= truth && max < truth + 5000.0, "{min} to {max} ms");
    let findings = report.findings();
    assert!(!findings.contains(&"histogram-clipped".to_owned()), "{findings:?}");
}

#[test]
fn percentiles_of_a_fast_and_a_slow_agent_are_those_of_all_samples_together() {
    let _turn = turn::take();
    // Client 0, on the first agent, is slow and varied; client 1, on the second, fast.
    let service = |request: &Request<'_>| {
        let varied = Duration::from_millis(20 + 4 * (request.transaction % 10));
        if request.sql.contains("client 0") { varied } else { Duration::from_millis(5) }
    };
    let keep = Keep { times: true, ..Keep::default() };
    let server = FakeServer::start(Behaviour { keep, ..Behaviour::timed(service) });
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sql");
    std::fs::write(&script, "SELECT 'client :client_id';\n").unwrap();
    let cluster = Cluster::start(2);
    let file = script.to_str().unwrap();
    let arguments = ["-c", "2", "-j", "1", "-T", "6", "-n", "-f", file, &server.uri()];
    let report = cluster.run(&arguments).finish(PATIENCE).expect_code(0);
    let summary = report.summary();

    let connections = server.connections();
    let loaded = connections.iter().filter(|connection| !connection.service_us.is_empty());
    let samples: Vec<Vec<f64>> = loaded
        .map(|connection| connection.service_us.iter().map(|us| *us as f64 / 1000.0).collect())
        .collect();
    assert_eq!(samples.len(), 2);
    let mut pooled = samples.concat();
    let truth = percentile(&mut pooled, 95);
    let cluster = report.figure("/totals/latency_ms/p95");
    let agents: Vec<f64> = summary["agents"].as_array().unwrap().iter().map(p95).collect();
    // The client sees at least the server's time, and little more.
    assert!((truth * 0.99..truth + 4.0).contains(&cluster), "{cluster} is not {truth}");
    let (mean, max) = (f64::midpoint(agents[0], agents[1]), agents[0].max(agents[1]));
    assert!(cluster > mean + 5.0, "{cluster} is the mean of {agents:?}");
    assert!(cluster < max - 5.0, "{cluster} is the maximum of {agents:?}");
    assert_in_order(&summary["totals"]["latency_ms"]);
    summary["agents"].as_array().unwrap().iter().for_each(|a| assert_in_order(&a["latency_ms"]));
}

fn p95(agent: &serde_json::Value) -> f64 {
    agent["latency_ms"]["p95"].as_f64().unwrap()
}

#[test]
fn under_a_rate_a_stall_of_the_server_shows_at_its_full_length() {
    let _turn = turn::take();
    let server = FakeServer::start(Behaviour::default());
    let arguments = ["-c", "4", "-R", "200", "-T", "6", "-S", "-n", &server.uri()];
    let run = Run::local(&arguments).start();
    eventually("load arrives", PATIENCE, || server.counts().committed > 100);
    server.stall();
    let_pass(Duration::from_millis(1500));
    server.resume();
    let report = run.finish(PATIENCE).expect_code(0);
    // 300 of about 1200 transactions were due in the stall: a quarter, not the four that were in flight.
    let p90 = report.figure("/totals/latency_ms/p90");
    assert!(p90 > 500.0, "response time hides the queue: p90 {p90} ms");
    let (max, service) =
        (report.figure("/totals/latency_ms/max"), report.figure("/totals/service_ms/p90"));
    // The first one to feel it came due some milliseconds into the stall.
    assert!(max >= 1450.0, "{max}");
    assert!(service < 500.0, "service time is not response time: {service}");
    assert_adds_up(&report);
}
