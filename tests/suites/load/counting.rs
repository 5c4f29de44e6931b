//! What is counted is what happened: commits on the server, scripts, connections.

use std::time::Duration;

use pgsurge_common::plan::{Protocol, ScriptSource};
use pgsurge_tests::loading::Loading;
use pgsurge_tests::postgres::{Postgres, Settings, Version, wait_until};

use super::server;

/// Commits in the database under load; read from another one.
fn commits(server: &Postgres) -> u64 {
    let sql = "select xact_commit from pg_stat_database where datname = 'postgres'";
    server.query_in("other", sql)[0][0].as_ref().unwrap().parse().unwrap()
}

fn sessions_are_gone(server: &Postgres) {
    let sql = "select count(*) from pg_stat_activity where datname = 'postgres'";
    wait_until("all sessions are gone", || {
        server.query_in("other", sql)[0][0].as_deref() == Some("0")
    });
}

#[test]
fn commits_are_those_of_the_server() {
    let script = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let scripts = [
        script("outside a block", "select 1;\nselect 2;\n"),
        script("in a block", "begin;\nselect 1;\ninsert into t values (1);\nend;\n"),
        script("rolled back", "begin;\ninsert into t values (1);\nrollback;\nselect 1;\n"),
        script("empty", ";\n/* nothing */;\n"),
        script("savepoints", "begin;\nsavepoint a;\nselect 1;\nrollback to a;\ncommit;\n"),
        script("failing", "select 1;\nselect 1/(:client_id - 1);\n"),
    ];
    for version in Version::ALL {
        let server = Postgres::start(version, &Settings::new());
        server.execute("create table t(x int)");
        server.execute("create database other");
        for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
            for reconnect in [false, true] {
                for (name, text) in &scripts {
                    sessions_are_gone(&server);
                    let before = commits(&server);
                    let mut loading =
                        Loading::script(server.port(), text).clients(3, 2).protocol(protocol);
                    loading.plan.load.connect_per_transaction = reconnect;
                    loading.plan.workload.continue_on_error = true;
                    let loaded = loading.run();
                    sessions_are_gone(&server);
                    assert!(loaded.totals.commits_unpredictable.is_empty());
                    assert_eq!(
                        loaded.commits(),
                        commits(&server) - before,
                        "{name}, {protocol:?}, -C {reconnect}, {version:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn commits_of_pipelines_are_those_of_the_server() {
    let server = server();
    server.execute("create table t(x int)");
    server.execute("create database other");
    let script = "\\startpipeline\nselect 1;\nselect 2;\n\\syncpipeline\n\\syncpipeline\n\
        insert into t values (1);\n\\endpipeline\n\\startpipeline\n\\endpipeline\n";
    for protocol in [Protocol::Extended, Protocol::Prepared] {
        sessions_are_gone(&server);
        let before = commits(&server);
        let loaded = Loading::script(server.port(), script).clients(2, 1).protocol(protocol).run();
        sessions_are_gone(&server);
        assert_eq!(loaded.commits(), commits(&server) - before, "{protocol:?}");
    }
}

#[test]
fn what_cannot_be_predicted_is_named() {
    let server = server();
    server.execute("create procedure p() language sql as 'select 1'");
    let loaded = Loading::script(server.port(), "call p();\n").run();
    let reasons = &loaded.totals.commits_unpredictable;
    assert!(reasons.iter().any(|reason| reason.contains("CALL")), "{reasons:?}");
}

#[test]
fn each_of_several_scripts_has_its_figures() {
    let server = server();
    let loaded = Loading::script(server.port(), "select 1;\n")
        .and_script("select pg_sleep(0.001);\n")
        .clients(4, 2)
        .transactions(25)
        .run();
    let mut parts = [0, 0];
    for interval in &loaded.intervals {
        for (part, script) in parts.iter_mut().zip(&interval.scripts) {
            *part += script.counts.transactions;
            assert_eq!(script.counts.transactions, script.response.len());
        }
    }
    assert_eq!(parts.iter().sum::<u64>(), 100);
    assert!(parts.iter().all(|part| *part > 10), "{parts:?}");
}

#[test]
fn a_connection_for_every_transaction_is_counted_apart_from_latency() {
    let server = server();
    let mut loading = Loading::script(server.port(), "select 1;\n").clients(2, 1).transactions(5);
    loading.plan.load.connect_per_transaction = true;
    let loaded = loading.run();
    let measured = &loaded.totals.measured;
    assert_eq!((measured.transactions, measured.connects), (10, 10));
    assert!(measured.connect_us > 0);
    assert_eq!((loaded.ready.connect.wanted, loaded.ready.connect.obtained), (1, 1));
}

#[test]
fn a_plan_that_needs_too_much_memory_is_refused_with_the_figure() {
    let mut loading = Loading::script(1, "select 1;\n").clients(64, 64);
    let script = loading.plan.workload.scripts[0].clone();
    loading.plan.workload.scripts =
        (0..128).map(|n| ScriptSource { name: n.to_string(), ..script.clone() }).collect();
    loading.plan.load.connect.timeout = Duration::from_secs(1);
    let error = loading.prepare().unwrap_err().to_string();
    assert!(error.contains("MiB"), "{error}");
}
