//! What a run says of the server's own statistics, held against what the server says when it is asked by hand.

use std::path::Path;

use pgsurge_tests::cluster::{Report, Run};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Running, eventually};
use pgsurge_tests::turn::{self, Turn};
use serde_json::Value;

use super::fixture::PATIENCE;

const VERSIONS: [Version; 2] = [Version::V15, Version::V18];

/// A server with pgbench's tables that does nothing of its own accord.
fn quiet(version: Version) -> (Postgres, Turn) {
    let turn = turn::take();
    let settings = Settings::new().set("autovacuum", "off").set("deadlock_timeout", "50ms");
    let server = Postgres::start(version, &settings);
    let mut init = pgsurge_tests::cluster::pgsurge(&["init", "-q", "-s", "1", &server.uri()]);
    let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
    (server, turn)
}

fn number(server: &Postgres, sql: &str) -> u64 {
    server.value(sql).parse().unwrap()
}

fn observation(report: &Report) -> Value {
    report.summary()["server"]["observation"].clone()
}

/// Time, source, object, figure and value.
fn csv(folder: &Path) -> Vec<(f64, String, String, String, f64)> {
    let text = std::fs::read_to_string(folder.join("server.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("t_s,source,object,figure,value"));
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let [t_s, source, object, figure, value] = fields[..] else { panic!("{line}") };
        let [source, object, figure] = [source, object, figure].map(str::to_owned);
        (t_s.parse().unwrap(), source, object, figure, value.parse().unwrap())
    };
    lines.map(row).collect()
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let list = list.as_array().unwrap();
    list.iter().find(|entry| entry["name"] == name).unwrap_or_else(|| panic!("{name}: {list:?}"))
}

#[test]
fn cache_figures_are_those_that_the_server_gives_by_hand() {
    const BLOCKS: [(&str, &str, &str); 2] = [
        (
            "tables",
            "public.pgbench_accounts",
            "select heap_blks_hit + heap_blks_read from pg_statio_user_tables \
             where relname = 'pgbench_accounts'",
        ),
        (
            "indexes",
            "public.pgbench_accounts_pkey",
            "select idx_blks_hit + idx_blks_read from pg_statio_user_indexes \
             where indexrelname = 'pgbench_accounts_pkey'",
        ),
    ];
    for version in VERSIONS {
        let (server, _turn) = quiet(version);
        let before = BLOCKS.map(|(_, _, sql)| number(&server, sql));
        let arguments =
            ["-S", "-n", "-c", "2", "-t", "500", "--observe-interval", "0.2", &server.uri()];
        let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
        let seen = observation(&report);
        let rows = csv(&report.folder());
        for ((list, name, sql), before) in BLOCKS.into_iter().zip(before) {
            let entry = named(&seen[list], name);
            let told = entry["hit"].as_u64().unwrap() + entry["read"].as_u64().unwrap();
            assert!(told >= 1000, "each transaction looks at {name}: {entry}");
            assert_eq!(told, number(&server, sql) - before, "{version:?}: {name}");
            assert!(rows.iter().any(|row| row.2 == name), "{name} is in server.csv");
        }
        let ratio = seen["cache"]["hit_ratio"].as_f64().unwrap();
        assert!((0.5..=1.0).contains(&ratio), "{ratio}");
        assert_eq!(seen["problems"], serde_json::json!([]), "{version:?}");
        assert_eq!(seen["unknown"], serde_json::json!({}), "{version:?}");
        // The observer's own statements are taken off.
        let check = &report.summary()["server"]["commit_check"];
        assert_eq!(check["result"], "equal", "{version:?}: {check}");
        assert!(rows.iter().any(|row| row.0 < 0.0) && rows.iter().any(|row| row.0 > 0.0));
        assert!(
            report.finished.stdout.contains("\nserver          cache hit "),
            "{}",
            report.finished
        );
    }
}

#[test]
fn deadlocks_temporary_files_and_checkpoints_are_counted() {
    const DEADLOCKS: &str = "begin;\nselect pg_advisory_xact_lock(:client_id);\nselect pg_sleep(0.3);\n\
         select pg_advisory_xact_lock(1 - :client_id);\nend;\n";
    const SPILLS: &str = "set work_mem = '64kB';\n\
         select count(*) from (select g from generate_series(1, 100000) g order by -g) s;\n";
    const COUNTERS: &str = "select deadlocks, temp_files, temp_bytes from pg_stat_database \
         where datname = current_database()";
    let by_hand = |server: &Postgres| -> Vec<u64> {
        let row = server.query(COUNTERS).into_iter().flatten().flatten();
        row.map(|count| count.parse().unwrap()).collect()
    };
    let scripts = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let path = scripts.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let files = [
        script("deadlocks.sql", DEADLOCKS),
        script("spills.sql", SPILLS),
        script("checkpoints.sql", "checkpoint;\n"),
    ];
    for version in VERSIONS {
        let (server, _turn) = quiet(version);
        let before = by_hand(&server);
        let mut told = [0; 3];
        let mut requested = 0;
        for file in &files {
            let arguments = ["-f", file, "-n", "-c", "2", "-t", "3", &server.uri()];
            let report = Run::local(&arguments).finish(PATIENCE);
            let seen = observation(&report);
            for (sum, key) in told.iter_mut().zip(["deadlocks", "temp_files", "temp_bytes"]) {
                *sum += seen[key].as_u64().unwrap();
            }
            requested += seen["checkpoints"]["requested"].as_u64().unwrap();
            let noted = report.finished.stdout.contains("consider raising max_wal_size");
            assert_eq!(noted, seen["checkpoints"]["too_often"] == true, "{}", report.finished);
        }
        assert!(told.iter().all(|count| *count > 0), "{version:?}: {told:?}");
        let grew: Vec<u64> =
            by_hand(&server).iter().zip(before).map(|(after, before)| after - before).collect();
        assert_eq!(told[..], grew, "{version:?}");
        assert!((1..=6).contains(&requested), "{version:?}: {requested} requested");
    }
}

#[test]
fn a_role_that_may_not_look_is_told_once_and_the_rest_goes_on() {
    for version in VERSIONS {
        let (server, _turn) = quiet(version);
        server.execute(
            "create role plain login; grant all on all tables in schema public to plain; \
             revoke select on pg_stat_wal, pg_statio_user_indexes from public",
        );
        let uri = server.uri_for("plain", "postgres");
        let arguments = ["-S", "-n", "-c", "1", "-T", "2", "--observe-interval", "0.5", &uri];
        let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
        let seen = observation(&report);
        for view in ["pg_stat_wal", "pg_statio_user_indexes"] {
            let note =
                format!("pgsurge: note: observing the server: the role may not read {view}\n");
            assert_eq!(report.finished.stderr.matches(&note).count(), 1, "{}", report.finished);
            assert!(seen["problems"].to_string().contains(view), "{}", seen["problems"]);
        }
        assert_eq!(seen["indexes"], serde_json::json!([]));
        assert!(seen["cache"]["hit"].as_u64().unwrap() > 0, "{seen}");
        assert_eq!(
            named(&seen["tables"], "public.pgbench_accounts")["name"],
            "public.pgbench_accounts"
        );
    }
}

#[test]
fn after_a_restart_in_the_middle_no_difference_is_told() {
    for version in VERSIONS {
        let (mut server, _turn) = quiet(version);
        let uri = server.uri();
        let arguments =
            ["-S", "-n", "-c", "2", "-T", "6", "--reconnect", "--observe-interval", "0.5", &uri];
        let run = Run::local(&arguments).start();
        let load = "select count(*) from pg_stat_activity where application_name = 'pgsurge' \
             and query like '%abalance%'";
        eventually("the load is on", PATIENCE, || number(&server, load) == 2);
        server.restart();
        let report = run.finish(PATIENCE);
        let seen = observation(&report);
        assert_eq!((&seen["cache"], &seen["wal"]), (&Value::Null, &Value::Null), "{seen}");
        for part in ["database", "wal", "tables"] {
            let reason = seen["unknown"][part].as_str().unwrap_or_default();
            assert!(reason.contains("the server was restarted"), "{part}: {seen}");
        }
        let rows = csv(&report.folder());
        assert!(rows.iter().any(|row| row.0 > 3.0), "readings go on after it");
        assert_eq!(
            report.summary()["totals"]["failed"],
            report.summary()["totals"]["connection_failures"]
        );
    }
}

#[test]
fn a_server_without_a_session_to_spare_keeps_them_for_the_clients() {
    let _turn = turn::take();
    let settings = Settings::new().connections(10).set("superuser_reserved_connections", "0");
    let server = Postgres::start(Version::V15, &settings);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "select 1;\n").unwrap();
    let path = file.path().to_str().unwrap();
    let arguments =
        ["-f", path, "-n", "-c", "10", "-T", "2", "--observe-interval", "0.5", &server.uri()];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    let seen = observation(&report);
    assert!(seen["problems"].to_string().contains("no session to spare"), "{seen}");
    assert_eq!(seen["readings"], 2);
    assert!(seen["commits"].as_u64().unwrap() > 0, "{seen}");
}

#[test]
fn nothing_is_looked_at_where_that_is_not_wanted() {
    let (server, _turn) = quiet(Version::V15);
    let arguments = ["-S", "-n", "-t", "10", "--no-observe", &server.uri()];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    assert_eq!(observation(&report), Value::Null);
    assert!(!report.folder().join("server.csv").exists());
    assert!(!report.finished.stdout.contains("cache hit"), "{}", report.finished);
}

#[test]
fn prewarming_loads_every_block_and_leaves_no_extension_behind() {
    const CACHED: &str = "select count(*) from pg_buffercache b \
         where b.relforknumber = 0 and b.relfilenode = pg_relation_filenode('pgbench_accounts') \
         and b.reldatabase = (select oid from pg_database where datname = current_database())";
    const BLOCKS: &str = "select pg_relation_size('pgbench_accounts') / 8192";
    for version in VERSIONS {
        let (mut server, _turn) = quiet(version);
        server.execute("create extension pg_buffercache");
        server
            .execute("create role plain login; grant all on all tables in schema public to plain");
        let roles = [("postgres", "pg_prewarm", false), ("plain", "reads", true)];
        for (role, method, told) in roles {
            server.restart();
            let cold = number(&server, CACHED);
            let uri = server.uri_for(role, "postgres");
            let arguments = ["-S", "-n", "-t", "1", "--prewarm", "--no-observe", &uri];
            let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
            let blocks = number(&server, BLOCKS);
            assert!(cold < blocks / 2, "{version:?}: {cold} of {blocks} were cached before");
            assert_eq!(number(&server, CACHED), blocks, "{version:?}: {method}");
            let warmed = report.summary()["server"]["prewarm"].clone();
            assert_eq!(warmed["method"], method, "{warmed}");
            assert!(warmed["blocks"].as_u64().unwrap() >= blocks, "{warmed}");
            assert!(
                report.finished.stderr.contains(&format!(" s by {method}\n")),
                "{}",
                report.finished
            );
            let note = "note: prewarming: pg_prewarm cannot be had";
            assert_eq!(report.finished.stderr.contains(note), told, "{}", report.finished);
            let left = "select count(*) from pg_extension where extname = 'pg_prewarm'";
            assert_eq!(number(&server, left), 0, "{version:?}");
        }
    }
}

#[test]
fn sessions_are_hidden_from_a_role_that_may_not_see_them_and_from_nobody_else() {
    const HIDDEN: &str = "pgsurge: note: observing the server: waits of other roles' sessions are \
                          hidden (pg_monitor shows them)\n";
    for version in VERSIONS {
        let (server, _turn) = quiet(version);
        server
            .execute("create role plain login; grant all on all tables in schema public to plain");
        let run = |user: &str, more: &[&str]| {
            // Runs of one name wait for each other's sessions at the end.
            let uri = format!("{}?application_name={user}", server.uri_for(user, "postgres"));
            let arguments = ["-S", "-n", "-T", "2", "--observe-interval", "0.1", &uri];
            Run::local(&[&arguments[..], more].concat()).start()
        };
        // A connection for each transaction: there is always a session that has no state yet.
        let busy = run("postgres", &["-c", "8", "-C"]);
        let plain = run("plain", &["-c", "1"]);
        let busy = busy.finish(PATIENCE).expect_code(0);
        assert_eq!(observation(&busy)["problems"], serde_json::json!([]), "{version:?}");
        let told = plain.finish(PATIENCE).expect_code(0).finished.stderr;
        assert_eq!(told.matches(HIDDEN).count(), 1, "{version:?}: {told}");
    }
}
