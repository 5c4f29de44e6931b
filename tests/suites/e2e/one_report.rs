//! One merged report from several agents, checked against what the server knows.

use std::time::Duration;

use pgsurge_tests::cluster::{Cluster, Report, Run, pgsurge};
use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Running, let_pass};
use pgsurge_tests::turn;

use super::fixture::{PATIENCE, World, assert_adds_up, assert_balanced, assert_in_order};

#[test]
fn three_agents_give_one_report_that_adds_up_and_that_the_server_confirms() {
    let world = World::with_tables();
    let cluster = Cluster::start(3);
    let run = cluster.run(&["-c", "10", "-j", "2", "-T", "4", "-n", &world.uri]);
    let report = run.finish(PATIENCE).expect_code(0);
    let summary = report.summary();
    assert_adds_up(&report);
    assert_balanced(&world, summary["totals"]["transactions"].as_u64().unwrap());
    assert_in_order(&summary["totals"]["latency_ms"]);
    let clients: Vec<_> = summary["agents"].as_array().unwrap().iter().map(clients).collect();
    assert_eq!(clients, [4, 3, 3]);
    let mut names: Vec<_> = summary["agents"].as_array().unwrap().iter().map(name).collect();
    names.sort();
    assert_eq!(names, ["a1", "a2", "a3"]);
    assert_eq!(summary["verdict"]["valid"], true, "{summary:#}");
    assert_eq!(summary["status"], "complete");
    for line in ["number of clients: 10", "scaling factor: 1", "duration: 4 s", "tps = "] {
        assert!(report.finished.stdout.lines().any(|l| l.starts_with(line)), "{line}");
    }
}

#[test]
fn a_run_without_agents_is_a_cluster_of_one() {
    let world = World::with_tables();
    let report = Run::local(&["-c", "3", "-t", "50", &world.uri]).finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    assert_balanced(&world, 150);
    assert!(report.finished.stdout.contains("actually processed: 150/150"), "{}", report.finished);
}

#[test]
fn a_pgbench_command_line_needs_no_subcommand() {
    let world = World::bare(&Settings::new());
    let mut init = pgsurge(&["-i", "-q", "-s", "1", &world.uri]);
    let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
    let folder = tempfile::tempdir().unwrap();
    let mut bench = pgsurge(&["-c", "2", "-t", "5", &world.uri]);
    let finished = Running::run("bench", bench.current_dir(folder.path()), PATIENCE).expect_code(0);
    assert!(finished.stdout.contains("actually processed: 10/10"), "{finished}");
    assert!(folder.path().join("pgsurge-results").is_dir(), "results by default\n{finished}");
}

#[test]
fn agents_serve_one_run_after_another_and_once_means_once() {
    let world = World::with_tables();
    let mut cluster = Cluster::start(1);
    let mut once = cluster.agent_arguments("once");
    once.push("--once".to_owned());
    cluster.add(pgsurge(&once));
    let arguments = ["-c", "2", "-t", "5", "-S", "-n", &world.uri];
    let _ = cluster.run(&arguments).finish(PATIENCE).expect_code(0);
    let _ = cluster.take(1).wait(PATIENCE).expect_code(0);
    let _ = cluster.run(&arguments).finish(PATIENCE).expect_code(0);
}

#[test]
fn agents_may_be_there_before_the_coordinator_and_come_after_it() {
    let world = World::with_tables();
    assert_adds_up(&with_an_early_and_a_late_agent(&world.uri, Duration::ZERO));
}

/// The minutes themselves are what is tested: neither the agent's back-off nor any deadline of the
/// coordinator may have run out by then.
#[test]
fn agents_a_minute_early_and_a_minute_late_make_one_run() {
    let server = FakeServer::start(Behaviour::default());
    with_an_early_and_a_late_agent(&server.uri(), Duration::from_secs(60));
}

fn with_an_early_and_a_late_agent(uri: &str, pause: Duration) -> Report {
    let mut cluster = Cluster::start(1);
    // It has found nobody and dials again.
    cluster.agent(0).wait_for_stderr("trying again", PATIENCE);
    let_pass(pause);
    let arguments = ["-c", "4", "-t", "5", "-S", "-n", "--agent-wait", "180", uri];
    let mut run = cluster.run(&arguments);
    run.command.args(["--agents", "2"]);
    let run = run.start();
    cluster.agent(0).wait_for_stderr("attached", PATIENCE);
    let_pass(pause);
    let late = cluster.agent_arguments("late");
    cluster.add(pgsurge(&late));
    let report = run.finish(PATIENCE).expect_code(0);
    assert_eq!(report.summary()["agents"].as_array().unwrap().len(), 2);
    report
}

#[test]
fn a_thousand_clients_and_an_uneven_rate_over_seven_agents_sum_exactly() {
    let _turn = turn::take();
    let server = FakeServer::start(Behaviour::default());
    let cluster = Cluster::start(7);
    let arguments = ["-c", "1000", "-j", "1", "-R", "1001", "-T", "4", "-n", "-S", &server.uri()];
    let report = cluster.run(&arguments).finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    let summary = report.summary();
    let clients: Vec<_> = summary["agents"].as_array().unwrap().iter().map(clients).collect();
    assert_eq!(clients, [143, 143, 143, 143, 143, 143, 142]);
    // Poisson: 4004 with a standard deviation of 63; the seeds differ from run to run.
    let transactions = summary["totals"]["transactions"].as_u64().unwrap();
    assert!((3600..4400).contains(&transactions), "{transactions}");
}

#[test]
fn a_warm_up_is_outside_of_every_figure() {
    let world = World::with_tables();
    let arguments = ["-c", "4", "-T", "3", "--warmup", "2", "-n", &world.uri];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    let counted = report.summary()["totals"]["transactions"].as_u64().unwrap();
    assert!(world.history_rows() > counted, "nothing was done in the warm-up");
    let duration = report.figure("/totals/duration_s");
    assert!((3.0..4.5).contains(&duration), "{duration}");
}

#[test]
fn sessions_that_spread_over_servers_are_not_held_against_the_count_of_one() {
    let world = World::with_tables();
    let other = Postgres::start(Version::V15, &Settings::new());
    let mut init = pgsurge(&["init", "-q", "-s", "1", &other.uri()]);
    let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
    let ports = [world.server.port(), other.port()];
    let uri = |balance: &str| {
        let [first, second] = ports;
        format!(
            "postgresql://postgres@127.0.0.1:{first},127.0.0.1:{second}/postgres?load_balance_hosts={balance}"
        )
    };
    let rows = |server: &Postgres| -> u64 {
        server.value("select count(*) from pgbench_history").parse().unwrap()
    };

    let arguments = ["-n", "-c", "20", "-t", "10"];
    let spread = Run::local(&[&arguments[..], &[&uri("random")]].concat()).finish(PATIENCE);
    let spread = spread.expect_code(0);
    let (here, there) = (rows(&world.server), rows(&other));
    assert_eq!(here + there, 200, "both together have it all");
    assert!(here > 0 && there > 0, "{here} and {there}: twenty sessions found one server only");
    assert_eq!(spread.findings(), ["short-run"]);
    let stdout = &spread.finished.stdout;
    assert!(stdout.contains("not checkable: load_balance_hosts=random"), "{stdout}");

    let first_only = Run::local(&[&arguments[..], &[&uri("disable")]].concat()).finish(PATIENCE);
    let first_only = first_only.expect_code(0);
    assert_eq!(rows(&world.server), here + 200, "the first of the list has it all");
    assert!(
        first_only.finished.stdout.contains("as the agents counted"),
        "{}",
        first_only.finished
    );
}

#[test]
fn workers_that_count_a_long_history_are_not_taken_for_commits_of_the_run() {
    let settings = Settings::new()
        .set("min_parallel_table_scan_size", "0")
        .set("parallel_setup_cost", "0")
        .set("parallel_tuple_cost", "0");
    let world = World::filled(&settings);
    world.server.execute(
        "insert into pgbench_history (tid, bid, aid, delta) select 1, 1, 1, 0 from generate_series(1, 50000); \
         analyze pgbench_history",
    );
    let plan = world.server.query("explain select count(*) from pgbench_history");
    assert!(format!("{plan:?}").contains("Workers Planned"), "{plan:?}");
    let arguments = ["-n", "-c", "2", "-t", "20", "--no-observe", &world.uri];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    assert_eq!(report.findings(), ["short-run"]);
    let stdout = &report.finished.stdout;
    assert_eq!(stdout.matches("as the agents counted").count(), 2, "{stdout}");
}

fn clients(agent: &serde_json::Value) -> u64 {
    agent["clients"].as_u64().unwrap()
}

fn name(agent: &serde_json::Value) -> String {
    agent["name"].as_str().unwrap().to_owned()
}
