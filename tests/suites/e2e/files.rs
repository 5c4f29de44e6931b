//! Results and reports where they cannot be written: it is said clearly, the figures are on stdout all the
//! same, and what carries a final name is whole.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use pgsurge_tests::cluster::{Run, pgsurge};
use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::process::{self, Finished, Running, eventually};
use pgsurge_tests::program;

use super::fixture::{PATIENCE, assert_adds_up};

fn server() -> FakeServer {
    FakeServer::start(Behaviour::fixed(Duration::from_millis(3)))
}

#[track_caller]
fn assert_said(finished: &Finished, parts: &[&str]) {
    for part in parts {
        assert!(finished.stderr.contains(part), "no {part:?}\n{finished}");
    }
}

/// A run of ten transactions with these options more.
fn short_run(server: &FakeServer, options: &[&str]) -> Command {
    let uri = server.uri();
    let mut arguments = vec!["run", "-S", "-n", "-t", "10"];
    arguments.extend(options);
    arguments.push(&uri);
    pgsurge(&arguments)
}

#[test]
fn a_named_folder_that_is_of_no_use_is_refused_before_the_load() {
    let server = server();
    let there = tempfile::tempdir().unwrap();
    let there = there.path().to_str().unwrap();
    for (place, said) in [
        (there, "exists already; name another one with --results"),
        ("/proc/pgsurge/results", "cannot write results to /proc/pgsurge: "),
        ("/dev/null/results", "cannot write results to /dev/null: "),
    ] {
        let mut command = short_run(&server, &["--results", place]);
        let finished = Running::run("run", &mut command, PATIENCE).expect_code(1);
        assert_said(&finished, &[said]);
    }
    assert_eq!(server.counts().committed, 0, "load was sent");
}

#[test]
fn a_default_folder_that_cannot_be_written_is_only_a_warning() {
    let server = server();
    let mut command = short_run(&server, &[]);
    let finished = Running::run("run", command.current_dir("/proc"), PATIENCE).expect_code(0);
    assert_said(&finished, &["warning: cannot write results to pgsurge-results: "]);
    assert!(finished.stdout.contains("tps = "), "{finished}");
}

#[test]
fn a_second_run_into_the_same_folder_is_refused_and_does_the_first_no_harm() {
    let server = server();
    let first = Run::local(&["-S", "-n", "-P", "1", "-T", "4", &server.uri()]).start();
    first.process.wait_for_stderr("progress: 1.0 s", PATIENCE);
    let place = first.folder();
    let mut second = short_run(&server, &["--results", place.to_str().unwrap()]);
    let refused = Running::run("second run", &mut second, PATIENCE).expect_code(1);
    assert_said(&refused, &["another run is writing its results to", "run.partial"]);
    let report = first.finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    assert_eq!(report.folder(), place);
}

/// In a mount namespace of its own, which goes with the process whatever happens.
#[test]
fn a_disk_that_fills_up_costs_files_and_no_figures_as_root() {
    let server = server();
    let dir = tempfile::tempdir().unwrap();
    let script = r#"
        mount -t tmpfs -o size=256k none "$1" || exit 99
        "$2" run -S -n -T 5 --results "$1/run" "$3" &
        until [ -s "$1/run.partial/intervals.csv" ]; do sleep 0.05; done
        cat /dev/zero > "$1/ballast" 2>/dev/null
        wait $!; code=$?
        ls "$1" >&2
        exit $code"#;
    let mut command = process::command("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(dir.path());
    command.arg(program::pgsurge()).arg(server.uri());
    let finished = Running::run("run", &mut command, PATIENCE).expect_code(1);
    let told = "error: results are incomplete, what there is stays in ";
    assert_said(&finished, &[told, "No space left on device"]);
    assert!(finished.stderr.ends_with("ballast\nrun.partial\n"), "{finished}");
    assert!(finished.stdout.contains("tps = "), "{finished}");
    assert!(finished.stdout.contains("verdict "), "{finished}");
}

#[test]
fn a_disk_that_is_read_only_is_refused_before_the_load_as_root() {
    let server = server();
    let dir = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o ro none "$1" || exit 99
        exec "$2" run -S -n -t 10 --results "$1/run" "$3""#;
    let mut command = process::command("unshare");
    command.args(["--mount", "sh", "-c", script, "sh"]).arg(dir.path());
    command.arg(program::pgsurge()).arg(server.uri());
    let finished = Running::run("run", &mut command, PATIENCE).expect_code(1);
    assert_said(&finished, &["cannot write results to ", "Read-only file system"]);
    assert_eq!(server.counts().committed, 0, "load was sent");
}

#[test]
fn a_report_that_nobody_reads_is_no_error_and_a_stdout_that_takes_nothing_is_one_before_the_load() {
    let server = server();
    for (reader, code) in [("head -1", 0), ("cat > /dev/full", 0), ("true", 0), ("", 1)] {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("run");
        // The code of the run itself, not of what reads its report.
        let to = if reader.is_empty() { ">/dev/full".into() } else { format!("| {reader}") };
        let text = format!(
            "{{ \"$0\" run -S -n -t 10 --results \"$1\" \"$2\"; echo $? > \"$1.code\"; }} {to}"
        );
        let mut command = process::command("sh");
        command.args(["-c", &text]).arg(program::pgsurge()).arg(&place).arg(server.uri());
        let finished = Running::run("run", &mut command, PATIENCE);
        let seen = std::fs::read_to_string(dir.path().join("run.code")).unwrap();
        assert_eq!(seen.trim(), code.to_string(), "{reader:?}\n{finished}");
        assert_eq!(place.join("summary.json").exists(), code == 0, "{reader:?}\n{finished}");
        if code == 1 {
            assert_said(&finished, &["error: cannot write the report to stdout: No space left"]);
        }
    }
}

/// Nobody listens to what goes to stderr, and a log line beside it does not end the run.
#[test]
fn a_standard_error_that_is_closed_changes_nothing() {
    let server = server();
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("run");
    let out = File::create(dir.path().join("out")).unwrap();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command =
        short_run(&server, &["--debug", "-P", "1", "--results", place.to_str().unwrap()]);
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(full).spawn().unwrap();
    eventually("the run has ended", PATIENCE, || child.try_wait().unwrap().is_some());
    assert!(child.wait().unwrap().success());
    let printed = read(&dir.path().join("out"));
    assert!(printed.contains("tps = "), "{printed}");
    assert!(place.join("summary.json").exists());
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
