//! `pgsurge capacity` on a server whose capacity is known: clients that need 50 ms for each transaction.

use std::path::Path;
use std::time::Duration;

use pgsurge_tests::browser::load;
use pgsurge_tests::cluster::{Cluster, pgsurge};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Finished, Running, eventually};
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
        std::fs::write(folder.path().join("slow.sql"), "select pg_sleep(0.05);\n").unwrap();
        Self { server, folder, _turn: turn }
    }

    fn results(&self) -> std::path::PathBuf {
        self.folder.path().join("capacity")
    }

    fn start_search(&self, own: &[&str], of_run: &[&str]) -> Running {
        let script = self.folder.path().join("slow.sql");
        let (results, uri) = (self.results(), self.server.uri());
        let mut command = pgsurge(&["capacity"]);
        command.arg("--results").arg(results).args(own);
        command.args(["-n", "-f"]).arg(script).args(of_run).arg(uri);
        Running::start("capacity", &mut command)
    }

    fn search(&self, own: &[&str], of_run: &[&str]) -> Finished {
        self.start_search(own, of_run).wait(PATIENCE)
    }

    fn answer(&self) -> Value {
        let text = std::fs::read_to_string(self.results().join("capacity.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }
}

#[test]
fn the_rate_that_two_clients_can_do_is_found_and_drawn() {
    let world = World::start();
    let own = ["--slo", "p99<400ms", "--start-rate", "10", "--step-time", "4", "--precision", "30"];
    let finished = world.search(&[&own[..], &["--confirm", "1"]].concat(), &["-c", "2"]);
    let finished = finished.expect_code(0);
    let answer = world.answer();
    // Two clients with 20 transactions a second each; above that the queue grows without end.
    let found = answer["found_tps"].as_f64().unwrap();
    let failed = answer["failed_tps"].as_f64().unwrap();
    assert!((5.0..=40.0).contains(&found), "{finished}");
    assert!(failed > found && failed <= found * 1.3 + 0.1, "{finished}");
    let sentence = format!("found {found:.1} tps; next step {failed:.1} tps failed because");
    assert!(finished.stdout.contains(&sentence), "{finished}");

    let steps = answer["steps"].as_array().unwrap();
    for step in steps {
        let folder = world.results().join(step["folder"].as_str().unwrap());
        let text = std::fs::read_to_string(folder.join("summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(summary["config"]["rate_tps"], step["rate_tps"]);
        assert_eq!(summary["totals"]["tps"], step["achieved_tps"]);
    }
    let page = load(&world.results().join("report.html"));
    assert_eq!(page.console, [""; 0], "the console is silent");
    assert!(page.document.contains(&sentence), "the page says what was found");
    for chart in ["latency", "achieved"] {
        let drawn = page.document.split_once(&format!("data-chart=\"{chart}\"")).unwrap().1;
        assert!(drawn.contains("js-line"), "{chart} has no lines");
    }
}

#[test]
fn agents_serve_one_step_after_the_other() {
    let world = World::start();
    let cluster = Cluster::start(2);
    let own = ["--slo", "failed<1%", "--start-rate", "5", "--max-rate", "10", "--step-time", "2"];
    let listen = cluster.listen().to_string();
    let of_run = ["-c", "4", "--agents", "2", "--listen", &listen];
    let finished = world.search(&[&own[..], &["--confirm", "1"]].concat(), &of_run);
    let finished = finished.expect_code(0);
    assert!(finished.stdout.contains("found 10.0 tps or more"), "{finished}");
    assert_eq!(world.answer()["steps"].as_array().unwrap().len(), 3, "{finished}");
}

#[test]
fn an_objective_that_nothing_meets_is_an_answer_too() {
    let world = World::start();
    let own = ["--slo", "p99<1ms", "--start-rate", "2", "--step-time", "2"];
    let finished = world.search(&own, &["-c", "2"]).expect_code(3);
    assert!(finished.stdout.contains("found nothing: not even 1.0 tps holds"), "{finished}");
    assert!(finished.stdout.contains("p99>=1ms"), "{finished}");
}

#[test]
fn an_interrupt_ends_the_search_with_what_is_known() {
    let world = World::start();
    let own = ["--slo", "p99<400ms", "--start-rate", "5", "--step-time", "2"];
    let search = world.start_search(&own, &["-c", "2"]);
    search.wait_for_stderr("  yes", PATIENCE);
    search.signal(Signal::INT);
    let finished = search.wait(PATIENCE).expect_code(130);
    assert!(finished.stdout.contains("did not come to its end"), "{finished}");
    assert_eq!(world.answer()["complete"], false);
    let sessions = "select count(*) from pg_stat_activity where application_name like 'pgsurge%'";
    eventually("no session stays", PATIENCE, || world.server.value(sessions) == "0");
}

#[test]
fn mistakes_are_told_before_anything_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("there");
    std::fs::create_dir(&there).unwrap();
    let new = folder.path().join("new");
    let refused = |results: &Path, arguments: &[&str]| {
        let mut command = pgsurge(&["capacity"]);
        command.arg("--results").arg(results).args(arguments).arg("postgresql://127.0.0.1:1/x");
        let finished = Running::run("capacity", &mut command, PATIENCE).expect_code(1);
        assert_eq!(finished.stdout, "", "{finished}");
        assert!(!new.exists(), "something was left: {finished}");
        finished.stderr
    };
    for (arguments, said) in [
        (&["--slo", "p99"][..], "invalid value \"p99\" for option --slo"),
        (&["--slo", "speed>1"], "unknown figure \"speed\""),
        (&["--slo", "p99<1ms", "-R", "5"], "-R/--rate is for the experiment itself to set"),
        (&["--slo", "p99<1ms", "--time=5"], "-T/--time is for the experiment itself to set"),
        (&["--slo", "p99<1ms", "-c", "none"], "invalid value \"none\""),
        (&["--slo", "p99<1ms", "--nonsense"], "--nonsense"),
        (&["--slo", "late<1%"], "-L"),
        (&["--slo", "p99<1ms", "--start-rate", "0"][..], "expected a number above 0"),
        (&[][..], "--slo"),
        (&["--slo", "p99<1ms", "-n"], "connection to server"),
    ] {
        let stderr = refused(&new, arguments);
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
    let stderr = refused(&there, &["--slo", "p99<1ms"]);
    assert!(stderr.contains("cannot make the folder"), "{stderr}");
}
