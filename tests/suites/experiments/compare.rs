//! `pgsurge compare` on real runs: a server that gets slower, workloads that differ, runs that do not count.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pgsurge_tests::browser::load;
use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Finished, Running};
use pgsurge_tests::turn::{self, Turn};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(120);

struct World {
    server: Postgres,
    folder: tempfile::TempDir,
    _turn: Turn,
}

impl World {
    fn start() -> Self {
        let turn = turn::take();
        let server = Postgres::start(Version::V15, &Settings::new());
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("work.sql"), "select work();\n").unwrap();
        Self { server, folder, _turn: turn }
    }

    /// What each transaction takes from now on.
    fn takes(&self, seconds: f64) {
        self.server.execute(&format!(
            "create or replace function work() returns void language sql as 'select pg_sleep({seconds})'"
        ));
    }

    fn set(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Repeats a run, each into a folder of its own within the set's.
    fn repeat(&self, name: &str, times: u32, options: &[&str]) {
        let set = self.set(name);
        std::fs::create_dir_all(&set).unwrap();
        for number in 0..times {
            let mut command = pgsurge(&["run", "-n", "--no-html", "-t", "20", "-f"]);
            command.arg(self.folder.path().join("work.sql"));
            command.arg("--results").arg(set.join(number.to_string()));
            command.args(options).arg(self.server.uri());
            let _ = Running::run("run", &mut command, PATIENCE).expect_code(0);
        }
    }

    fn compare(&self, sets: &[&str], options: &[&str]) -> Finished {
        let mut command = pgsurge(&["compare"]);
        command.args(sets.iter().map(|set| self.set(set))).args(options);
        Running::run("compare", &mut command, PATIENCE)
    }
}

#[test]
fn a_server_that_got_slower_is_a_regression_and_itself_is_no_difference() {
    let world = World::start();
    world.takes(0.01);
    world.repeat("before", 4, &[]);
    world.takes(0.03);
    world.repeat("after", 4, &[]);

    let sets = ["before", "after"];
    let regression = ["--fail-on-regression"];
    let told = world.compare(&sets, &regression).expect_code(4);
    for line in ["tps of", "p50 of"] {
        let line = told.stdout.lines().find(|there| there.starts_with(line)).unwrap();
        assert!(line.ends_with(": worse") && line.contains("(95 %: "), "{told}");
    }
    let _ = world.compare(&sets, &["--fail-on-regression=400"]).expect_code(0);
    let _ = world.compare(&sets, &[]).expect_code(0);
    let back = world.compare(&["after", "before"], &regression).expect_code(0);
    assert!(back.stdout.contains(": better"), "{back}");

    let page = world.folder.path().join("compare.html");
    let drawn = world.compare(&sets, &["--html", page.to_str().unwrap(), "--metric", "tps,p99"]);
    let drawn = drawn.expect_code(0);
    let loaded = load(&page);
    assert_eq!(loaded.console, [""; 0], "the console is silent");
    assert_eq!(loaded.document.matches("<figure data-chart=").count(), 2, "one for each metric");
    let sentence = drawn.stdout.lines().find(|line| line.starts_with("tps of")).unwrap();
    assert!(loaded.document.contains(sentence), "{sentence}");

    let same = world.compare(&["before", "before"], &regression).expect_code(0);
    assert_eq!(same.stdout.matches(": no difference shown").count(), 3, "{same}");

    let json = world.compare(&sets, &["--format", "json", "--metric", "tps"]).expect_code(0);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["schema"], "pgsurge.compare/1");
    assert_eq!(json["differences"][0]["word"], "worse");
    let percent = json["differences"][0]["percent"].as_f64().unwrap();
    assert!((-80.0..-40.0).contains(&percent), "{percent}");
    let medians: Vec<f64> =
        [0, 1].map(|set| json["sets"][set]["figures"][0]["median"].as_f64().unwrap()).to_vec();
    assert!(medians[0] > medians[1], "{json}");
}

#[test]
fn one_run_each_shows_figures_and_claims_nothing() {
    let world = World::start();
    world.takes(0.001);
    world.repeat("one", 2, &[]);
    let told = world.compare(&["one/0", "one/1"], &[]).expect_code(0);
    assert_eq!(told.stdout.matches("too few runs to tell").count(), 3, "{told}");
    assert!(told.stdout.contains("a difference takes 4 runs against 4"), "{told}");

    // A gate that cannot see does not let pass.
    let gate = world.compare(&["one/0", "one/1"], &["--fail-on-regression"]).expect_code(3);
    let unseen = "too few runs to see a regression in tps of ";
    assert!(gate.stderr.contains(unseen), "{gate}");

    // A run is no repeat of itself, however often it is named.
    let four = |run: &str| {
        let run = world.set(run).display().to_string();
        [run.as_str(); 4].join(",")
    };
    let mut command = pgsurge(&["compare"]);
    command.args([four("one/0"), four("one/1")]);
    let twice = Running::run("compare", &mut command, PATIENCE).expect_code(0);
    assert_eq!(twice.stdout.matches("too few runs to tell").count(), 3, "{twice}");
    assert!(twice.stdout.contains("one/0: it is there already"), "{twice}");
}

#[test]
fn other_workloads_are_not_compared_unless_asked_for() {
    let world = World::start();
    world.takes(0.001);
    world.repeat("one", 1, &["-c", "1"]);
    world.repeat("seed", 1, &["-c", "1", "--random-seed", "7", "-j", "1"]);
    world.repeat("more", 1, &["-c", "2"]);
    let _ = world.compare(&["one", "seed"], &[]).expect_code(0);
    let refused = world.compare(&["one", "more"], &[]).expect_code(1);
    assert_eq!(refused.stdout, "");
    assert!(refused.stderr.contains("clients 1 against 2"), "{refused}");
    let anyway = world.compare(&["one", "more"], &["--anyway"]).expect_code(0);
    assert!(anyway.stderr.contains("clients 1 against 2"), "{anyway}");
}

#[test]
fn runs_that_do_not_count_are_left_out_and_named() {
    let world = World::start();
    world.takes(0.001);
    world.repeat("good", 1, &[]);
    world.repeat("mixed", 2, &[]);
    spoil(&world.set("mixed/0"), |summary| summary["verdict"]["valid"] = false.into());
    let told = world.compare(&["good", "mixed"], &[]).expect_code(0);
    assert!(told.stderr.contains("mixed/0: invalid"), "{told}");
    assert!(told.stdout.contains("mixed: 1 run"), "{told}");
    spoil(&world.set("mixed/1"), |summary| summary["status"] = "partial".into());
    let none = world.compare(&["good", "mixed"], &[]).expect_code(3);
    assert!(none.stderr.contains("has no run whose figures can be used"), "{none}");
    assert_eq!(none.stdout, "");
}

fn spoil(run: &Path, spoil: impl FnOnce(&mut Value)) {
    let path = run.join("summary.json");
    let mut summary: Value =
        serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    spoil(&mut summary);
    std::fs::write(path, summary.to_string()).unwrap();
}

#[test]
fn what_cannot_be_compared_is_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    let later = folder.path().join("later");
    std::fs::create_dir(&empty).unwrap();
    std::fs::create_dir(&later).unwrap();
    std::fs::write(later.join("summary.json"), "{\"schema\": \"pgsurge.summary/2\"}").unwrap();
    let (empty, later) = (empty.to_str().unwrap(), later.to_str().unwrap());
    for (arguments, said) in [
        (vec![empty, empty], "holds no results, nor folders that do"),
        (vec![later, later], "is of schema pgsurge.summary/2"),
        (vec!["/nowhere", empty], "cannot look into /nowhere"),
        (vec![empty], "2 values required"),
        (vec![empty, empty, "--metric", "speed"], "expected one of tps, mean"),
        (vec![empty, empty, "--format", "xml"], "invalid value 'xml'"),
        (vec![empty, empty, "--fail-on-regression=-5"], "expected a number from 0"),
        (vec![empty, empty, "--fail-on-regression=nan"], "expected a number from 0"),
    ] {
        let mut command = pgsurge(&["compare"]);
        command.args(&arguments);
        let finished = Running::run("compare", &mut command, PATIENCE).expect_code(1);
        assert!(finished.stderr.contains(said), "{arguments:?}: {finished}");
        assert_eq!(finished.stdout, "", "{finished}");
    }
}
