//! Logs of agents brought into the results folder, and what happens where they cannot be.

use std::collections::BTreeMap;
use std::path::Path;

use pgsurge_tests::cluster::{Cluster, Report, Run, free_address, pgsurge};
use pgsurge_tests::process::Running;
use rustix::process::Signal;

use super::fixture::{PATIENCE, World, write_scripts};

/// Agents of the names, each in a working folder of its own name by number.
fn agents(folder: &Path, names: &[&str]) -> (Cluster, Vec<u32>) {
    let mut cluster = Cluster::at(free_address());
    let mut pids = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let mut command = pgsurge(&cluster.agent_arguments(name));
        let place = folder.join(format!("host{number}"));
        std::fs::create_dir(&place).unwrap();
        cluster.add({
            command.current_dir(place);
            command
        });
        pids.push(cluster.agent(number).pid());
    }
    (cluster, pids)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap()));
    let mut names: Vec<String> = entries
        .into_iter()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Files of each folder below `logs`.
fn logs(report: &Report) -> BTreeMap<String, Vec<String>> {
    let place = report.folder().join("logs");
    let folder = |name: String| (name.clone(), names_in(&place.join(name)));
    names_in(&place).into_iter().map(folder).collect()
}

fn lines(report: &Report) -> Vec<String> {
    let place = report.folder().join("logs");
    let files = logs(report).into_iter().flat_map(|(folder, files)| {
        let folder = place.join(folder);
        files.into_iter().map(move |file| folder.join(file))
    });
    let texts = files.map(|file| std::fs::read_to_string(file).unwrap());
    texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn the_logs_of_all_agents_add_up_to_the_totals_and_leave_their_hosts() {
    let world = World::with_tables();
    let folder = tempfile::tempdir().unwrap();
    let (cluster, pids) = agents(folder.path(), &["a1", "../../a 2"]);
    for (arguments, lines_expected) in [
        // More than one piece for every file.
        (["-S", "-c", "4", "-j", "2", "-t", "4000", "-n", "-l"].as_slice(), 16_000),
        // Another run of the same agents, with a prefix that is a path of its own.
        (&["-S", "-c", "2", "-j", "1", "-t", "10", "-n", "-l", "--log-prefix", "./mine"], 20),
    ] {
        let mut run = cluster.run(arguments);
        run.command.args(["--collect-logs", &world.uri]);
        let report = run.finish(PATIENCE).expect_code(0);
        let summary = report.summary();
        let found = logs(&report);
        let prefix = if lines_expected > 20 { "pgbench_log" } else { "mine" };
        let both = lines_expected > 20;
        let of = |pid: u32, first: u32| {
            let name = |n: u32| match n {
                0 => format!("{prefix}.{pid}"),
                n => format!("{prefix}.{pid}.{n}"),
            };
            if both { vec![name(first), name(first + 1)] } else { vec![name(first)] }
        };
        // Which agent attached first decides who has the first workers.
        let agents = summary["agents"].as_array().unwrap();
        let each = if both { 2 } else { 1 };
        for (first, agent) in (0..).step_by(each).zip(agents) {
            let (folder, pid) = match agent["name"].as_str().unwrap() {
                "a1" => ("a1", pids[0]),
                _ => ("_._.._a_2", pids[1]),
            };
            assert_eq!(found[folder], of(pid, first), "{}", report.finished);
            assert_eq!(agent["logs_collected"]["problem"], serde_json::Value::Null);
            assert_eq!(agent["logs_collected"]["bytes"], agent["log"]["bytes"]);
            assert_eq!(agent["logs_collected"]["folder"], format!("logs/{folder}"));
        }
        assert_eq!(found.len(), 2, "{found:?}");
        let lines = lines(&report);
        assert_eq!(lines.len(), lines_expected);
        assert_eq!(summary["totals"]["transactions"], lines_expected);
        assert!(lines.iter().all(|line| line.split(' ').count() == 6));
        assert!(report.finished.stdout.contains("collected in logs/"), "{}", report.finished);
        for host in ["host0", "host1"] {
            assert_eq!(names_in(&folder.path().join(host)), [""; 0]);
        }
    }
}

#[test]
fn the_agent_inside_the_process_hands_its_log_over_too() {
    let world = World::bare(&pgsurge_tests::postgres::Settings::new());
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let place = folder.path().join("here");
    std::fs::create_dir(&place).unwrap();
    let mut run =
        Run::local(&["-l", "--collect-logs", "-f", "../one.sql", "-n", "-t", "20", &world.uri]);
    run.command.current_dir(&place);
    let run = run.start();
    let file = format!("pgbench_log.{}", run.process.pid());
    let report = run.finish(PATIENCE).expect_code(0);
    assert_eq!(logs(&report)["local"], [file]);
    assert_eq!(lines(&report).len(), 20);
    assert_eq!(names_in(&place), [""; 0]);
}

#[test]
fn an_agent_that_is_killed_leaves_its_logs_marked_and_the_others_whole() {
    let world = World::with_tables();
    let folder = tempfile::tempdir().unwrap();
    let (mut cluster, _) = agents(folder.path(), &["a1", "a2"]);
    let arguments = [
        "-S",
        "-c",
        "4",
        "-j",
        "1",
        "-T",
        "8",
        "-P",
        "1",
        "--lease",
        "2",
        "-n",
        "-l",
        "--collect-logs",
        &world.uri,
    ];
    let run = cluster.run(&arguments).start();
    run.process.wait_for_stderr("progress: 2.0 s", PATIENCE);
    drop(cluster.take(1));
    let report = run.finish(PATIENCE).expect_code(3);
    let found = logs(&report);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a1", "a2.partial"], "{}", report.finished);
    assert_eq!((found["a1"].len(), found["a2.partial"].len()), (1, 0), "{found:?}");
    let said = "logs of agent a2 are incomplete: it was lost";
    assert!(report.finished.stderr.contains(said), "{}", report.finished);
    assert!(report.findings().contains(&"log-incomplete".to_owned()), "{:?}", report.findings());
    let summary = report.summary();
    let of = |name: &str| {
        let agents = summary["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["name"] == name).cloned().unwrap()
    };
    assert_eq!(of("a2")["logs_collected"]["folder"], "logs/a2.partial");
    assert_eq!(of("a1")["logs_collected"]["problem"], serde_json::Value::Null);
    assert_eq!(lines(&report).len() as u64, of("a1")["transactions"].as_u64().unwrap());
}

#[test]
fn agents_of_one_folder_write_files_of_different_names_in_every_run() {
    let world = World::with_tables();
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::at(free_address());
    for name in ["a1", "a2"] {
        let mut command = pgsurge(&cluster.agent_arguments(name));
        command.current_dir(folder.path());
        cluster.add(command);
    }
    let run = || {
        let arguments = ["-S", "-c", "4", "-j", "1", "-t", "5", "-n", "-l", &world.uri];
        let report = cluster.run(&arguments).finish(PATIENCE).expect_code(0);
        format!("pgbench_log-{}.", report.summary()["run_id"].as_str().unwrap())
    };
    let (first, second) = (run(), run());
    let names = names_in(folder.path());
    assert_eq!(names.len(), 4, "{names:?}");
    for prefix in [first, second] {
        assert_eq!(names.iter().filter(|name| name.starts_with(&prefix)).count(), 2, "{names:?}");
    }
    let whole = names.iter().all(|name| {
        std::fs::read_to_string(folder.path().join(name)).unwrap().lines().count() == 10
    });
    assert!(whole, "{names:?}");
}

#[test]
fn an_interrupt_does_not_keep_logs_from_being_collected() {
    let world = World::with_tables();
    let folder = tempfile::tempdir().unwrap();
    let (cluster, _) = agents(folder.path(), &["a1"]);
    let arguments =
        ["-S", "-c", "2", "-j", "1", "-T", "600", "-P", "1", "-n", "-l", "--collect-logs"];
    let mut run = cluster.run(&arguments);
    run.command.arg(&world.uri);
    let run = run.start();
    run.process.wait_for_stderr("progress: 1.0 s", PATIENCE);
    run.process.signal(Signal::INT);
    let report = run.finish(PATIENCE).expect_code(130);
    let transactions = report.summary()["totals"]["transactions"].as_u64().unwrap();
    assert_eq!(logs(&report).keys().collect::<Vec<_>>(), ["a1"], "{}", report.finished);
    assert_eq!(lines(&report).len() as u64, transactions);
}

#[test]
fn collecting_needs_a_folder_before_anything_is_started() {
    let world = World::bare(&pgsurge_tests::postgres::Settings::new());
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    // The default parent of results is a file here, so that no folder can be made below it.
    std::fs::write(folder.path().join("pgsurge-results"), "").unwrap();
    let mut command =
        pgsurge(&["-l", "--collect-logs", "-f", "one.sql", "-n", "-t", "5", &world.uri]);
    command.current_dir(folder.path());
    let finished = Running::run("run", &mut command, PATIENCE).expect_code(1);
    assert!(finished.stderr.contains("--collect-logs needs a results folder"), "{finished}");
}
