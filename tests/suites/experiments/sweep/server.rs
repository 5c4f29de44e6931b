//! A server that does not start with a setting, or is not restarted.

use std::path::PathBuf;

use pgsurge_tests::postgres::Version;

use super::{PATIENCE, World, points};

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
