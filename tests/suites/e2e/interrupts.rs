//! SIGINT and SIGTERM in every phase of a run: the first ends it in good order, the second at once, and no
//! session stays on the server, whatever it was doing.

use std::io::Write;
use std::net::TcpListener;
use std::time::Duration;

use pgsurge_tests::cluster::{Cluster, Run, free_address, pgsurge};
use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::postgres::Settings;
use pgsurge_tests::process::{Running, eventually};
use rustix::process::Signal;

use super::fixture::{PATIENCE, World, assert_adds_up};

/// Statements of this run for minutes unless somebody cancels them.
const SLEEP: &str = "select pg_sleep(600);\n";

fn script(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// Statements that the server is executing for the load.
fn asleep(world: &World) -> String {
    world.server.value(
        "select count(*) from pg_stat_activity where state = 'active' and query like '%pg_sleep%' \
         and pid <> pg_backend_pid()",
    )
}

#[test]
fn a_second_signal_cancels_statements_that_would_run_for_minutes() {
    let world = World::bare(&Settings::new());
    let cluster = Cluster::start(2);
    let file = script(SLEEP);
    let path = file.path().to_str().unwrap();
    for (first, second) in [(Signal::INT, Signal::TERM), (Signal::TERM, Signal::INT)] {
        let run = cluster.run(&["-c", "4", "-T", "600", "-n", "-f", path, &world.uri]).start();
        eventually("all statements run", PATIENCE, || asleep(&world) == "4");
        run.process.signal(first);
        run.process.wait_for_stderr("interrupt again", PATIENCE);
        run.process.signal(second);
        let report = run.finish(PATIENCE).expect_code(130);
        eventually("no session is left", PATIENCE, || world.sessions() == 0);
        let summary = report.summary();
        assert_eq!(summary["status"], "partial");
        assert_eq!(summary["totals"]["transactions"], 0);
    }
}

#[test]
fn an_agent_that_is_told_twice_cancels_its_statements_and_says_so() {
    let world = World::bare(&Settings::new());
    let mut cluster = Cluster::start(2);
    let file = script(SLEEP);
    let path = file.path().to_str().unwrap();
    let run = cluster.run(&["-c", "4", "-T", "600", "-n", "-f", path, &world.uri]).start();
    eventually("all statements run", PATIENCE, || asleep(&world) == "4");
    let agents = [cluster.take(1), cluster.take(0)];
    for agent in &agents {
        agent.signal(Signal::TERM);
        agent.wait_for_stderr("draining", PATIENCE);
        agent.signal(Signal::TERM);
    }
    for agent in agents {
        let _ = agent.wait(PATIENCE).expect_code(0);
    }
    let report = run.finish(PATIENCE).expect_code(3);
    assert!(report.findings().contains(&"agent-lost".to_owned()), "{:?}", report.findings());
    eventually("no session is left", PATIENCE, || world.sessions() == 0);
}

#[test]
fn an_interrupt_ends_what_comes_before_the_load() {
    let world = World::with_tables();
    // Each of these would wait for minutes: for an agent, for the second of two sessions.
    let waiting = free_address().to_string();
    let for_agents =
        ["-n", "-S", "--agents", "1", "--agent-wait", "600", "--listen", &waiting, &world.uri];
    let run = Run::local(&for_agents).start();
    run.process.wait_for_stderr("waiting for 1 agent on", PATIENCE);
    run.process.signal(Signal::INT);
    assert_no_load(&run.finish(PATIENCE).expect_code(130).finished.stderr);

    let for_sessions = ["-n", "-S", "-c", "2", "--connect-rate", "0.001", "--connect-wait", "600"];
    let mut run = Run::local(&for_sessions);
    run.command.arg(&world.uri);
    let run = run.start();
    eventually("one session is open", PATIENCE, || world.sessions() == 1);
    run.process.wait_for_stdout("pgsurge (", PATIENCE);
    run.process.signal(Signal::TERM);
    let report = run.finish(PATIENCE).expect_code(130);
    assert_no_load(&report.finished.stderr);
    assert!(!report.folder().exists(), "nothing was measured");
    eventually("no session is left", PATIENCE, || world.sessions() == 0);
}

#[track_caller]
fn assert_no_load(said: &str) {
    assert!(said.contains("interrupted before the start"), "{said}");
}

#[test]
fn an_interrupt_ends_the_wait_for_a_server_that_does_not_answer() {
    // A listener that nobody serves takes the connection and stays silent.
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let uri = format!("postgresql://u@{}/d?sslmode=disable", silent.local_addr().unwrap());
    let cases = [vec!["run", "-S", "-n", "--no-results", "--connect-wait", "600"], vec!["init"]];
    for mut arguments in cases {
        arguments.push(&uri);
        let process = Running::start("pgsurge", &mut pgsurge(&arguments));
        let _taken = silent.accept().unwrap();
        process.signal(Signal::INT);
        let _ = process.wait(PATIENCE).expect_code(130);
    }
}
#[test]
fn a_warm_up_that_is_interrupted_shows_the_length_it_had() {
    let server = FakeServer::start(Behaviour::fixed(Duration::from_millis(3)));
    let run = Run::local(&["-S", "-n", "-P", "1", "--warmup", "600", "-T", "600", &server.uri()]);
    let run = run.start();
    run.process.wait_for_stderr("warm-up: 2.0 s", PATIENCE);
    run.process.signal(Signal::INT);
    let report = run.finish(PATIENCE).expect_code(130);
    assert_adds_up(&report);
    let line = report.finished.stdout.lines().find_map(|line| line.strip_prefix("warm-up "));
    let seconds = line.unwrap().split_whitespace().next().unwrap().parse::<f64>().unwrap();
    assert!((2.0..300.0).contains(&seconds), "{}", report.finished);
    assert!(line.unwrap().contains(" s of 600 s with "), "{}", report.finished);
    // The last second was none, so nothing is said of it.
    assert!(!report.finished.stderr.contains(" 0 clients"), "{}", report.finished);
    assert!(report.findings().contains(&"no-transactions".to_owned()), "{:?}", report.findings());
    assert!(report.findings().contains(&"cut-short".to_owned()), "{:?}", report.findings());
}
