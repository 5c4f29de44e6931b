//! Time that misbehaves: a wall clock that steps, a coordinator that stands still.

use pgsurge_tests::cluster::{Cluster, pgsurge};
use pgsurge_tests::process::{eventually, let_pass};
use pgsurge_tests::wall_clock::WallClock;
use rustix::process::Signal;
use std::time::Duration;

use super::fixture::{PATIENCE, World, assert_adds_up, assert_balanced};

#[test]
fn a_wall_clock_that_steps_in_mid_run_changes_nothing() {
    let world = World::with_tables();
    let mut cluster = Cluster::start(1);
    let clock = WallClock::new();
    let mut stepped = pgsurge(&cluster.agent_arguments("stepped"));
    clock.govern(&mut stepped);
    cluster.add(stepped);
    let run = cluster.run(&["-c", "4", "-T", "6", "-n", &world.uri]).start();
    eventually("load arrives", PATIENCE, || world.history_rows() > 0);
    clock.step(1200);
    let before = world.history_rows();
    eventually("load goes on after the step", PATIENCE, || world.history_rows() > before);
    clock.step(600);
    let report = run.finish(PATIENCE).expect_code(0);

    // The agent lived through the steps: its own log says so.
    let log_time = |line: &str| seconds_of_day(&cluster.agent(1).wait_for_stderr(line, PATIENCE));
    let passed = (log_time("run is over") - log_time("run begins")).rem_euclid(86_400);
    assert!((600..700).contains(&passed), "the agent's clock showed {passed} s for the run");

    assert_adds_up(&report);
    assert_balanced(&world, report.sum_measured("transactions"));
    let complete = report.measured("complete");
    assert!(complete.len() >= 6 && complete.iter().all(|c| c == "true"), "{complete:?}");
    let duration = report.figure("/totals/duration_s");
    assert!((6.0..12.0).contains(&duration), "{duration}");
    assert_eq!(report.summary()["verdict"]["valid"], true);
}

/// `hh:mm:ss` out of the time stamp that opens a line of a log.
fn seconds_of_day(line: &str) -> i64 {
    let time = line.split_once('T').unwrap_or_else(|| panic!("no time in {line:?}")).1;
    let number = |at: usize| -> i64 { time[at..at + 2].parse().unwrap() };
    number(0) * 3600 + number(3) * 60 + number(6)
}

#[test]
fn a_coordinator_that_stands_still_for_five_seconds_costs_no_transaction_and_no_interval() {
    let world = World::with_tables();
    let cluster = Cluster::start(2);
    let run = cluster.run(&["-c", "4", "-T", "9", "-n", &world.uri]).start();
    eventually("load arrives", PATIENCE, || world.history_rows() > 0);
    run.process.signal(Signal::STOP);
    let before = world.history_rows();
    let_pass(Duration::from_secs(5));
    assert!(world.history_rows() > before, "load waits for the coordinator");
    run.process.signal(Signal::CONT);
    let report = run.finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    assert_balanced(&world, report.sum_measured("transactions"));
    let complete = report.measured("complete");
    assert!(complete.len() >= 9 && complete.iter().all(|c| c == "true"), "{complete:?}");
    assert_eq!(report.summary()["verdict"]["valid"], true);
}
