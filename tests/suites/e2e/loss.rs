//! Parts that go missing: agents, coordinators, the network between them, the patience of the user.

use std::time::Duration;

use pgsurge_tests::cluster::{Cluster, free_address, pgsurge};
use pgsurge_tests::postgres::Settings;
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

/// A script that leaves a row for each transaction of each client.
const BY_CLIENT: &str = "insert into by_client values (:client_id);\n";

/// Rows of some clients.
fn rows_of(world: &World, clients: &str) -> u64 {
    let sql = format!("select count(*) from by_client where client in ({clients})");
    world.server.value(&sql).parse().unwrap()
}

#[test]
fn clients_of_a_killed_agent_go_on_on_the_other_and_nothing_is_counted_twice() {
    let world = World::bare(&Settings::new());
    world.server.execute("create table by_client (client int)");
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), BY_CLIENT).unwrap();
    let file = script.path().to_str().unwrap();
    let mut cluster = Cluster::start(2);
    let policy = ["--lease", "2", "--on-agent-loss", "rebalance"];
    let arguments = ["-f", file, "-c", "4", "-T", "600", "-P", "1", "-n", &world.uri];
    let run = cluster.run(&[&policy[..], &arguments].concat()).start();
    run.process.wait_for_stderr("progress: 3.0 s", PATIENCE);
    drop(cluster.take(1));
    run.process.wait_for_stderr("4 clients, 1 agent, 2 moved", PATIENCE);
    run.process.signal(Signal::INT);
    let report = run.finish(PATIENCE).expect_code(130);
    assert_adds_up(&report);
    assert!(report.findings().contains(&"agent-lost".to_owned()), "{:?}", report.findings());

    let summary = report.summary();
    let agents = summary["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 3, "{summary:#}");
    let done = |agent: &serde_json::Value| agent["transactions"].as_u64().unwrap();
    let lost = agents.iter().position(|agent| agent["lost"] == true).unwrap();
    let (lost, survivor, heir) = (&agents[lost], &agents[1 - lost], &agents[2]);
    assert_eq!((&heir["took_over_from"], &heir["name"]), (&lost["name"], &survivor["name"]));
    let (of_survivor, of_lost) =
        if agents[0] == *lost { ("2, 3", "0, 1") } else { ("0, 1", "2, 3") };
    assert_eq!(done(survivor), rows_of(&world, of_survivor), "equality for those that survived");
    let moved = done(lost) + done(heir);
    assert!(done(heir) > 0 && moved <= rows_of(&world, of_lost), "{moved} reported");

    let coverage = summary["coverage"].as_array().unwrap();
    let clients: Vec<_> = coverage.iter().map(|step| step["clients"].as_u64().unwrap()).collect();
    assert_eq!(clients, [2, 4], "{coverage:?}");
    let complete = report.measured("complete");
    let hole = complete.iter().filter(|complete| *complete == "false").count();
    let from = |step: usize| coverage[step]["from_s"].as_f64().unwrap();
    assert!((from(1) - from(0) - hole as f64).abs() < 1e-6, "{hole} marked, {coverage:?}");
    let ran = &heir["ran"];
    let seconds = ran["until_s"].as_f64().unwrap() - ran["from_s"].as_f64().unwrap();
    let tps = heir["tps"].as_f64().unwrap();
    assert!((tps * seconds - done(heir) as f64).abs() < 1.0, "{heir:#}");
    assert!(report.finished.stdout.contains("figures hold"), "{}", report.finished);
}

#[test]
fn clients_that_nobody_has_room_for_stay_away_and_the_run_says_so() {
    let world = World::with_tables();
    let mut cluster = Cluster::at(free_address());
    for name in ["a1", "a2"] {
        let mut arguments = cluster.agent_arguments(name);
        arguments.extend(["--max-clients", "3"].map(str::to_owned));
        cluster.add(pgsurge(&arguments));
    }
    let policy = ["--lease", "2", "--on-agent-loss", "rebalance"];
    let arguments = ["-S", "-c", "4", "-T", "600", "-P", "1", "-n", &world.uri];
    let run = cluster.run(&[&policy[..], &arguments].concat()).start();
    run.process.wait_for_stderr("progress: 2.0 s", PATIENCE);
    drop(cluster.take(0));
    run.process.wait_for_stderr("4 clients are more than the 3", PATIENCE);
    run.process.signal(Signal::INT);
    let report = run.finish(PATIENCE).expect_code(130);
    let summary = report.summary();
    assert_eq!(summary["verdict"]["valid"], false, "{summary:#}");
    let agents = summary["agents"].as_array().unwrap();
    let (refused, others): (Vec<_>, Vec<_>) =
        agents.iter().partition(|agent| !agent["took_over_from"].is_null());
    assert_eq!((refused.len(), others.len()), (1, 2), "{summary:#}");
    assert_eq!(refused[0]["transactions"], 0, "{summary:#}");
    assert!(report.finished.stdout.contains("was to take over from"), "{}", report.finished);
}

#[test]
fn a_frozen_agent_is_unreachable_and_its_seconds_are_marked() {
    let world = World::with_tables();
    let cluster = Cluster::start(2);
    let run = cluster.run(&["-S", "-c", "4", "-T", "600", "-P", "1", "-n", &world.uri]).start();
    run.process.wait_for_stderr("progress: 2.0 s", PATIENCE);
    cluster.agent(1).signal(Signal::STOP);
    run.process.wait_for_stderr("agent a2 is unreachable", PATIENCE);
    cluster.agent(1).signal(Signal::CONT);
    run.process.wait_for_stderr("agent a2 is back", PATIENCE);
    run.process.wait_for_stderr("1 unreachable", PATIENCE);
    run.process.signal(Signal::INT);
    let report = run.finish(PATIENCE).expect_code(130);
    assert_adds_up(&report);
    let marked = report.measured("agents_unreachable");
    assert!(marked.iter().filter(|agents| *agents == "1").count() >= 3, "{marked:?}");
    assert_eq!(marked[0], "0");
    assert!(report.measured("complete").iter().all(|complete| complete == "true"));
    let summary = report.summary();
    let agents = summary["agents"].as_array().unwrap();
    let frozen = agents.iter().find(|agent| agent["name"] == "a2").unwrap();
    assert_eq!(frozen["unreachable"].as_array().unwrap().len(), 1, "{frozen:#}");
    assert!(report.finished.stdout.contains("unreachable"), "{}", report.finished);
}

#[test]
fn no_load_outlives_a_coordinator_that_is_stopped_for_longer_than_the_lease() {
    let world = World::with_tables();
    let cluster = Cluster::start(2);
    let arguments = ["-c", "4", "-T", "600", "--lease", "2", "-n", &world.uri];
    let run = cluster.run(&arguments).start();
    eventually("load arrives", PATIENCE, || world.history_rows() > 0);
    run.process.signal(Signal::STOP);
    eventually("the load has ended", PATIENCE, || world.sessions() == 0);
    run.process.signal(Signal::CONT);
    // Its agents come back and say that they have given the run up.
    let report = run.finish(PATIENCE).expect_code(3);
    assert!(report.findings().contains(&"agent-lost".to_owned()), "{:?}", report.findings());
    assert!(report.sum_measured("transactions") <= world.history_rows());
    let report = cluster.run(&["-c", "4", "-t", "5", "-n", &world.uri]).finish(PATIENCE);
    assert_adds_up(&report.expect_code(0));
}
