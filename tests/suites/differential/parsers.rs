//! Programs that read pgbench's output find in pgsurge's what they look for.

use std::process::{Command, Stdio};
use std::time::Duration;

use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::Running;
use pgsurge_tests::turn;

/// How A-Tune reads the throughput from a log.
const A_TUNE: &str = "grep 'tps = ' LOG | awk 'NR==1{print $3}'";

#[test]
fn a_tune_finds_the_throughput_and_no_other_line_speaks_of_it() {
    let _turn = turn::take();
    let server = Postgres::start(Version::V18, &Settings::new());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("one.sql"), "SELECT 1;\n").unwrap();
    let mut run = pgsurge(&["-f", "one.sql", "-n", "-t", "20", "--no-results", &server.uri()]);
    let patience = Duration::from_secs(60);
    let ours = Running::run("pgsurge", run.current_dir(folder.path()), patience).expect_code(0);
    std::fs::write(folder.path().join("LOG"), &ours.stdout).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", A_TUNE]).current_dir(folder.path()).stdin(Stdio::null());
    let found = shell.output().unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    let figure: f64 = found.trim().parse().unwrap_or_else(|_| panic!("{found:?}\n{ours}"));
    assert!(figure > 0.0, "{ours}");
    let lines = ours.stdout.lines().filter(|line| line.contains("tps")).count();
    assert_eq!(lines, 1, "{ours}");
}

#[test]
fn bytes_of_a_script_that_are_no_text_are_shown_as_a_mark() {
    let _turn = turn::take();
    let server = Postgres::start(Version::V18, &Settings::new());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("latin.sql"), b"\\set x :\xfc + 1\nSELECT 1;\n").unwrap();
    let mut run = pgsurge(&["-f", "latin.sql", "-n", "-t", "1", "--no-results", &server.uri()]);
    // Not through the harness, which makes such marks itself.
    let said = run.current_dir(folder.path()).stdin(Stdio::null()).output().unwrap();
    let mark = "undefined variable \"\u{fffd}\"";
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains(mark), "{said}");
}
