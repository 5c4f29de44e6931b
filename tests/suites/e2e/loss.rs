//! Parts that go missing: agents, coordinators, the network between them, the patience of the user.

use std::time::Duration;

use pgsurge_tests::cluster::{Cluster, pgsurge};
use pgsurge_tests::process::eventually;
use pgsurge_tests::proxy::Proxy;
use rustix::process::Signal;

use super::fixture::{PATIENCE, World, assert_adds_up};

#[test]
fn a_killed_agent_makes_the_run_invalid_and_what_it_had_sent_is_kept() {
    let world = World::with_tables();
    let mut cluster = Cluster::start(2);
    let arguments = ["-c", "4", "-T", "600", "-P", "1", "--lease", "2", "-n", &world.uri];
    let run = cluster.run(&arguments).start();
    run.process.wait_for_stderr("progress: 3.0 s", PATIENCE);
    drop(cluster.take(1));
    // By default the others drain, long before their time.
    let report = run.finish(PATIENCE).expect_code(3);
    let summary = report.summary();
    assert_eq!(summary["status"], "partial", "{summary:#}");
    assert!(report.findings().contains(&"agent-lost".to_owned()), "{:?}", report.findings());
    assert_eq!(summary["verdict"]["valid"], false);
    let lost: Vec<_> = summary["agents"].as_array().unwrap().iter().collect();
    assert_eq!(lost.iter().filter(|agent| agent["lost"] == true).count(), 1, "{summary:#}");
    let kept = lost.iter().all(|agent| agent["transactions"].as_u64().unwrap() > 0);
    assert!(kept, "the lost agent's first seconds are gone: {summary:#}");
    let reported = summary["totals"]["transactions"].as_u64().unwrap();
    assert!(reported <= world.history_rows(), "{reported} reported");
}

#[test]
fn no_load_outlives_a_killed_coordinator_by_more_than_the_lease() {
    let world = World::with_tables();
    let cluster = Cluster::start(2);
    let arguments = ["-c", "4", "-T", "600", "--lease", "2", "-n", &world.uri];
    let run = cluster.run(&arguments).start();
    eventually("load arrives", PATIENCE, || world.history_rows() > 0);
    drop(run);
    // The lease itself is measured on the agent's state machine; here it has to end at all.
    eventually("the load has ended", Duration::from_secs(30), || world.sessions() == 0);
    let report = cluster.run(&["-c", "4", "-t", "5", "-n", &world.uri]).finish(PATIENCE);
    assert_adds_up(&report.expect_code(0));
}

#[test]
fn a_connection_cut_in_mid_run_costs_nothing() {
    let world = World::with_tables();
    let mut cluster = Cluster::start(1);
    let proxy = Proxy::start(cluster.listen());
    let address = proxy.address().to_string();
    cluster.add(pgsurge(&["agent", "--coordinator", &address, "--name", "far"]));
    let run = cluster.run(&["-c", "4", "-T", "8", "-P", "1", "-n", &world.uri]).start();
    run.process.wait_for_stderr("progress: 2.0 s", PATIENCE);
    proxy.cut();
    run.process.wait_for_stderr("progress: 4.0 s", PATIENCE);
    proxy.cut();
    let report = run.finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    assert_eq!(report.sum_measured("transactions"), world.history_rows());
    assert!(report.measured("complete").iter().all(|complete| complete == "true"));
}

#[test]
fn the_first_interrupt_drains_and_leaves_a_partial_report() {
    let world = World::with_tables();
    let cluster = Cluster::start(2);
    let run = cluster.run(&["-c", "4", "-T", "600", "-n", &world.uri]).start();
    eventually("load arrives", PATIENCE, || world.history_rows() > 0);
    run.process.signal(Signal::INT);
    let report = run.finish(PATIENCE).expect_code(130);
    assert_eq!(report.summary()["status"], "partial");
    assert_eq!(report.sum_measured("transactions"), world.history_rows());
    eventually("all sessions are gone", PATIENCE, || world.sessions() == 0);
}

#[test]
fn an_agent_told_to_end_drains_and_leaves_with_success() {
    let mut cluster = Cluster::start(1);
    let agent = cluster.take(0);
    agent.wait_for_stderr("trying again", PATIENCE);
    agent.signal(Signal::TERM);
    let _ = agent.wait(PATIENCE).expect_code(0);
}
