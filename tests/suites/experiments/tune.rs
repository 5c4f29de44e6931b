//! `pgsurge tune` on a server whose best settings are known: the script sleeps by what they are.

use std::path::PathBuf;
use std::time::Duration;

use pgsurge_tests::browser::load;
use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Finished, Running};
use pgsurge_tests::turn::{self, Turn};
use rustix::process::Signal;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(240);

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
        let work = "select pg_sleep(case when current_setting('work_mem') = '8MB' then 0.005 \
                    when current_setting('work_mem') = '64kB' then 0.1 else 0.02 end);\n";
        std::fs::write(folder.path().join("work.sql"), work).unwrap();
        Self { server, folder, _turn: turn }
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("tune")
    }

    fn begin(&self, place: &str, own: &[&str]) -> Running {
        let script = self.folder.path().join("work.sql");
        let mut command = pgsurge(&["tune", place]);
        command.arg(self.results()).args(["--step-time", "1"]).args(own);
        command.args(["-n", "-c", "2", "-f"]).arg(script).arg(self.server.uri());
        Running::start("tune", &mut command)
    }

    fn tune(&self, own: &[&str]) -> Finished {
        self.begin("--results", own).wait(PATIENCE)
    }

    fn answer(&self) -> Value {
        let text = std::fs::read_to_string(self.results().join("tune.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn is_as_before(&self) -> bool {
        let set =
            "select count(*) from pg_file_settings where sourcefile like '%postgresql.auto.conf'";
        self.server.value(set) == "0" && self.server.value("show work_mem") == "4MB"
    }
}

fn trials<'a>(answer: &'a Value, purpose: &str) -> Vec<&'a Value> {
    answer["trials"].as_array().unwrap().iter().filter(|t| t["purpose"] == purpose).collect()
}

#[test]
fn every_strategy_finds_the_best_value_and_says_how_to_have_it() {
    for (strategy, points) in [("grid", 4), ("model", 4)] {
        let world = World::start();
        let own = ["--setting", "work_mem=2MB,8MB", "--setting", "enable_sort=on,off"];
        let own =
            [&own[..], &["--strategy", strategy, "--confirm", "4", "--probe-time", "0"]].concat();
        let finished = world.tune(&own).expect_code(0);
        let answer = world.answer();
        assert_eq!(answer["complete"], true);
        assert_eq!(answer["baseline"], serde_json::json!(["4MB", "on"]));
        assert_eq!(answer["best"][0], "8MB", "{finished}");
        assert_eq!(answer["confirmation"]["word"], "better", "{finished}");
        assert_eq!(trials(&answer, "point").len(), points);
        assert_eq!(trials(&answer, "best").len(), 4);
        assert_eq!(trials(&answer, "beside-best").len(), 4);
        let first = answer["alter_system"][0].as_str().unwrap();
        assert_eq!(first, "ALTER SYSTEM SET work_mem = '8MB';");
        assert!(finished.stdout.contains(first), "{finished}");
        let read = |name: &str| std::fs::read_to_string(world.results().join(name)).unwrap();
        assert!(read("best.sql").contains(first));
        assert!(read("best.conf").contains("work_mem = '8MB'"));
        assert!(world.is_as_before(), "{finished}");
        // What is said to be had can be had.
        for statement in answer["alter_system"].as_array().unwrap() {
            world.server.execute(statement.as_str().unwrap());
        }
        if strategy == "grid" {
            let page = load(&world.results().join("report.html"));
            assert_eq!(page.console, [""; 0], "the console is silent");
            assert!(page.document.contains("tps is better with work_mem=8MB"));
            for chart in ["course", "confirmation"] {
                let drawn = page.document.split_once(&format!("data-chart=\"{chart}\"")).unwrap().1;
                assert!(drawn.contains("js-line"), "{chart} has no lines");
            }
        }
    }
}

#[test]
fn a_hopeless_point_is_stopped_early_and_nothing_better_is_an_answer() {
    let world = World::start();
    let own = ["--setting", "work_mem=64kB,5MB", "--strategy", "grid", "--objective", "p50"];
    let own =
        [&own[..], &["--probe-time", "1", "--confirm", "4", "--baseline-every", "1"]].concat();
    let finished = world.tune(&own).expect_code(0);
    let answer = world.answer();
    let points = trials(&answer, "point");
    assert!(points[0]["because"].as_str().unwrap().starts_with("hopeless"), "{finished}");
    assert_eq!(points[0]["value"], Value::Null);
    assert!(points[1]["value"].is_number(), "{finished}");
    assert_eq!(trials(&answer, "baseline").len(), 2, "measured again");
    assert_eq!(answer["best"][0], "5MB");
    if answer["confirmation"]["word"] != "better" {
        assert!(finished.stdout.contains("keep what you have"), "{finished}");
        assert_eq!(answer["alter_system"], serde_json::json!([]));
    }
    assert!(world.is_as_before());
}

#[test]
fn a_search_that_was_interrupted_goes_on_where_it_was() {
    let world = World::start();
    let own = ["--setting", "work_mem=2MB,3MB,5MB,8MB", "--strategy", "random", "--seed", "5"];
    let own = [&own[..], &["--probe-time", "0", "--confirm", "1"]].concat();
    let running = world.begin("--results", &own);
    running.wait_for_stderr("point work_mem", PATIENCE);
    running.signal(Signal::INT);
    let _ = running.wait(PATIENCE).expect_code(130);
    assert!(world.is_as_before());
    let before = world.answer();
    assert_eq!(before["complete"], false);
    let finished = world.begin("--resume", &own).wait(PATIENCE).expect_code(0);
    let answer = world.answer();
    assert_eq!(answer["complete"], true, "{finished}");
    let known = before["trials"].as_array().unwrap();
    assert_eq!(&answer["trials"].as_array().unwrap()[..known.len()], &known[..]);
    let mut points: Vec<&str> =
        trials(&answer, "point").iter().map(|t| t["values"][0].as_str().unwrap()).collect();
    points.sort_unstable();
    assert_eq!(points, ["2MB", "3MB", "5MB", "8MB"]);
    assert!(world.is_as_before());
}

#[test]
fn mistakes_change_nothing() {
    let world = World::start();
    for (own, said) in [
        (&["--setting", "nosuch=1"][..], "the server has no setting nosuch"),
        (&["--setting", "work_mem=1kB,4MB"], "invalid value \"1kB\" for setting work_mem"),
        (&["--setting", "shared_buffers=16MB"], "takes a restart"),
        (&["--axis", "workload=tpcb-like"], "is for the experiment itself to set"),
        (&["--axis", "rate=5"], "is what the load is"),
        (
            &["--setting", "work_mem=4MB", "--objective", "speed"],
            "objective speed: expected one of",
        ),
        (&["--setting", "work_mem=4MB", "--strategy", "guess"], "expected grid, random or model"),
        (
            &["--setting", "work_mem=4MB..64MB*2", "--strategy", "grid", "--trials", "2"],
            "the grid has 5 points",
        ),
        (
            &["--setting", "work_mem=4MB", "-T", "5"],
            "-T/--time is for the experiment itself to set",
        ),
        (&[], "nothing is tuned"),
    ] {
        let finished = world.tune(own).expect_code(1);
        assert!(finished.stderr.contains(said), "{own:?}: {finished}");
        assert!(!world.results().exists(), "something was left: {finished}");
    }
    assert!(world.is_as_before());
}
