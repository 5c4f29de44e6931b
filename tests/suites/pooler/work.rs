//! What works through a pooler as it does without one.

use std::fs;

use pgsurge_tests::cluster::{Cluster, Run};
use pgsurge_tests::pgbouncer::Pooling;
use pgsurge_tests::postgres::Settings;
use pgsurge_tests::process::eventually;
use rustix::process::Signal;

use super::fixture::{PATIENCE, World, errors, run};

/// Fewer sessions on the server than clients, so that clients share them where the mode lets them.
fn crowded(pooling: Pooling) -> Pooling {
    pooling.set("default_pool_size", "3")
}

#[test]
fn every_transaction_through_a_pooler_is_counted_once() {
    let world = World::start(&Settings::new());
    let transaction = world.pooler(&crowded(Pooling::transaction()));
    let session = world.pooler(&Pooling::session());
    let cases = [
        (&transaction, "simple", &[][..]),
        (&transaction, "extended", &[]),
        (&transaction, "extended", &["-C"]),
        (&session, "simple", &["-C"]),
        (&session, "extended", &[]),
        (&session, "prepared", &[]),
    ];
    for (pooler, protocol, more) in cases {
        // The vacuum before each run empties the history, through the pooler as well.
        let arguments = [&["-c", "8", "-j", "2", "-t", "25", "-M", protocol], more].concat();
        let report = run(pooler, &arguments).expect_code(0);
        let case = format!("{protocol} {more:?}\n{}\n{}", report.finished, pooler.log());
        assert_eq!(world.history_rows(), 200, "{case}");
        assert!(report.finished.stdout.contains("actually processed: 200/200"), "{case}");
        assert!(report.finished.stderr.contains("starting vacuum...end."), "{case}");
        assert_eq!(errors(&report), [""; 0], "{case}");
        let summary = report.summary();
        assert_eq!(summary["verdict"]["valid"], true, "{case}");
        assert!(report.finished.stdout.contains("scaling factor: 1"), "{case}");
        let reason = "server commits  not checkable: a pooler is between";
        assert!(report.finished.stdout.contains(reason), "{case}");
    }
}

#[test]
fn several_agents_share_one_transaction_pooler() {
    let world = World::start(&Settings::new());
    let pooler = world.pooler(&crowded(Pooling::transaction()));
    let cluster = Cluster::start(3);
    let run = cluster.run(&["-c", "9", "-t", "20", "-M", "extended", &pooler.uri()]);
    let report = run.finish(PATIENCE).expect_code(0);
    assert_eq!(world.history_rows(), 180, "{}", report.finished);
    assert!(report.finished.stdout.contains("actually processed: 180/180"), "{}", report.finished);
}

#[test]
fn scripts_with_pipelines_and_results_work_in_a_transaction_pool() {
    let world = World::start(&Settings::new());
    world.server.execute("create table seen (client int, value int)");
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sql");
    let text = "\\startpipeline\nselect 1;\nselect 2;\n\\syncpipeline\nselect 3;\n\\endpipeline\n\
        begin;\nselect 40 + 2 as answer \\gset\n\
        insert into seen values (:client_id, :answer::int);\nend;\n";
    fs::write(&script, text).unwrap();
    let pooler = world.pooler(&crowded(Pooling::transaction()));
    let file = script.to_str().unwrap();
    let report = run(&pooler, &["-n", "-c", "6", "-t", "20", "-M", "extended", "-f", file]);
    let report = report.expect_code(0);
    assert_eq!(errors(&report), [""; 0]);
    let seen = "select count(*) || ' ' || count(distinct client) || ' ' || max(value) from seen";
    assert_eq!(world.server.value(seen), "120 6 42");
}

#[test]
fn a_pooler_may_ask_for_a_password_in_each_of_its_ways() {
    let world = World::start(&Settings::new().tls());
    for (auth, tls) in [("md5", false), ("scram-sha-256", false), ("scram-sha-256", true)] {
        let pooling = Pooling::transaction().auth(auth);
        let pooler = world.pooler(&if tls { pooling.tls() } else { pooling });
        let mode = if tls { "require" } else { "disable" };
        let mut run = Run::local(&["-S", "-n", "-C", "-c", "3", "-t", "10", &pooler.uri()]);
        run.command.env("PGSSLMODE", mode);
        let report = run.finish(PATIENCE).expect_code(0);
        let stdout = &report.finished.stdout;
        assert!(stdout.contains("actually processed: 30/30"), "{auth}\n{}", report.finished);
    }
}

#[test]
fn more_clients_than_the_server_has_slots_are_a_warning_only() {
    let world = World::start(&Settings::new().connections(20));
    let pooler = world.pooler(&crowded(Pooling::transaction()));
    let report = run(&pooler, &["-S", "-n", "-c", "60", "-t", "10"]).expect_code(0);
    let stderr = &report.finished.stderr;
    let warning = stderr.lines().find(|line| line.contains("warning: the server has room for"));
    assert!(warning.is_some_and(|line| line.contains("a pooler stands before it")), "{stderr}");
    assert!(report.finished.stdout.contains("actually processed: 600/600"), "{}", report.finished);
}

#[test]
fn what_runs_on_the_server_is_cancelled_through_the_pooler() {
    let world = World::start(&Settings::new());
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("sleep.sql");
    fs::write(&script, "select pg_sleep(600);\n").unwrap();
    let pooler = world.pooler(&Pooling::transaction());
    let sleeping = || {
        let sql = "select count(*) from pg_stat_activity \
             where query like 'select pg_sleep%' and state = 'active'";
        world.server.value(sql).parse::<u32>().unwrap()
    };
    let arguments = ["-n", "-c", "4", "-T", "600", "-f", script.to_str().unwrap(), &pooler.uri()];
    let run = Run::local(&arguments).start();
    eventually("all clients sleep", PATIENCE, || sleeping() == 4);
    run.process.signal(Signal::INT);
    run.process.wait_for_stderr("interrupt again", PATIENCE);
    run.process.signal(Signal::INT);
    let _ = run.finish(PATIENCE).expect_code(130);
    eventually("nothing is left on the server", PATIENCE, || sleeping() == 0);
}

#[test]
fn a_server_that_restarts_behind_a_pooler_is_an_outage_too() {
    let mut world = World::start(&Settings::new());
    let pooler = world.pooler(&Pooling::transaction().set("server_login_retry", "1"));
    let arguments = ["-c", "4", "-T", "12", "-P", "1", "-S", "-n", "--reconnect", &pooler.uri()];
    let run = Run::local(&arguments).start();
    run.process.wait_for_stderr("progress: 1.0 s", PATIENCE);
    world.server.crash();
    run.process.wait_for_stderr("; reconnecting", PATIENCE);
    world.server.resume();
    let report = run.finish(PATIENCE).expect_code(0);
    assert!(report.findings().contains(&"outage".to_owned()), "{:?}", report.findings());
    let last = report.measured("transactions");
    let last = last.iter().rev().nth(1).map(String::as_str);
    assert!(last.is_some_and(|count| count != "0"), "{}", report.finished);
    // The pooler lets everybody in while it has no server, and out again; who waits for a session of the
    // server's just then loses nothing.
    let losses = report.figure("/totals/connection_failures");
    assert!((1.0..=100.0).contains(&losses), "{losses}\n{}", report.finished);
}
