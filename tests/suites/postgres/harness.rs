//! The harness of servers keeps its promises: real versions, no trace afterwards.

use std::process::Command;

use pgsurge_tests::postgres::{Postgres, Settings, Version, wait_until};

fn is_running(pid: u32) -> bool {
    // A zombie has ended, whether or not somebody has collected it.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn each_version_starts_and_answers_over_tcp_and_socket() {
    for version in Version::ALL {
        let server = Postgres::start(version, &Settings::new().set("work_mem", "5MB"));
        let number: u32 = server.value("show server_version_num").parse().unwrap();
        assert_eq!(number / 10_000, version.major());
        assert_eq!(server.value("show work_mem"), "5MB");
        let psql = server.command("psql").args(["-Atc", "select 1"]).output().unwrap();
        assert_eq!(psql.stdout, b"1\n", "{}", String::from_utf8_lossy(&psql.stderr));
    }
}

#[test]
fn a_dropped_server_leaves_neither_process_nor_folder() {
    let server = Postgres::start(Version::V15, &Settings::new());
    let (pid, folder) = (server.pid().unwrap(), server.socket_dir().to_owned());
    assert!(is_running(pid) && folder.exists());
    drop(server);
    assert!(!is_running(pid) && !folder.exists());
}

#[test]
fn data_survives_a_crash_and_a_restart() {
    let mut server =
        Postgres::start(Version::V15, &Settings::new().set("synchronous_commit", "on"));
    server.execute("create table kept(x int); insert into kept values (1)");
    server.kill();
    assert_eq!(server.pid(), None);
    server.resume();
    assert_eq!(server.value("select x from kept"), "1");
    server.restart();
    assert_eq!(server.value("select x from kept"), "1");
}

#[test]
fn a_password_rule_shuts_others_out_but_not_the_harness() {
    let server = Postgres::start(Version::V15, &Settings::new());
    server.set_hba(&["host all all 127.0.0.1/32 scram-sha-256"]);
    let psql = server.command("psql").args(["-wAtc", "select 1"]).output().unwrap();
    assert!(!psql.status.success(), "trusted without a password");
    assert_eq!(server.value("select 1"), "1");
}

#[test]
fn tls_is_offered_where_asked_for() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    let psql = server
        .command("psql")
        .env("PGSSLMODE", "verify-full")
        .env("PGHOST", "localhost")
        .env("PGHOSTADDR", "127.0.0.1")
        .env("PGSSLROOTCERT", &server.certificates().root)
        .env("PGSSLCERT", &server.certificates().client)
        .env("PGSSLKEY", &server.certificates().client_key)
        .args(["-Atc", "select ssl, client_dn from pg_stat_ssl where pid = pg_backend_pid()"])
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&psql.stdout).trim(),
        "t|/CN=postgres",
        "{}",
        String::from_utf8_lossy(&psql.stderr)
    );
}

/// Run by the next test in a process of its own, which it kills; alone it only starts and stops a server.
#[test]
fn announces_its_server_and_waits_for_the_end_of_its_input() {
    let server = Postgres::start(Version::V15, &Settings::new());
    let Ok(place) = std::env::var("PGSURGE_TEST_ANNOUNCE") else { return };
    let text = format!("{}\n{}\n", server.pid().unwrap(), server.socket_dir().display());
    std::fs::write(format!("{place}.part"), text).unwrap();
    std::fs::rename(format!("{place}.part"), &place).unwrap();
    std::io::stdin().lines().count();
}

#[test]
fn a_killed_test_process_leaves_no_server_behind() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("server");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "harness::announces_its_server_and_waits_for_the_end_of_its_input"])
        .env("PGSURGE_TEST_ANNOUNCE", &place)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the victim has a server", || place.exists());
    let told = std::fs::read_to_string(&place).unwrap();
    let (pid, data) = told.trim().split_once('\n').unwrap();
    victim.kill().unwrap();
    victim.wait().unwrap();
    let (pid, data) = (pid.parse().unwrap(), std::path::Path::new(data));
    wait_until("its server is gone", || !is_running(pid) && !data.exists());
}
