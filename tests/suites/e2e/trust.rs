//! Who may talk to whom, and what agents can be made to do, as users see it.

use std::path::{Path, PathBuf};

use pgsurge_tests::cluster::{Cluster, Run, free_address, pgsurge};
use pgsurge_tests::postgres::Settings;
use pgsurge_tests::process::{Finished, Running};

use rustix::process::Signal;

use super::fixture::{PATIENCE, World, assert_adds_up};

/// Certificates for a coordinator on this machine and two agents.
struct Certificates(tempfile::TempDir);

impl Certificates {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let certificates = Self(folder);
        let made = certificates.certs(&["--coordinator", "127.0.0.1", "--agents", "2"]);
        let said = &made.stdout;
        assert!(
            said.contains("agent-2") && said.contains("scp -r ") && said.contains("--tls"),
            "{made}"
        );
        certificates
    }

    fn certs(&self, arguments: &[&str]) -> Finished {
        let mut command = pgsurge(&["certs", self.0.path().to_str().unwrap()]);
        command.args(arguments);
        Running::run("certs", &mut command, PATIENCE).expect_code(0)
    }

    fn of(&self, holder: &str) -> PathBuf {
        self.0.path().join(holder)
    }
}

/// Adds the folder of certificates to a command line.
fn with_tls(mut arguments: Vec<String>, folder: &Path) -> Vec<String> {
    arguments.extend(["--tls".to_owned(), folder.display().to_string()]);
    arguments
}

#[test]
fn the_certificates_that_certs_makes_carry_a_run() {
    let world = World::with_tables();
    let certificates = Certificates::new();
    let mut cluster = Cluster::at(free_address());
    for agent in ["agent-1", "agent-2"] {
        let arguments = with_tls(cluster.agent_arguments(agent), &certificates.of(agent));
        cluster.add(pgsurge(&arguments));
    }
    let own = certificates.of("coordinator").display().to_string();
    let run =
        |world: &World| cluster.run(&["-c", "4", "-t", "50", "-n", "--tls", &own, &world.uri]);
    let report = run(&world).finish(PATIENCE).expect_code(0);
    assert_adds_up(&report);

    // The same agents go on after everybody has got new certificates.
    certificates.certs(&["--renew", "--coordinator", "127.0.0.1", "--agents", "2"]);
    assert_adds_up(&run(&world).finish(PATIENCE).expect_code(0));
}

/// A coordinator that waits, and an agent that can never succeed: what both say.
fn never(
    agent: Option<&Path>,
    coordinator: Option<&Path>,
    by_coordinator: &str,
) -> (Finished, Finished) {
    let world = World::bare(&Settings::new());
    let cluster = Cluster::at(free_address());
    let mut arguments = cluster.agent_arguments("a");
    if let Some(folder) = agent {
        arguments = with_tls(arguments, folder);
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sql");
    std::fs::write(&script, "SELECT 1;\n").unwrap();
    let (script, listen) = (script.display().to_string(), cluster.listen().to_string());
    let mut run = Run::local(&["-n", "-f", &script, "--agents", "1", "--listen", &listen]);
    if let Some(folder) = coordinator {
        run.command.arg("--tls").arg(folder);
    }
    run.command.arg(&world.uri);
    let run = run.start();
    run.process.wait_for_stderr("waiting for 1 agent", PATIENCE);
    let agent = Running::run("agent", &mut pgsurge(&arguments), PATIENCE).expect_code(1);
    run.process.wait_for_stderr(by_coordinator, PATIENCE);
    run.process.signal(Signal::TERM);
    (agent, run.finish(PATIENCE).expect_code(130).finished)
}

#[test]
fn an_agent_that_can_never_succeed_says_why_and_so_does_the_coordinator() {
    let (ours, theirs) = (Certificates::new(), Certificates::new());
    let (agent, coordinator) = (ours.of("agent-1"), ours.of("coordinator"));
    let strange = theirs.of("agent-1");
    let cases: [(Option<&Path>, Option<&Path>, &str, &str); 4] = [
        (
            Some(&strange),
            Some(&coordinator),
            "the certificate of the coordinator is not signed by the authority in --tls-ca",
            "the agent does not know the authority that signed the certificate of this coordinator",
        ),
        (
            Some(&agent),
            Some(&agent),
            "the certificate of the coordinator is not meant for this use",
            "the agent does not accept the certificate of this coordinator for this use",
        ),
        (None, Some(&coordinator), "the coordinator demands TLS", "the agent does not speak TLS"),
        (Some(&agent), None, "the coordinator does not speak TLS", "the agent speaks TLS"),
    ];
    for (agent, coordinator, by_agent, by_coordinator) in cases {
        let (agent, run) = never(agent, coordinator, by_coordinator);
        assert!(agent.stderr.contains(by_agent), "{agent}");
        let told = run.stderr.lines().filter(|line| line.contains(by_coordinator)).count();
        assert_eq!(told, 1, "one line for one connection\n{run}");
    }
}

#[test]
fn an_agent_refuses_what_its_operator_does_not_allow() {
    let world = World::with_tables();
    let port = world.server.port();
    let allowed = format!("127.0.0.*:{port}/postgres");
    let many = format!("postgresql://postgres@127.0.0.1:{port},10.9.9.9:{port}/postgres");
    let renamed =
        format!("host=localhost hostaddr=127.0.0.1 port={port} user=postgres dbname=postgres");
    let socket = format!(
        "host={} port={port} user=postgres dbname=postgres",
        world.server.socket_dir().display()
    );
    // What the agent allows, how many clients, the target, and the reason if it is refused.
    let cases: [(&[&str], &str, &str, Option<&str>); 8] = [
        (&["--allow-target", &allowed], "2", &world.uri, None),
        (&["--allow-target", &allowed, "--allow-target", "other"], "2", &renamed, None),
        (&["--allow-target", "/*"], "2", &socket, None),
        (
            &["--allow-target", &allowed],
            "2",
            &socket,
            Some("is not among those that this agent allows"),
        ),
        (&["--allow-target", "127.0.0.1/other"], "2", &world.uri, Some("is not among those")),
        (&["--allow-target", "localhost"], "2", &renamed, Some("localhost:")),
        (&["--allow-target", &allowed], "2", &many, Some("target 10.9.9.9:")),
        (&["--max-clients", "3"], "4", &world.uri, Some("4 clients are more than the 3")),
    ];
    for (allowed, clients, target, refusal) in cases {
        let mut cluster = Cluster::at(free_address());
        let mut arguments = cluster.agent_arguments("a");
        arguments.extend(allowed.iter().map(|word| (*word).to_owned()));
        cluster.add(pgsurge(&arguments));
        let report = cluster.run(&["-c", clients, "-t", "5", "-n", target]).finish(PATIENCE);
        let Some(refusal) = refusal else {
            let _ = report.expect_code(0);
            continue;
        };
        let run = report.expect_code(1).finished;
        let case = format!("{allowed:?} {target}");
        assert!(
            run.stderr.contains("the run did not start: agent a does not take part"),
            "{case}\n{run}"
        );
        assert!(run.stderr.contains(refusal), "{case}\n{run}");
        cluster.agent(0).wait_for_stderr("the run is refused", PATIENCE);
        assert!(
            cluster.agent(0).stderr().contains(refusal),
            "{case}: {}",
            cluster.agent(0).stderr()
        );
        assert_eq!(world.sessions(), 0, "{case}");
    }
}

#[test]
fn shell_commands_need_the_word_of_the_operator() {
    let world = World::bare(&Settings::new());
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("shell.sql");
    std::fs::write(&script, "\\setshell x echo 7\nSELECT :x;\n").unwrap();
    let script = script.display().to_string();
    for (allowed, code) in [(false, 1), (true, 0)] {
        let mut cluster = Cluster::at(free_address());
        let mut arguments = cluster.agent_arguments("a");
        if allowed {
            arguments.push("--allow-shell".to_owned());
        }
        cluster.add(pgsurge(&arguments));
        let report = cluster.run(&["-t", "3", "-n", "-f", &script, &world.uri]).finish(PATIENCE);
        let run = report.expect_code(code).finished;
        assert_eq!(run.stderr.contains("start it with --allow-shell"), !allowed, "{run}");
    }
}

#[test]
fn a_missing_password_is_told_with_the_ways_to_give_it() {
    let hba = ["host all all 127.0.0.1/32 scram-sha-256"];
    let world = World::bare(&Settings::new().hba(&hba));
    let mut run = Run::local(&["-n", "-t", "1", &world.uri]);
    // Where no password file is.
    run.command.env("HOME", "/nonexistent");
    let run = run.finish(PATIENCE).expect_code(1).finished;
    assert!(run.stderr.contains("the server asks for a password and none is known"), "{run}");
    assert!(run.stderr.contains("hint: set PGPASSWORD"), "{run}");
}
