//! A server that ends at half time, as a user sees it in the report, and one that is full.

use pgsurge_tests::cluster::{Cluster, InProgress, Report, Run};
use pgsurge_tests::postgres::{Settings, wait_until};
use pgsurge_tests::process::eventually;

use super::fixture::{PATIENCE, World, assert_adds_up};

/// A server that keeps what it has committed.
fn durable() -> World {
    World::filled(&Settings::new().set("fsync", "on").set("synchronous_commit", "on"))
}

/// Waits for the load, then ends the server as a crash does.
fn crash_at_work(world: &mut World, run: &InProgress) {
    eventually("the load is on", PATIENCE, || world.sessions() == 4);
    run.process.wait_for_stderr("progress: 1.0 s", PATIENCE);
    world.server.crash();
}

fn assert_nobody_stays(world: &World) {
    wait_until("the last session is gone", || world.sessions() == 0);
}

/// What was reported is on the server; no more is there than what may have been committed unseen.
#[track_caller]
fn assert_committed(world: &World, report: &Report) {
    let totals = &report.summary()["totals"];
    let count = |key: &str| totals[key].as_u64().unwrap();
    let (reported, unseen) = (count("transactions"), 4);
    let rows = world.history_rows();
    assert!((reported..=reported + unseen).contains(&rows), "{reported} reported, {rows} rows");
}

#[test]
fn a_crash_of_the_server_is_an_outage_in_the_report_of_a_run_that_reconnects() {
    let mut world = durable();
    let cluster = Cluster::start(2);
    let arguments = ["-c", "4", "-T", "12", "-P", "1", "-N", "-n", "--reconnect", &world.uri];
    let run = cluster.run(&arguments).start();
    crash_at_work(&mut world, &run);
    run.process.wait_for_stderr("4 disconnected", PATIENCE);
    world.server.resume();
    run.process.wait_for_stderr("is connected again after", PATIENCE);
    let report = run.finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    assert_committed(&world, &report);
    assert_nobody_stays(&world);
    assert!(report.findings().contains(&"outage".to_owned()), "{:?}", report.findings());
    let summary = report.summary();
    assert_eq!(
        (&summary["status"], &summary["verdict"]["valid"]),
        (&"complete".into(), &true.into())
    );
    let outages = summary["outages"].as_array().unwrap();
    assert_eq!(
        (outages.len(), &outages[0]["clients"], &outages[0]["over"]),
        (1, &4.into(), &true.into())
    );
    assert_eq!(summary["totals"]["connection_failures"], 4);
    assert_eq!((report.sum_measured("failed"), report.sum_measured("reconnects")), (4, 4));
    let disconnected = report.measured("disconnected");
    assert!(disconnected.contains(&"4".to_owned()), "{disconnected:?}");
    let check = &summary["server"]["history_check"]["result"];
    assert!(*check == "equal" || *check == "at_least", "{}", summary["server"]);
    let said = &report.finished.stdout;
    assert!(said.contains("unknown outcome 4 transactions lost their session"), "{said}");
    assert!(
        summary["connections"]["latency_ms"]["max"].as_f64()
            < summary["totals"]["reconnecting_ms"]["max"].as_f64()
    );
}

#[test]
fn the_same_ends_every_client_of_a_run_that_does_not() {
    let mut world = durable();
    let cluster = Cluster::start(2);
    let run = cluster.run(&["-c", "4", "-T", "600", "-P", "1", "-N", "-n", &world.uri]).start();
    crash_at_work(&mut world, &run);
    // The report comes with the server still away.
    let report = run.finish(PATIENCE).expect_code(2);
    assert_adds_up(&report);
    assert!(report.findings().contains(&"clients-aborted".to_owned()), "{:?}", report.findings());
    let summary = report.summary();
    assert_eq!(summary["totals"]["aborted_clients"], 4);
    let errors = summary["totals"]["errors"].as_object().unwrap();
    assert_eq!(errors.values().filter_map(serde_json::Value::as_u64).sum::<u64>(), 4, "{errors:?}");
    assert_eq!(summary["server"]["history_check"]["result"], "not_checkable");
    world.server.resume();
    assert_committed(&world, &report);
    assert_nobody_stays(&world);
}

#[test]
fn more_clients_than_the_server_takes_are_refused_before_any_connects() {
    let world = World::filled(&Settings::new().connections(6));
    let arguments = ["-c", "8", "-S", "-n", "-t", "5", &world.uri];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(1);
    let said = &report.finished.stderr;
    for part in ["max_connections = 6", "--allow-fewer-clients"] {
        assert!(said.contains(part), "no {part:?}\n{}", report.finished);
    }
    assert!(!world.server.log().contains("too many clients"), "somebody tried");
    assert_nobody_stays(&world);
}

#[test]
fn too_many_clients_on_the_way_up_are_counted_and_those_that_got_in_work() {
    let world = World::filled(&Settings::new().connections(6));
    let report = Run::local(&[
        "-c",
        "8",
        "-S",
        "-n",
        "-t",
        "50",
        "--allow-fewer-clients",
        "--connect-wait",
        "2",
        &world.uri,
    ])
    .finish(PATIENCE)
    .expect_code(0);
    assert_adds_up(&report);
    let connections = &report.summary()["connections"];
    assert_eq!((&connections["wanted"], &connections["obtained"]), (&8.into(), &6.into()));
    assert!(connections["errors"]["53300"].as_u64() >= Some(2), "{connections}");
    assert!(report.findings().contains(&"clients-missing".to_owned()), "{:?}", report.findings());
    assert_nobody_stays(&world);
}
