//! `pgsurge sweep`: what all its tests have in common, and mistakes.

mod going_on;
mod ladders;
mod server;

use std::path::PathBuf;
use std::time::Duration;

use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Finished, Running};
use pgsurge_tests::turn::{self, Turn};
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
