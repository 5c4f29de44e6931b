//! `--metrics-line`, as a tuner from outside reads it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pgsurge_tests::cluster::Run;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::Running;
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

#[test]
fn an_outside_tuner_reads_the_figures_as_the_page_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/experiments.md");
    let page = std::fs::read_to_string(page).unwrap();
    let commands: Vec<&str> = page
        .lines()
        .filter_map(|line| line.trim().strip_prefix("get: \"")?.strip_suffix('"'))
        .filter(|command| command.contains("$out"))
        .collect();
    assert_eq!(commands.len(), 2, "one for each evaluation");

    let _turn = turn::take();
    let server = Postgres::start(Version::V15, &Settings::new());
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("one.sql");
    std::fs::write(&script, "select 1;\n").unwrap();
    let (script, uri) = (script.to_str().unwrap(), server.uri());
    let arguments = ["-n", "-c", "2", "-t", "200", "-f", script, "--metrics-line", &uri];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(0);
    // As `| tail -n 1` leaves it.
    let line = report.finished.stdout.lines().last().unwrap();
    for (command, figure) in commands.iter().zip(["/totals/tps", "/totals/latency_ms/p99"]) {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command.replace("$out", line));
        let read = Running::run("get", &mut shell, PATIENCE).expect_code(0);
        let value: f64 = read.stdout.trim().parse().unwrap();
        assert!((value - report.figure(figure)).abs() < 1e-3, "{command}: {read}");
    }
}
