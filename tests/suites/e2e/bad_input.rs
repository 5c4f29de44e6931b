//! What a user can get wrong: one clear error with a hint, the right exit code, nothing left running,
//! nothing half written.

use std::io::Write;
use std::net::{TcpListener, TcpStream};

use pgsurge_tests::cluster::{Cluster, Run, free_address, pgsurge};
use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::postgres::Settings;
use pgsurge_tests::process::Running;

use super::fixture::{PATIENCE, World, assert_adds_up};

/// A command line that must fail before any connection, and what the error has to contain.
const STATIC: &[(&[&str], &[&str])] = &[
    (&["run", "--nonsense"], &["--nonsense", "hint"]),
    (&["run", "-c", "many"], &["invalid value \"many\" for option -c/--client"]),
    (&["run", "-c", "0"], &["-c/--client must be in range 1..2147483647"]),
    (&["run", "-M", "fast"], &["invalid query mode (-M): \"fast\""]),
    (&["run", "-t", "1", "-T", "1"], &["-t", "-T", "not both"]),
    (&["run", "-b", "tpcx"], &["no builtin script found for name \"tpcx\""]),
    (&["run", "-f", "/nonexistent/script.sql"], &["/nonexistent/script.sql"]),
    (&["run", "--agents", "0"], &["--agents"]),
    (&["run", "--agents", "2", "--listen", "nowhere"], &["nowhere"]),
    (&["run", "--format", "xml"], &["xml"]),
    (&["init", "-s", "0"], &["-s/--scale must be in range"]),
    (&["init", "-I", "dtx"], &["unrecognized initialization step \"x\""]),
    (&["-i", "-c", "5"], &["initialization"]),
    (&["agent"], &["--coordinator"]),
    (&["agent", "--coordinator", "nowhere:port"], &["nowhere:port"]),
    (&["agent", "--nonsense"], &["--nonsense", "hint"]),
];

#[test]
fn mistakes_on_the_command_line_are_told_before_anything_happens() {
    let server = FakeServer::start(Behaviour::default());
    let mut wrong = Vec::new();
    for (arguments, expected) in STATIC {
        let folder = tempfile::tempdir().unwrap();
        let mut command = pgsurge(arguments);
        command.env("PGHOST", "127.0.0.1").env("PGPORT", server.port().to_string());
        command.env("PGUSER", "postgres").current_dir(folder.path());
        let finished = Running::run("pgsurge", &mut command, PATIENCE);
        let missing = expected.iter().find(|part| !finished.stderr.contains(**part));
        let errors = finished.stderr.lines().filter(|line| line.contains("error: ")).count();
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        let fine = finished.code() == Some(1)
            && finished.stdout.is_empty()
            && missing.is_none()
            && errors == 1
            && left == 0;
        if !fine {
            let code = finished.code();
            wrong.push(format!("{arguments:?}: code {code:?}, no {missing:?}\n{finished}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(server.counts().sessions, 0, "a connection was made");
}

/// Runs into a target that cannot be used, without agents and with one; returns the error text.
#[track_caller]
fn refused(arguments: &[&str], expected: &[&str]) {
    let cluster = Cluster::start(1);
    for run in [Run::local(arguments), cluster.run(arguments)] {
        let report = run.finish(PATIENCE).expect_code(1);
        let said = &report.finished.stderr;
        for part in expected {
            assert!(said.contains(part), "no {part:?}\n{}", report.finished);
        }
        let errors = said.lines().filter(|line| line.contains("error: ")).count();
        assert_eq!(errors, 1, "{}", report.finished);
        assert!(!report.folder().exists(), "something was written");
    }
}

#[test]
fn a_target_that_is_not_there_is_named() {
    let address = free_address();
    let uri = format!("postgresql://postgres@{address}/postgres");
    refused(&["-c", "2", "-t", "5", &uri], &["127.0.0.1", &address.port().to_string(), "refused"]);
}

#[test]
fn a_wrong_password_is_told_without_the_password() {
    let world = World::bare(&Settings::new().hba(&["host all all 127.0.0.1/32 scram-sha-256"]));
    world.server.execute("create role pat login password 'right'");
    let wrong = "postgresql://pat:wr0ng-secret@127.0.0.1";
    let uri = format!("{wrong}:{}/postgres", world.server.port());
    refused(&["-c", "2", "-t", "5", &uri], &["password authentication failed for user \"pat\""]);
    let report = Run::local(&["-c", "2", &uri]).finish(PATIENCE);
    assert!(!report.finished.to_string().contains("wr0ng-secret"), "{}", report.finished);
}

#[test]
fn missing_tables_are_told_with_the_way_to_make_them() {
    let world = World::bare(&Settings::new());
    refused(&["-c", "2", "-t", "5", &world.uri], &["pgbench_branches", "pgsurge -i"]);
}

#[test]
fn more_clients_than_the_server_has_room_for_are_refused_before_connecting() {
    let world = World::filled(&Settings::new().connections(20).set("log_connections", "on"));
    let before = world.server.log().matches("connection authorized").count();
    refused(&["-c", "100", "-t", "5", "-n", &world.uri], &["100", "max_connections"]);
    let opened = world.server.log().matches("connection authorized").count() - before;
    assert!(opened < 10, "{opened} connections were opened");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let server = FakeServer::start(Behaviour::default());
    let arguments = ["-t", "5", "-S", "-n", "--agents", "1", "--listen", &address, &server.uri()];
    let report = Run::local(&arguments).finish(PATIENCE).expect_code(1);
    let said = &report.finished.stderr;
    assert!(said.contains(&address) && said.contains("in use"), "{}", report.finished);
    assert!(!report.folder().exists(), "something was written");
}

#[test]
fn agents_that_do_not_come_are_waited_for_only_so_long() {
    let server = FakeServer::start(Behaviour::default());
    let cluster = Cluster::start(1);
    let arguments = ["-c", "2", "-t", "5", "-S", "-n", "--agent-wait", "2", &server.uri()];
    let mut run = cluster.run(&arguments);
    run.command.args(["--agents", "2"]);
    let report = run.finish(PATIENCE).expect_code(1);
    let said = &report.finished.stderr;
    assert!(said.contains("1 of 2 agents"), "{}", report.finished);
}

#[test]
fn an_agent_gives_up_when_it_was_told_to() {
    let address = free_address().to_string();
    let mut agent = pgsurge(&["agent", "--coordinator", &address, "--give-up-after", "1"]);
    let finished = Running::run("agent", &mut agent, PATIENCE).expect_code(1);
    assert!(finished.stderr.contains(&address), "{finished}");
}

#[test]
fn junk_on_the_fleet_port_disturbs_nobody() {
    let world = World::with_tables();
    let mut cluster = Cluster::start(1);
    let mut run = cluster.run(&["-c", "2", "-T", "4", "-n", &world.uri]);
    run.command.args(["--agents", "2"]);
    let run = run.start();
    cluster.agent(0).wait_for_stderr("attached", PATIENCE);
    let junk: [&[u8]; 3] =
        [b"GET / HTTP/1.1\r\n\r\n", &[0xff; 4096], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\njunk"];
    let mut streams = Vec::new();
    for bytes in junk {
        let mut stream = TcpStream::connect(cluster.listen()).unwrap();
        stream.write_all(bytes).unwrap();
        streams.push(stream);
    }
    let second = cluster.agent_arguments("second");
    cluster.add(pgsurge(&second));
    let report = run.finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);
    assert_eq!(report.summary()["verdict"]["valid"], true);
}
