//! What has to hold on every version of the server, as one list of checks: `tests/matrix` runs it on all of
//! them and writes the table of `docs/servers.md`, the suites on those that are at hand.
//!
//! Invariant: a check panics, with everything that was said, if its promise does not hold. What it returns is
//! what the table shows of a server on which it does.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::cluster::{Cluster, Report, Run, pgsurge};
use crate::postgres::{Postgres, Settings, Version};
use crate::process::Running;

/// Far beyond what any of these runs takes.
const PATIENCE: Duration = Duration::from_secs(180);

/// The password of the role `asked`, whom the server asks for it over TCP.
const PASSWORD: &str = "matrix";

/// One promise.
pub struct Check {
    /// As the head of the table's column says it.
    pub name: &'static str,
    /// Finds out; see the module.
    pub run: fn(&Postgres) -> String,
}

/// All of them, in the order of the table. The first makes the tables that the others use.
pub const CHECKS: &[Check] = &[
    Check { name: "`init`", run: tables },
    Check { name: "simple", run: |server| builtins(server, "simple") },
    Check { name: "extended", run: |server| builtins(server, "extended") },
    Check { name: "prepared", run: |server| builtins(server, "prepared") },
    Check { name: "pipelines, `\\gset`", run: pipelines },
    Check { name: "retries", run: retries },
    Check { name: "`-C`, SCRAM", run: reconnecting },
    Check { name: "3 agents", run: agents },
    Check { name: "commits of the server", run: commits },
];

/// A server on which the checks can be run.
#[must_use]
pub fn start(version: Version) -> Postgres {
    let hba = ["host all asked 127.0.0.1/32 scram-sha-256", "host all postgres 127.0.0.1/32 trust"];
    let server = Postgres::start(version, &Settings::new().hba(&hba));
    server.execute(&format!(
        "set password_encryption = 'scram-sha-256'; create role asked login password '{PASSWORD}'"
    ));
    server
}

fn tables(server: &Postgres) -> String {
    let uri = server.uri();
    let kinds: [&[&str]; 3] = [
        &["--partitions=3", "--partition-method=hash", "--foreign-keys"],
        &["-I", "dtGvp", "--unlogged-tables"],
        &["-I", "dtgvp", "-F", "90"],
    ];
    for kind in kinds {
        let arguments = [&["init", "-q", "-s", "1"], kind, &[&uri]].concat();
        let init = Running::run("init", &mut pgsurge(&arguments), PATIENCE).expect_code(0);
        let rows = server.value("select count(*) from pgbench_accounts");
        assert_eq!(rows, "100000", "{kind:?}\n{init}");
        assert!(!init.stderr.contains("warning"), "{kind:?}\n{init}");
    }
    yes()
}

/// All three built-in scripts over the unix socket, with the vacuum before each.
fn builtins(server: &Postgres, protocol: &str) -> String {
    for (builtin, rows) in [("tpcb-like", 100), ("simple-update", 100), ("select-only", 0)] {
        let arguments = ["-b", builtin, "-M", protocol, "-c", "4", "-j", "2", "-t", "25"];
        let report = run(server, &arguments);
        expect_transactions(&report, 100);
        assert_eq!(history_rows(server), rows, "{builtin}\n{}", report.finished);
    }
    yes()
}

fn pipelines(server: &Postgres) -> String {
    server.execute("drop table if exists seen; create table seen (client int, value int)");
    let text = "\\startpipeline\nselect 1;\nselect 2;\n\\syncpipeline\nselect 3;\n\\endpipeline\n\
        begin;\nselect 40 + 2 as answer \\gset\nselect 1 as one \\; select 2 as two \\aset\n\
        insert into seen values (:client_id, :answer::int + :two::int - 2);\nend;\n";
    // Two statements in one message are for the simple protocol alone.
    let single = text.replace("select 1 as one \\; ", "");
    let simple: String = text
        .lines()
        .filter(|l| !l.contains("pipeline"))
        .fold(String::new(), |text, line| text + line + "\n");
    let scripts = [("simple", &simple), ("extended", &single), ("prepared", &single)];
    for (protocol, script) in scripts {
        let report = script_run(server, script, &["-M", protocol, "-c", "3", "-t", "20"]);
        expect_transactions(&report, 60);
    }
    let seen = "select count(*) || ' ' || count(distinct client) || ' ' || min(value) || ' ' \
         || max(value) from seen";
    assert_eq!(server.value(seen), "180 3 42 42");
    yes()
}

/// Clients that are in each other's way until each has had its turn.
fn retries(server: &Postgres) -> String {
    server
        .execute("drop table if exists one; create table one (n int); insert into one values (0)");
    let script = "begin isolation level serializable;\nselect n from one;\n\
        update one set n = n + 1;\nend;\n";
    let report = script_run(server, script, &["-c", "6", "-t", "20", "--max-tries", "10000"]);
    expect_transactions(&report, 120);
    assert_eq!(server.value("select n from one"), "120", "{}", report.finished);
    let retries = report.figure("/totals/retries");
    assert!(retries > 0.0, "nobody was in anybody's way\n{}", report.finished);
    yes()
}

fn reconnecting(server: &Postgres) -> String {
    server.execute("grant select on all tables in schema public to asked");
    let uri = server.uri_for("asked", "postgres");
    let mut run = Run::local(&["-S", "-n", "-C", "-c", "4", "-t", "10", &uri]);
    run.command.env("PGPASSWORD", PASSWORD);
    let report = run.finish(PATIENCE).expect_code(0);
    expect_transactions(&report, 40);
    yes()
}

fn agents(server: &Postgres) -> String {
    let cluster = Cluster::start(3);
    let report = cluster.run(&["-c", "7", "-t", "20", &server.uri()]).finish(PATIENCE);
    let report = report.expect_code(0);
    expect_transactions(&report, 140);
    assert_eq!(history_rows(server), 140, "{}", report.finished);
    assert_eq!(report.summary()["agents"].as_array().map(Vec::len), Some(3));
    yes()
}

/// What the server itself counted; the last column says how far it can be relied on.
fn commits(server: &Postgres) -> String {
    let report = run(server, &["-c", "4", "-t", "25"]);
    let summary = report.summary();
    let version = server.value("show server_version");
    assert_eq!(summary["server"]["version"], Value::from(version), "{summary:#}");
    let stdout = &report.finished.stdout;
    let line = stdout.lines().find_map(|line| line.strip_prefix("server commits"));
    let line = line.unwrap_or_else(|| panic!("no word on commits\n{}", report.finished)).trim();
    let may_be_lost = server.version().major() < 15;
    assert_eq!(line.contains("may lose counts"), may_be_lost, "{}", report.finished);
    assert_eq!(line.starts_with("not checkable"), may_be_lost, "{}", report.finished);
    if may_be_lost { "not checkable".to_owned() } else { "equal".to_owned() }
}

fn run(server: &Postgres, arguments: &[&str]) -> Report {
    let conninfo = server.conninfo();
    Run::local(&[arguments, &[&conninfo]].concat()).finish(PATIENCE).expect_code(0)
}

fn script_run(server: &Postgres, script: &str, arguments: &[&str]) -> Report {
    let folder = tempfile::tempdir().expect("there is room for a script");
    let path = folder.path().join("script.sql");
    fs::write(&path, script).expect("there is room for a script");
    let path = path.display().to_string();
    run(server, &[&["-n", "-f", &path], arguments].concat())
}

/// A run that was valid, complete and silent about anything else than what it always says.
#[track_caller]
fn expect_transactions(report: &Report, wanted: u64) {
    let summary = report.summary();
    assert_eq!(summary["totals"]["transactions"], wanted, "{}", report.finished);
    assert_eq!(summary["verdict"]["valid"], true, "{}", report.finished);
    // Agents on one host reach the server at an address that others would not.
    let lines = report.finished.stderr.lines().filter(|line| !line.contains("each agent's own"));
    let told = |line: &str| line.contains("error") || line.contains("warning:");
    assert!(!lines.into_iter().any(told), "{}", report.finished);
}

fn history_rows(server: &Postgres) -> u64 {
    let count = server.value("select count(*) from pgbench_history");
    count.parse().expect("a count is a number")
}

fn yes() -> String {
    "yes".to_owned()
}
