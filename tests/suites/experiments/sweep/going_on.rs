//! Sweeps that end early, in whatever way, and go on later.

use pgsurge_tests::postgres::Version;
use pgsurge_tests::process::eventually;
use rustix::process::Signal;

use super::{PATIENCE, World, points};

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
fn a_server_that_a_killed_sweep_left_unable_to_start_is_brought_back_by_resuming() {
    let mut world = World::start(Version::V15);
    let before = world.server.value("show shared_buffers");
    let (script, data) = (world.script(), world.data());
    let own =
        ["--setting", "shared_buffers=16MB,32MB", "--repeats", "1", "--data-directory", &data];
    let of_run = ["-n", "-t", "60", "-f", &script];
    let running = world.begin(&own, &of_run);
    running.wait_for_stderr("[1/2]", PATIENCE);
    running.signal(Signal::KILL);
    let _ = running.wait(PATIENCE);
    // As if it had been killed while it tried a value that is too much.
    world.server.stop();
    let path = world.server.data_dir().join("postgresql.auto.conf");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text + "shared_buffers = '8000GB'\n").unwrap();
    let place = world.results();
    let resumed = world.with(&["--resume", place.to_str().unwrap()], &own, &of_run);
    let resumed = resumed.wait(PATIENCE).expect_code(0);
    assert_eq!(world.answer()["complete"], true, "{resumed}");
    assert!(world.is_as_before("shared_buffers", &before), "{resumed}");
}
