//! The model ladders on a small scale, and what else can be varied.

use pgsurge_tests::browser::load;
use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::postgres::Version;
use pgsurge_tests::process::Running;
use serde_json::Value;

use super::{PATIENCE, UNCHANGED, World, points};

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
