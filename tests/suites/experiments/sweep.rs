//! `pgsurge sweep`: the model ladders on a small scale, and a server that is as before whatever happens.

use std::path::PathBuf;
use std::time::Duration;

use pgsurge_tests::browser::load;
use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Finished, Running, eventually};
use pgsurge_tests::turn::{self, Turn};
use rustix::process::Signal;
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(240);
/// What a server without changes has.
const UNCHANGED: &str =
    "select count(*) from pg_file_settings where sourcefile like '%postgresql.auto.conf'";

struct World {
    server: Postgres,
    folder: tempfile::TempDir,
    _turn: Turn,
}

impl World {
    fn start(version: Version) -> Self {
        let turn = turn::take();
        let server = Postgres::start(version, &Settings::new());
        let folder = tempfile::tempdir().unwrap();
        Self { server, folder, _turn: turn }
    }

    /// A script whose transactions take 10 ms where the server allows 90 connections or more, else 30 ms.
    fn script(&self) -> String {
        let path = self.folder.path().join("work.sql");
        let work = "select pg_sleep(case when current_setting('max_connections')::int >= 90 \
                    then 0.01 else 0.03 end);\n";
        std::fs::write(&path, work).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("sweep")
    }

    fn data(&self) -> String {
        self.server.data_dir().to_str().unwrap().to_owned()
    }

    fn begin(&self, own: &[&str], of_run: &[&str]) -> Running {
        self.with(&["--results", self.results().to_str().unwrap()], own, of_run)
    }

    fn with(&self, place: &[&str], own: &[&str], of_run: &[&str]) -> Running {
        let mut command = pgsurge(&["sweep"]);
        command.args(place).args(own).args(of_run).arg(self.server.uri());
        Running::start("sweep", &mut command)
    }

    fn sweep(&self, own: &[&str], of_run: &[&str]) -> Finished {
        self.begin(own, of_run).wait(PATIENCE)
    }

    fn answer(&self) -> Value {
        let text = std::fs::read_to_string(self.results().join("sweep.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Nothing is set by ALTER SYSTEM, and this setting is what it was at the start.
    fn is_as_before(&self, setting: &str, value: &str) -> bool {
        self.server.value(UNCHANGED) == "0"
            && self.server.value(&format!("select current_setting('{setting}')")) == value
    }
}

fn points(answer: &Value) -> &[Value] {
    answer["points"].as_array().unwrap()
}

#[test]
fn a_client_ladder_of_two_workloads_is_a_table_and_charts() {
    let world = World::start(Version::V15);
    let mut init = pgsurge(&["init", "-q", "-s", "1", &world.server.uri()]);
    let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
    let file = world.folder.path().join("ladder.toml");
    let text = "repeats = 1\nprewarm = true\ncheckpoint = true\n[axes]\n\
                workload = [\"tpcb-like\", \"select-only\"]\nclients = [1, 2, 4]\n";
    std::fs::write(&file, text).unwrap();
    let own = ["--file", file.to_str().unwrap()];
    let finished = world.sweep(&own, &["-n", "-t", "50"]).expect_code(0);

    let answer = world.answer();
    assert_eq!(answer["complete"], true);
    assert_eq!(answer["axes"], serde_json::json!(["workload", "clients"]));
    assert_eq!(points(&answer).len(), 6);
    for point in points(&answer) {
        let folder = world.results().join(point["folders"][0].as_str().unwrap());
        let summary = std::fs::read_to_string(folder.join("summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["totals"]["tps"], point["tps"]["median"], "{point}");
        assert_eq!(summary["config"]["clients"].to_string(), point["values"][1].as_str().unwrap());
        assert!(summary["server"]["prewarm"].is_object(), "the cache was warmed: {summary}");
        // Each workload has a baseline of its own.
        assert_eq!(point["baseline"][0], point["values"][0]);
        let line = finished.stdout.lines().find(|line| {
            let mut words = line.split_whitespace();
            words.next() == point["values"][0].as_str()
                && words.next() == point["values"][1].as_str()
        });
        let tps = format!("{:.1}", point["tps"]["median"].as_f64().unwrap());
        assert!(line.is_some_and(|line| line.contains(&tps)), "{tps}: {finished}");
    }
    // Reading alone is faster than writing, whatever the number of clients.
    for (mixed, reading) in points(&answer)[..3].iter().zip(&points(&answer)[3..]) {
        let tps = |point: &Value| point["tps"]["median"].as_f64().unwrap();
        assert!(tps(reading) > tps(mixed), "{finished}");
    }
    let page = load(&world.results().join("report.html"));
    assert_eq!(page.console, [""; 0], "the console is silent");
    for (chart, lines) in [("tps", 2), ("latency", 4)] {
        let drawn = page.document.split_once(&format!("data-chart=\"{chart}\"")).unwrap().1;
        let drawn = drawn.split_once("</figure>").unwrap().0;
        // Each is in the legend, too.
        assert_eq!(drawn.matches("js-line").count(), 2 * lines, "{chart}");
    }
    let tps = points(&answer)[5]["tps"]["median"].as_f64().unwrap();
    assert!(page.document.contains(&format!("{tps:.1}")), "the page has the figures");

    let first = std::fs::read(world.results().join("report.html")).unwrap();
    std::fs::remove_file(world.results().join("report.html")).unwrap();
    let mut again = pgsurge(&["report", world.results().to_str().unwrap()]);
    let _ = Running::run("report", &mut again, PATIENCE).expect_code(0);
    let second = std::fs::read(world.results().join("report.html")).unwrap();
    assert!(first == second, "the page can be made again");
}

#[test]
fn a_setting_that_takes_a_restart_shows_its_gain_and_is_put_back() {
    for version in [Version::V15, Version::V18] {
        let world = World::start(version);
        let before = world.server.value("show max_connections");
        world.server.execute("alter system set work_mem = '5MB'");
        let (script, data) = (world.script(), world.data());
        let own = ["--setting", "max_connections=60,100", "--setting", "work_mem=8MB"];
        let own = [&own[..], &["--repeats", "4", "--data-directory", &data]].concat();
        let finished = world.sweep(&own, &["-n", "-t", "10", "-f", &script]).expect_code(0);
        let answer = world.answer();
        let gain = &points(&answer)[1]["gain"];
        assert_eq!(gain["word"], "better", "{finished}");
        let percent = gain["percent"].as_f64().unwrap();
        assert!((50.0..250.0).contains(&percent), "{finished}");
        assert_eq!(points(&answer)[0]["gain"], Value::Null);
        assert!(finished.stdout.contains("baseline"), "{finished}");
        // What ALTER SYSTEM had set before is back, and nothing else.
        assert_eq!(world.server.value("show max_connections"), before);
        assert_eq!(world.server.value("show work_mem"), "5MB");
        assert_eq!(world.server.value(UNCHANGED), "1");
        let held = "select setting from pg_file_settings where name = 'work_mem'";
        assert_eq!(world.server.value(held), "5MB");
    }
}

#[test]
fn a_server_that_does_not_start_with_a_setting_is_brought_back() {
    let world = World::start(Version::V15);
    let before = world.server.value("show shared_buffers");
    let (script, data) = (world.script(), world.data());
    let own = ["--setting", "shared_buffers=8000GB,16MB", "--data-directory", &data];
    // All repeats of the bad point come first.
    let own = [&own[..], &["--repeats", "3", "--order", "sequential"]].concat();
    let finished = world.sweep(&own, &["-n", "-t", "5", "-f", &script]).expect_code(3);
    let answer = world.answer();
    assert_eq!(points(&answer)[0]["runs"], 0);
    assert_eq!(points(&answer)[1]["runs"], 3, "others are measured: {finished}");
    assert!(
        finished.stdout.contains("FATAL:  could not map anonymous shared memory"),
        "{finished}"
    );
    assert!(world.is_as_before("shared_buffers", &before), "{finished}");

    // The same by commands of the user's own.
    let recover = format!("sed -i /shared_buffers/d {data}/postgresql.auto.conf");
    let opts = std::fs::read_to_string(world.server.data_dir().join("postmaster.opts")).unwrap();
    let pg_ctl = PathBuf::from(opts.split_whitespace().next().unwrap()).with_file_name("pg_ctl");
    let log = world.folder.path().join("server.log");
    std::fs::write(&log, "").unwrap();
    let mut restart = format!("{} restart -w -m fast -D {data}", pg_ctl.display());
    if let Some((user, group)) = pgsurge_tests::postgres::server_account() {
        restart = format!("setpriv --reuid {user} --regid {group} --clear-groups {restart}");
    }
    let restart = format!("cd / && {restart} >> {} 2>&1", log.display());
    let place = world.folder.path().join("by-commands");
    let own = ["--setting", "shared_buffers=8000GB,16MB", "--repeats", "1"];
    let own = [&own[..], &["--restart-cmd", &restart, "--recover-cmd", &recover]].concat();
    let of_run = ["-n", "-t", "5", "-f", &script];
    let running = world.with(&["--results", place.to_str().unwrap()], &own, &of_run);
    let finished = running.wait(PATIENCE).expect_code(3);
    assert!(finished.stdout.contains("--restart-cmd ended with"), "{finished}");
    assert!(world.is_as_before("shared_buffers", &before), "{finished}");
}

#[test]
fn a_restart_that_does_not_happen_is_told_and_nothing_stays_set() {
    let world = World::start(Version::V15);
    let before = world.server.value("show shared_buffers");
    let script = world.script();
    for (n, (restart, said, code)) in [
        ("true", "it was not restarted", 3),
        ("sleep 600", "--restart-cmd took longer than 2 s", 1),
    ]
    .into_iter()
    .enumerate()
    {
        let place = world.folder.path().join(n.to_string());
        let own = ["--setting", "shared_buffers=16MB", "--restart-cmd", restart, "--repeats", "1"];
        let own = [&own[..], &["--recover-cmd", "true", "--restart-timeout", "2"]].concat();
        let of_run = ["-n", "-t", "1", "-f", &script];
        let finished = world.with(&["--results", place.to_str().unwrap()], &own, &of_run);
        let finished = finished.wait(PATIENCE).expect_code(code);
        assert!(finished.stderr.contains(said), "{finished}");
        if code == 1 {
            // The user has to see to the server, and is told how.
            let left = "once it runs: ALTER SYSTEM RESET shared_buffers; then a restart";
            assert!(finished.stderr.contains(left), "{finished}");
            assert!(finished.stdout.contains("not measured"), "{finished}");
        }
        assert!(world.is_as_before("shared_buffers", &before), "{finished}");
    }
}

#[test]
fn a_point_that_the_server_has_no_room_for_is_invalid_and_others_are_measured() {
    let world = World::start(Version::V15);
    let script = world.script();
    let own = ["--axis", "clients=1,5000", "--repeats", "1"];
    let finished = world.sweep(&own, &["-n", "-t", "5", "-f", &script]).expect_code(3);
    let answer = world.answer();
    assert_eq!(points(&answer)[0]["runs"], 1, "{finished}");
    let why = points(&answer)[1]["left_out"][0].as_str().unwrap();
    assert!(why.contains("5000 clients") && !why.contains('\n'), "{why}");
}

#[test]
fn a_target_that_goes_away_ends_a_sweep_which_goes_on_when_it_is_back() {
    let mut world = World::start(Version::V15);
    let script = world.script();
    let own = ["--axis", "clients=1,2,3", "--repeats", "1"];
    let of_run = ["-n", "-t", "40", "-f", &script];
    let running = world.begin(&own, &of_run);
    running.wait_for_stderr("[1/3]", PATIENCE);
    world.server.stop();
    let finished = running.wait(PATIENCE).expect_code(1);
    assert!(finished.stderr.contains("there is nothing to go on with"), "{finished}");
    assert_eq!(world.answer()["complete"], false, "{finished}");
    world.server.resume();
    let place = world.results();
    let resumed = world.with(&["--resume", place.to_str().unwrap()], &own, &of_run);
    let resumed = resumed.wait(PATIENCE).expect_code(0);
    let answer = world.answer();
    assert!(points(&answer).iter().all(|point| point["runs"] == 1), "{resumed}");
}

#[test]
fn an_interrupted_sweep_puts_everything_back_and_goes_on_later() {
    let world = World::start(Version::V15);
    let before = world.server.value("show work_mem");
    let script = world.script();
    let own = ["--setting", "work_mem=5MB,6MB", "--repeats", "2"];
    let of_run = ["-n", "-t", "60", "-f", &script];
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let place = world.folder.path().join(format!("{code:?}"));
        let place = place.to_str().unwrap();
        let running = world.with(&["--results", place], &own, &of_run);
        running.wait_for_stderr("[2/4]", PATIENCE);
        running.signal(signal);
        let finished = running.wait(PATIENCE);
        if let Some(code) = code {
            let finished = finished.expect_code(code);
            assert!(finished.stdout.contains("--resume goes on with it"), "{finished}");
            assert!(world.is_as_before("work_mem", &before), "{finished}");
        }
        let resumed = world.with(&["--resume", place], &own, &of_run).wait(PATIENCE).expect_code(0);
        assert!(!resumed.stderr.contains("[2/4]"), "what was measured stays: {resumed}");
        assert!(resumed.stderr.contains("[4/4]"), "{resumed}");
        eventually("everything is as before", PATIENCE, || world.is_as_before("work_mem", &before));
        let other = world.with(&["--resume", place], &["--setting", "work_mem=5MB"], &of_run);
        let other = other.wait(PATIENCE).expect_code(1);
        assert!(other.stderr.contains("varied something else"), "{other}");
    }
}

#[test]
fn settings_of_the_operating_system_are_set_by_commands_and_put_back() {
    let world = World::start(Version::V15);
    let knob = world.folder.path().join("knob");
    std::fs::write(&knob, "60\n").unwrap();
    let seen = world.folder.path().join("seen");
    let file = world.folder.path().join("sweep.toml");
    let text = format!(
        "repeats = 1\n[system.swappiness]\nget = \"cat {0}\"\n\
         set = \"echo $VALUE > {0}; echo $VALUE >> {1}\"\nvalues = [10, 30]\n",
        knob.display(),
        seen.display()
    );
    std::fs::write(&file, text).unwrap();
    let script = world.script();
    let own = ["--file", file.to_str().unwrap()];
    let _ = world.sweep(&own, &["-n", "-t", "2", "-f", &script]).expect_code(0);
    assert_eq!(std::fs::read_to_string(&seen).unwrap(), "10\n30\n60\n");
    assert_eq!(std::fs::read_to_string(&knob).unwrap(), "60\n");
}

#[test]
fn tables_are_made_anew_for_each_scale() {
    let world = World::start(Version::V15);
    let own = ["--axis", "scale=1,2", "--repeats", "1"];
    let finished = world.sweep(&own, &["-n", "-S", "-t", "10"]).expect_code(0);
    for (point, scale) in points(&world.answer()).iter().zip([1, 2]) {
        let folder = world.results().join(point["folders"][0].as_str().unwrap());
        let summary = std::fs::read_to_string(folder.join("summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["config"]["scale"], scale, "{finished}");
        assert_eq!(point["gain"], Value::Null, "another scale is another question");
    }
}

#[test]
fn mistakes_change_nothing() {
    let world = World::start(Version::V15);
    world.server.execute("create role plain login");
    let file = world.folder.path().join("wrong.toml");
    std::fs::write(&file, "axis = 1\n").unwrap();
    let later = world.folder.path().join("later");
    std::fs::create_dir(&later).unwrap();
    let journal = "{\"schema\":\"pgsurge.sweep-journal/2\",\"head\":{}}\n";
    std::fs::write(later.join("sweep.jsonl"), journal).unwrap();
    let (file, later) = (file.to_str().unwrap(), later.to_str().unwrap());
    let data = world.data();
    let elsewhere = std::env::temp_dir().to_str().unwrap().to_owned();
    for (own, said) in [
        (&["--setting", "nosuch=1"][..], "the server has no setting nosuch"),
        (&["--setting", "work_mem=1kB"], "invalid value \"1kB\" for setting work_mem"),
        (&["--setting", "jit=maybe"], "it is on or off"),
        (&["--setting", "wal_level=none"], "it is one of"),
        (&["--setting", "block_size=1"], "cannot be changed"),
        (&["--setting", "search_path=a"], "is a list of names"),
        (&["--setting", "port=1", "--data-directory", &data], "command line"),
        (&["--setting", "shared_buffers=16MB"], "takes a restart"),
        (&["--setting", "shared_buffers=16MB", "--restart-cmd", "true"], "--recover-cmd is needed"),
        (
            &["--setting", "work_mem=5MB", "--data-directory", &elsewhere],
            "is not that of the server",
        ),
        (&["--axis", "clients="], "invalid value"),
        (&["--axis", "clients=0"], "must be in range"),
        (&["--axis", "users=1"], "there is no axis users"),
        (&["--axis", "clients=1", "-c", "1"], "is for the experiment itself to set"),
        (&["--axis", "clients=1", "--format", "json"], "is for the experiment itself to set"),
        (&["--axis", "clients=1,1"], "the value 1 twice"),
        (&["--file", file], "there is no key axis"),
        (&["--file", "/nowhere"], "cannot read /nowhere"),
        (&["--resume", later, "--axis", "clients=1"], "is of schema pgsurge.sweep-journal/2"),
        (&["--resume", "/nowhere", "--axis", "clients=1"], "cannot use /nowhere"),
        (&[], "nothing is varied"),
    ] {
        let place = world.results();
        let place = ["--results", place.to_str().unwrap()];
        let place = if own.contains(&"--resume") { &[][..] } else { &place[..] };
        let finished =
            world.with(place, own, &["-n", "-t", "1", "-S"]).wait(PATIENCE).expect_code(1);
        assert!(finished.stderr.contains(said), "{own:?}: {finished}");
        assert_eq!(finished.stdout, "", "{finished}");
        assert!(!world.results().exists(), "something was left: {finished}");
    }
    let mut plain = pgsurge(&["sweep", "--setting", "work_mem=5MB", "--results"]);
    plain
        .arg(world.results())
        .args(["-n", "-t", "1"])
        .arg(world.server.uri_for("plain", "postgres"));
    let plain = Running::run("sweep", &mut plain, PATIENCE).expect_code(1);
    assert!(plain.stderr.contains("it is no superuser"), "{plain}");
    assert_eq!(world.server.value(UNCHANGED), "0");
}
