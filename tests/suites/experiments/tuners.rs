//! `--metrics-line`, as a tuner from outside reads it.

use std::time::Duration;

use pgsurge_tests::cluster::Run;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::turn;

const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn the_last_line_of_a_report_is_for_programs() {
    let _turn = turn::take();
    let server = Postgres::start(Version::V15, &Settings::new());
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("one.sql");
    std::fs::write(&script, "select 1;\n").unwrap();
    let (script, uri) = (script.to_str().unwrap(), server.uri());
    let arguments = ["-n", "-c", "2", "-t", "500", "-f", script, "--metrics-line", &uri];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    let last = report.finished.stdout.lines().last().unwrap();
    let pairs = last.strip_prefix("metrics: ").unwrap().split(' ');
    let value = |name: &str| {
        let mut pairs = pairs.clone().map(|pair| pair.split_once('=').unwrap());
        pairs.find(|(key, _)| *key == name).unwrap().1.to_owned()
    };
    let tps: f64 = value("tps").parse().unwrap();
    assert!((tps - report.figure("/totals/tps")).abs() < 1e-5, "{last}");
    let p99: f64 = value("p99_ms").parse().unwrap();
    assert!((p99 - report.figure("/totals/latency_ms/p99")).abs() < 1e-3, "{last}");
    assert_eq!((value("failed"), value("valid")), ("0.000000".into(), "true".into()));
    // pgbench's parsers look for another line.
    let found = report.finished.stdout.lines().filter(|line| line.contains("tps = "));
    assert_eq!(found.count(), 1);

    let both = ["-n", "-t", "1", "--metrics-line", "--format", "json", &uri];
    let refused = Run::local(&both).finish(PATIENCE).expect_code(1).finished;
    assert!(refused.stderr.contains("cannot be used with --format json"), "{refused}");
}
