//! Log files as the real pgbench writes them: the same files, lines and columns for the same command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use pgsurge_tests::cluster::{Run, pgsurge};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Finished, Running};
use pgsurge_tests::{program, turn};

use super::fixture::{PATIENCE, World, code_after, write_scripts};

const CASES: &str = include_str!("cases/log.txt");

/// Lines of files by the files' names, with `PID` for the number of the process that wrote them.
type Logs = BTreeMap<String, Vec<String>>;

/// What a command leaves in an empty folder.
fn left_by(mut command: Command, arguments: &[&str], folder: &Path) -> (Finished, Logs) {
    std::fs::create_dir(folder).unwrap();
    let process = Running::start("log", command.args(arguments).current_dir(folder));
    let pid = process.pid().to_string();
    let finished = process.wait(PATIENCE);
    let logs = logs_in(folder, &pid);
    std::fs::remove_dir_all(folder).unwrap();
    (finished, logs)
}

fn logs_in(folder: &Path, pid: &str) -> Logs {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let read = entries.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        let parts = name.split('.').map(|part| if part == pid { "PID" } else { part });
        let lines = std::fs::read_to_string(entry.path()).unwrap();
        (parts.collect::<Vec<_>>().join("."), lines.lines().map(str::to_owned).collect())
    });
    read.collect()
}

/// A line without what differs from run to run: times become `N`, except where they must be 0.
fn masked(line: &str) -> String {
    let mut fields: Vec<&str> = line.split(' ').collect();
    let done = fields[2].bytes().all(|byte| byte.is_ascii_digit());
    for place in [2, 4, 5, 6] {
        // Without `-R` retries stand where lag stands with it; both tools have 0 there in these cases.
        let time = place < 6 || done && fields.len() > 6;
        if let Some(field) = fields.get_mut(place).filter(|_| time && (place != 2 || done)) {
            assert!(field.parse::<u64>().is_ok_and(|n| n.to_string() == **field), "{line}");
            *field = "N";
        }
    }
    fields.join(" ")
}

/// All files with their masked lines; clients of one thread finish in any order.
fn shape(logs: &Logs) -> Logs {
    let lines = |lines: &Vec<String>| {
        let mut lines: Vec<String> = lines.iter().map(|line| masked(line)).collect();
        lines.sort();
        lines
    };
    logs.iter().map(|(name, of)| (name.clone(), lines(of))).collect()
}

#[test]
fn log_files_are_those_of_pgbench_15_and_18() {
    let _turn = turn::take();
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let place = folder.path().join("here");
    for version in [Version::V15, Version::V18] {
        let server = Postgres::start(version, &Settings::new());
        let uri = server.uri();
        for case in CASES.lines().filter(|line| !line.starts_with('#')) {
            let arguments: Vec<&str> = case.split_whitespace().collect();
            let (theirs, expected) = left_by(server.command("pgbench"), &arguments, &place);
            let mut own = arguments.clone();
            own.extend(["--no-results", &uri]);
            let (ours, found) = left_by(pgsurge::<&str>(&[]), &own, &place);
            assert!(!expected.is_empty(), "{case}\n{theirs}");
            assert_eq!(shape(&found), shape(&expected), "{case}\n{theirs}\n{ours}");
            assert_eq!(ours.code(), code_after(&theirs), "{case}\n{theirs}\n{ours}");
        }
    }
}

/// Whole numbers of a line.
fn numbers(line: &str) -> Vec<u128> {
    line.split(' ').map(|field| field.parse().unwrap()).collect()
}

#[test]
fn aggregated_logs_have_the_lines_of_pgbench() {
    let _turn = turn::take();
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let place = folder.path().join("here");
    let server = Postgres::start(Version::V18, &Settings::new());
    let uri = server.uri();
    for (case, columns) in [
        ("-l -f ../one.sql -n -T 4 --aggregate-interval=2", 15),
        (
            "-l -f ../sometimes.sql -n -T 3 --aggregate-interval=1 -R 200 -L 500 --max-tries=2 --failures-detailed",
            15,
        ),
        ("-l -f ../fails.sql -n -T 3 --aggregate-interval=1 --continue-on-error", 16),
    ] {
        let mut arguments: Vec<&str> = case.split_whitespace().collect();
        let newer = columns == 16;
        if !newer {
            let (theirs, logs) = left_by(server.command("pgbench"), &arguments, &place);
            let lines = &logs["pgbench_log.PID"];
            assert!(lines.iter().all(|line| numbers(line).len() == columns), "{case}\n{theirs}");
            assert!((1..=3).contains(&lines.len()), "{case}\n{theirs}\n{lines:?}");
        }
        arguments.extend(["--no-results", "--format", "json", &uri]);
        let (ours, logs) = left_by(pgsurge::<&str>(&[]), &arguments, &place);
        let lines: Vec<_> = logs["pgbench_log.PID"].iter().map(|line| numbers(line)).collect();
        assert!((1..=3).contains(&lines.len()), "{case}\n{ours}\n{lines:?}");
        let step = if case.contains("interval=2") { 2 } else { 1 };
        assert!(lines.windows(2).all(|pair| pair[1][0] - pair[0][0] == step), "{case}\n{lines:?}");
        let summary: serde_json::Value = serde_json::from_str(&ours.stdout).unwrap();
        for line in &lines {
            assert_eq!(line.len(), columns, "{case}\n{line:?}");
            // Sum and sum of squares against least and greatest, for latency and lag.
            for at in [2, 6] {
                let [sum, squares, least, most] = line[at..at + 4] else { panic!("four of them") };
                assert!(least * line[1] <= sum && sum <= most * line[1], "{case}\n{line:?}");
                assert!(squares <= most * sum && least * sum <= squares, "{case}\n{line:?}");
            }
        }
        // What lies in the last span, which is never over, is in the summary alone.
        let totals = &summary["totals"];
        for (column, total) in [
            (1, "transactions"),
            (11, "retried"),
            (12, "retries"),
            (13, "serialization_failures"),
            (14, "deadlock_failures"),
        ] {
            let logged: u128 = lines.iter().map(|line| line[column]).sum();
            assert!(logged <= u128::from(totals[total].as_u64().unwrap()), "{case}: {total}");
        }
    }
}

#[test]
fn every_transaction_of_a_run_has_its_line() {
    let world = World::with_tables();
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let script = folder.path().join("sleeps.sql");
    let script = script.to_str().unwrap();
    let arguments = [
        "-l", "-f", script, "-c", "4", "-j", "2", "-T", "3", "-R", "2000", "-L", "10", "-n",
        "--warmup", "1", &world.uri,
    ];
    let mut run = Run::local(&arguments);
    let place = folder.path().join("here");
    std::fs::create_dir(&place).unwrap();
    run.command.current_dir(&place);
    let run = run.start();
    let pid = run.process.pid().to_string();
    let report = run.finish(PATIENCE).expect_code(0);
    let logs = logs_in(&place, &pid);
    assert_eq!(logs.keys().collect::<Vec<_>>(), ["pgbench_log.PID", "pgbench_log.PID.1"]);
    let lines: Vec<Vec<&str>> =
        logs.values().flatten().map(|line| line.split(' ').collect()).collect();
    let count = |word: fn(&str) -> bool| lines.iter().filter(|line| word(line[2])).count();
    let totals = &report.summary()["totals"];
    let (skipped, done) = (count(|word| word == "skipped"), count(|word| word != "skipped"));
    assert_eq!(
        (totals["skipped"].as_u64(), totals["transactions"].as_u64()),
        (Some(skipped as u64), Some(done as u64),)
    );
    assert!(skipped > 0 && done > 0, "{skipped} skipped, {done} done");
    for client in ["0", "1", "2", "3"] {
        let of_client = lines.iter().filter(|line| line[0] == client);
        let numbered: Vec<usize> = of_client.map(|line| line[1].parse().unwrap()).collect();
        assert_eq!(numbered, (1..=numbered.len()).collect::<Vec<_>>(), "client {client}");
    }
}

#[test]
fn a_folder_that_takes_no_log_ends_the_run_before_it_starts() {
    let world = World::bare(&Settings::new());
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let script = folder.path().join("one.sql");
    let prefix = folder.path().join("absent/log");
    let arguments = [
        "-l",
        "-f",
        script.to_str().unwrap(),
        "-n",
        "--no-results",
        "--log-prefix",
        prefix.to_str().unwrap(),
        &world.uri,
    ];
    let finished = Running::run("run", &mut pgsurge(&arguments), PATIENCE).expect_code(1);
    let expected = format!("could not open logfile \"{}.", prefix.display());
    assert!(finished.stderr.contains(&expected), "{finished}");
    assert!(finished.stderr.contains("No such file or directory"), "{finished}");
    assert!(!finished.stdout.contains("tps"), "{finished}");
}

#[test]
fn a_log_on_a_full_disk_is_named_and_counted_and_the_run_goes_on() {
    let world = World::bare(&Settings::new());
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let script = folder.path().join("one.sql");
    // The shell's process becomes pgsurge's, so that the file can be there before it.
    let line = "ln -s /dev/full pgbench_log.$$ && exec \"$0\" \"$@\"";
    let mut shell = pgsurge_tests::process::command("sh");
    shell.args(["-c", line]).arg(program::pgsurge()).current_dir(folder.path());
    let mut run = Run::with(shell, &["-l", "-f", script.to_str().unwrap(), "-n", "-t", "9"]);
    run.command.arg(&world.uri);
    let report = run.finish(PATIENCE).expect_code(0);
    let said = "it ends here: No space left on device (os error 28)";
    assert!(report.finished.stderr.contains(said), "{}", report.finished);
    assert!(report.finished.stdout.contains("log-ENOSPC x 1"), "{}", report.finished);
    assert_eq!(report.summary()["totals"]["transactions"], 9);
}
