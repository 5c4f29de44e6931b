//! The harness itself: what the suites build on must not lie to them.

use std::time::Duration;

use pgsurge_tests::process::{Running, command, eventually};

use super::SOON;
use rustix::process::{Pid, Signal, test_kill_process};

fn is_alive(pid: u32) -> bool {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    test_kill_process(pid).is_ok()
}

#[test]
fn a_process_is_heard_on_both_streams_with_its_exit_code() {
    let mut shell = command("sh");
    shell.args(["-c", "echo out; echo err >&2; exit 7"]);
    let finished = Running::run("shell", &mut shell, SOON).expect_code(7);
    assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
}

#[test]
fn a_line_is_waited_for_and_a_signal_arrives() {
    let mut shell = command("sh");
    shell.args(["-c", "trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done"]);
    let running = Running::start("shell", &mut shell);
    assert_eq!(running.wait_for_stdout("ready", SOON), "ready");
    running.signal(Signal::TERM);
    assert_eq!(running.wait(SOON).expect_code(3).stdout, "ready\ncaught\n");
}

#[test]
fn a_process_ends_with_its_handle() {
    let running = Running::start("sleep", command("sleep").arg("600"));
    let pid = running.pid();
    assert!(is_alive(pid));
    drop(running);
    assert!(!is_alive(pid));
}

#[test]
fn a_process_ends_with_the_thread_that_started_it_even_if_its_handle_is_lost() {
    let start = || {
        let mut shell = command("sh");
        let running = Running::start("sleep", shell.args(["-c", "echo up; exec sleep 600"]));
        running.wait_for_stdout("up", SOON);
        let pid = running.pid();
        std::mem::forget(running);
        pid
    };
    let pid = std::thread::spawn(start).join().unwrap();
    // It stays a zombie of this process, which nobody reaps: a dead one has no command line.
    let command_line = format!("/proc/{pid}/cmdline");
    eventually("the process is dead", SOON, || {
        std::fs::read(&command_line).is_ok_and(|words| words.is_empty())
    });
}

#[test]
#[should_panic(expected = "has not ended within")]
fn a_process_that_does_not_end_fails_the_test_at_the_deadline() {
    let running = Running::start("sleep", command("sleep").arg("600"));
    let _ = running.wait(Duration::from_millis(50));
}
