//! Ways for clients and runs to end before their time, against a server that does as it is told.

use std::time::Duration;

use pgsurge_tests::cluster::{Cluster, Report, Run};
use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::process::eventually;
use pgsurge_tests::turn;
use rustix::process::Signal;

use super::fixture::{PATIENCE, assert_adds_up};

/// Room for the coordinator's own session and five of eight clients.
fn cramped() -> FakeServer {
    FakeServer::start(Behaviour { max_connections: Some(5), ..Behaviour::default() })
}

/// A server on which nothing ends in time.
fn sluggish() -> FakeServer {
    FakeServer::start(Behaviour::fixed(Duration::from_secs(600)))
}

#[track_caller]
fn has(report: &Report, finding: &str) -> bool {
    report.findings().iter().any(|code| code == finding)
}

#[test]
fn a_run_that_gets_too_few_sessions_does_not_start_and_says_why() {
    let server = cramped();
    let arguments = ["-c", "8", "-t", "5", "-S", "-n", "--connect-wait", "1", &server.uri()];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(1);
    let said = &report.finished.stderr;
    for part in ["5 of 8", "53300", "--allow-fewer-clients"] {
        assert!(said.contains(part), "no {part:?}\n{}", report.finished);
    }
    assert_eq!(server.counts().committed, 0, "load was sent");
}

#[test]
fn a_run_that_may_do_with_fewer_sessions_says_how_many_it_had() {
    let server = cramped();
    let arguments = ["-c", "8", "-t", "5", "-S", "-n", "--connect-wait", "1", &server.uri()];
    let mut run = Run::local(&arguments);
    run.command.arg("--allow-fewer-clients");
    let report = run.finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    assert_eq!(report.summary()["connections"]["obtained"], 5);
    assert!(has(&report, "clients-missing"), "{:?}", report.findings());
    assert_eq!(server.counts().committed, 25);
}

/// A limit does not change by waiting for it.
#[test]
fn fewer_sessions_are_not_waited_for_where_the_server_stays_full() {
    let server = cramped();
    let arguments = ["-c", "8", "-t", "5", "-S", "-n", "--connect-wait", "600", &server.uri()];
    let mut run = Run::local(&arguments);
    run.command.arg("--allow-fewer-clients");
    let report = run.finish(PATIENCE).expect_code(0);
    assert_eq!(report.summary()["connections"]["obtained"], 5);
}

#[test]
fn the_last_interval_is_as_long_as_there_was_work_in_it() {
    let server = FakeServer::start(Behaviour::fixed(Duration::from_millis(20)));
    let report = Run::local(&["-t", "65", "-S", "-n", &server.uri()]).finish(PATIENCE);
    let report = report.expect_code(0);
    assert_adds_up(&report);
    let widths = report.measured("width_s");
    let widths: Vec<f64> = widths.iter().map(|width| width.parse().unwrap()).collect();
    let (last, whole) = widths.split_last().unwrap();
    assert!(
        !whole.is_empty() && whole.iter().all(|width| (width - 1.0).abs() < 1e-9),
        "{widths:?}"
    );
    let measured = report.figure("/totals/duration_s");
    assert!((widths.iter().sum::<f64>() - measured).abs() < 1e-6, "{widths:?} of {measured} s");
    let summary = report.summary();
    let shown = summary["intervals"].as_array().unwrap().last().unwrap()["width_s"].as_f64();
    assert!((shown.unwrap() - last).abs() < 1e-6, "{shown:?}");
}

#[test]
fn a_client_that_meets_an_error_ends_and_the_others_finish() {
    let _turn = turn::take();
    let server = FakeServer::start(Behaviour::default());
    let cluster = Cluster::start(2);
    let run = cluster.run(&["-c", "4", "-R", "200", "-T", "4", "-S", "-n", &server.uri()]).start();
    eventually("load arrives", PATIENCE, || server.counts().committed > 50);
    server.fail_next(1, "22012", "division by zero");
    let report = run.finish(PATIENCE).expect_code(2);
    assert_adds_up(&report);
    assert!(has(&report, "clients-aborted"), "{:?}", report.findings());
    assert!(report.finished.stderr.contains("division by zero"), "{}", report.finished);
    assert!(report.finished.stdout.contains("tps = "), "{}", report.finished);
    assert_eq!(report.summary()["totals"]["transactions"], server.counts().committed);
}

#[test]
fn a_drain_that_takes_too_long_ends_in_cancel_requests() {
    let server = sluggish();
    let arguments = ["-c", "3", "-T", "1", "-S", "-n", "--drain-timeout", "1", &server.uri()];
    let report = Run::local(&arguments).finish(PATIENCE);
    assert_ne!(report.finished.code(), Some(1), "{}", report.finished);
    eventually("every session is gone", PATIENCE, || server.counts().open == 0);
    assert_eq!(server.counts().cancels, 3, "one for each busy session");
    assert_eq!(report.summary()["totals"]["transactions"], 0);
}

#[test]
fn the_second_interrupt_does_not_wait_for_what_is_in_flight() {
    let server = sluggish();
    let cluster = Cluster::start(2);
    let run = cluster.run(&["-c", "4", "-T", "600", "-S", "-n", &server.uri()]).start();
    eventually("all clients are busy", PATIENCE, || server.counts().statements == 4);
    run.process.signal(Signal::INT);
    run.process.wait_for_stderr("interrupt again", PATIENCE);
    run.process.signal(Signal::INT);
    let report = run.finish(PATIENCE).expect_code(130);
    eventually("every session is gone", PATIENCE, || server.counts().open == 0);
    assert_eq!(server.counts().cancels, 4, "one for each busy session");
    assert_eq!(report.summary()["status"], "partial");
}

#[test]
fn a_missed_expectation_and_a_forbidden_warning_have_their_exit_codes() {
    let server = FakeServer::start(Behaviour::fixed(Duration::from_millis(3)));
    for (options, code, said) in [
        (["--fail-if", "min>=1ms,tps<1"], 4, "fail-if         min>=1ms: failed, "),
        (["--fail-if", "max<1ms,failed>0"], 0, "fail-if         failed>0: passed, 0.000 %"),
        // Ten transactions are too few for any percentile, which is only a warning.
        (["--require", "valid"], 3, "--require valid: no finding was allowed"),
    ] {
        let mut run = Run::local(&["-t", "10", "-S", "-n", &server.uri()]);
        run.command.args(options);
        let report = run.finish(PATIENCE).expect_code(code);
        assert!(report.finished.stdout.contains(said), "{}", report.finished);
        assert_eq!(report.summary()["exit_code"], code);
    }
}
