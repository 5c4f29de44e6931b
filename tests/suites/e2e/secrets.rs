//! I6: whatever is written in a run is searched for what must not be in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pgsurge_tests::cluster::{Cluster, Run, free_address, pgsurge};
use pgsurge_tests::postgres::Settings;
use pgsurge_tests::process::Running;
use ring::{digest, hmac, pbkdf2};

use super::fixture::{PATIENCE, World};

const PASSWORD: &str = "Hush-7f3a9c51-Geheim";

/// What must appear nowhere, each with its name.
struct Secrets(Vec<(&'static str, Vec<u8>)>);

impl Secrets {
    fn new(world: &World, keys: &[PathBuf]) -> Self {
        let mut secrets = in_all_forms("the password", PASSWORD.as_bytes());
        for (name, key) in scram_keys(world) {
            secrets.extend(in_all_forms(name, &key));
        }
        for key in keys {
            let text = fs::read_to_string(key).unwrap();
            // The lines before it are the same for all keys of a kind.
            secrets.push(("a private key", text.lines().nth(2).unwrap().as_bytes().to_vec()));
        }
        Self(secrets)
    }

    /// Fails if a text holds one of them.
    #[track_caller]
    fn assert_not_in(&self, place: &str, bytes: &[u8]) {
        for (name, secret) in &self.0 {
            let found = bytes.windows(secret.len()).position(|window| window == secret);
            assert!(found.is_none(), "{place} shows {name} at byte {found:?}");
        }
    }

    /// The same for all files of a folder; how many there were.
    #[track_caller]
    fn assert_not_in_folder(&self, folder: &Path) -> usize {
        let mut files = 0;
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                files += self.assert_not_in_folder(&path);
            } else {
                self.assert_not_in(&path.display().to_string(), &fs::read(&path).unwrap());
                files += 1;
            }
        }
        files
    }

    /// The same for what the system shows of a process; `environment` if nobody else put secrets there.
    #[track_caller]
    fn assert_not_shown_by(&self, process: &Running) {
        for file in ["cmdline", "environ"] {
            let path = format!("/proc/{}/{file}", process.pid());
            match fs::read(&path) {
                Ok(bytes) => self.assert_not_in(&path, &bytes),
                // Not to be read by the user whose process it is, which is as it should be.
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
            }
        }
    }
}

/// Bytes as they are, in hexadecimal digits, as a list of numbers, and in base64.
fn in_all_forms(name: &'static str, bytes: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let listed = bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    let texts = [hex(bytes), listed, base64(bytes)].map(String::into_bytes);
    [bytes.to_vec()].into_iter().chain(texts).map(|form| (name, form)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// Base64 without its padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|chunk| {
        let group = chunk.iter().fold(0, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        (0..=chunk.len()).map(move |digit| DIGITS[(group >> (18 - 6 * digit)) as usize & 63])
    });
    digits.map(char::from).collect()
}

/// The keys of SCRAM (RFC 5802, 3) that the password gives with the salt that the server has chosen.
fn scram_keys(world: &World) -> Vec<(&'static str, Vec<u8>)> {
    let sql = "select encode(decode(split_part(split_part(rolpassword, '$', 2), ':', 2), 'base64'), 'hex') \
               from pg_authid where rolname = 'pat'";
    let salt = world.server.value(sql);
    let salt: Vec<u8> = (0..salt.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&salt[at..at + 2], 16).unwrap())
        .collect();
    let iterations = std::num::NonZeroU32::new(4096).unwrap();
    let mut salted = [0; 32];
    let algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
    pbkdf2::derive(algorithm, iterations, &salt, PASSWORD.as_bytes(), &mut salted);
    let key = hmac::Key::new(hmac::HMAC_SHA256, &salted);
    let client = hmac::sign(&key, b"Client Key").as_ref().to_vec();
    let stored = digest::digest(&digest::SHA256, &client).as_ref().to_vec();
    let sql = "select encode(decode(split_part(split_part(rolpassword, '$', 3), ':', 1), 'base64'), 'hex') \
               from pg_authid where rolname = 'pat'";
    assert_eq!(world.server.value(sql), hex(&stored), "the keys are not those of this password");
    let server = hmac::sign(&key, b"Server Key").as_ref().to_vec();
    vec![
        ("the salted password", salted.to_vec()),
        ("the client key", client),
        ("the stored key", stored),
        ("the server key", server),
    ]
}

/// A server that lets `pat` in by password and certificate only.
fn world() -> World {
    let settings = Settings::new()
        .tls()
        .hba(&["hostssl all pat 127.0.0.1/32 scram-sha-256 clientcert=verify-ca"]);
    let world = World::bare(&settings);
    world.server.execute(&format!("create role pat superuser login password '{PASSWORD}'"));
    let mut init = pgsurge(&["init", "-q", "-s", "1"]);
    give_target(&mut init, &world);
    init.env("PGPASSWORD", PASSWORD).env("PGDATABASE", "postgres");
    let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
    world
}

/// Names the target by variables, without its password.
fn give_target(command: &mut Command, world: &World) {
    let certificates = world.server.certificates();
    command.env("PGHOST", "127.0.0.1").env("PGPORT", world.server.port().to_string());
    command.env("PGUSER", "pat").env("PGSSLMODE", "verify-ca");
    command.env("PGSSLROOTCERT", &certificates.root);
    command.env("PGSSLCERT", &certificates.client).env("PGSSLKEY", &certificates.client_key);
}

/// How the password reaches the coordinator.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Variable,
    Uri,
    File,
}

impl Way {
    fn give(self, command: &mut Command, folder: &Path) {
        match self {
            Self::Variable => {
                command.env("PGPASSWORD", PASSWORD).arg("postgres");
            }
            Self::Uri => {
                command.arg(format!("postgresql://pat:{PASSWORD}@/postgres"));
            }
            Self::File => {
                let file = folder.join("passfile");
                fs::write(&file, format!("*:*:*:pat:{PASSWORD}\n")).unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
                fs::set_permissions(&file, mode).unwrap();
                command.env("PGPASSFILE", file).arg("postgres");
            }
        }
    }
}

/// A server, a fleet's certificates, and everything that must stay secret of both.
struct Scene {
    world: World,
    folder: tempfile::TempDir,
    secrets: Secrets,
}

impl Scene {
    fn new() -> Self {
        let world = world();
        let folder = tempfile::tempdir().unwrap();
        let certs = folder.path().join("certs");
        let options = ["--coordinator", "127.0.0.1", "--agents", "1"];
        let mut command = pgsurge(&["certs", certs.to_str().unwrap()]);
        command.args(options).env("PGSURGE_LOG", "trace");
        let made = Running::run("certs", &mut command, PATIENCE).expect_code(0);
        let keys = ["authority/ca.key", "coordinator/tls.key", "agent-1/tls.key"];
        let mut keys = keys.map(|key| certs.join(key)).to_vec();
        keys.push(world.server.certificates().client_key.clone());
        let secrets = Secrets::new(&world, &keys);
        secrets.assert_not_in("the output of certs", made.stdout.as_bytes());
        secrets.assert_not_in("the output of certs", made.stderr.as_bytes());
        Self { world, folder, secrets }
    }

    fn tls(&self, holder: &str) -> [String; 2] {
        let folder = self.folder.path().join("certs").join(holder);
        ["--tls".to_owned(), folder.display().to_string()]
    }

    /// A run over one agent, both with traces, and what they wrote.
    fn assert_silent(&self, way: Way) {
        let mut cluster = Cluster::at(free_address());
        let mut arguments = cluster.agent_arguments("a");
        arguments.extend(self.tls("agent-1"));
        let mut agent = pgsurge(&arguments);
        agent.env("PGSURGE_LOG", "trace");
        cluster.add(agent);
        let mut run = cluster.run(&["-S", "-c", "2", "-T", "2", "-n", "--debug"]);
        run.command.args(self.tls("coordinator")).env("PGSURGE_LOG", "trace");
        give_target(&mut run.command, &self.world);
        way.give(&mut run.command, self.folder.path());
        let run = run.start();
        cluster.agent(0).wait_for_stderr("run begins", PATIENCE);
        self.secrets.assert_not_shown_by(cluster.agent(0));
        if way == Way::File {
            self.secrets.assert_not_shown_by(&run.process);
        }
        let report = run.finish(PATIENCE).expect_code(0);
        let agent = cluster.take(0);
        agent.signal(rustix::process::Signal::TERM);
        let agent = agent.wait(PATIENCE).expect_code(0);
        let said = &report.finished;
        for (place, text) in [
            ("stdout of the run", &said.stdout),
            ("stderr of the run", &said.stderr),
            ("stdout of the agent", &agent.stdout),
            ("stderr of the agent", &agent.stderr),
        ] {
            self.secrets.assert_not_in(&format!("{place} ({way:?})"), text.as_bytes());
        }
        // The search has had something to search: traces of both, and the target in the folder.
        for stderr in [&said.stderr, &agent.stderr] {
            assert!(stderr.contains("TRACE"), "{way:?}: {} bytes without a trace", stderr.len());
        }
        assert!(self.secrets.assert_not_in_folder(&report.folder()) >= 4);
        let plan = fs::read_to_string(report.folder().join("plan.json")).unwrap();
        assert!(plan.contains("***") && plan.contains("pat"), "{plan}");
        let warned = said.stderr.contains("the password in the connection string stands in");
        assert_eq!(warned, way == Way::Uri, "{way:?}");
    }
}

#[test]
fn nothing_that_a_run_writes_shows_a_secret() {
    let scene = Scene::new();
    for way in [Way::Variable, Way::Uri, Way::File] {
        scene.assert_silent(way);
    }
}

#[test]
fn no_error_shows_the_password() {
    let world = world();
    let secrets = Secrets::new(&world, &[]);
    let port = world.server.port();
    let targets = [
        format!("postgresql://nobody:{PASSWORD}@127.0.0.1:{port}/postgres"),
        format!("postgresql://pat:{PASSWORD}@127.0.0.1:{port}/nowhere"),
        format!("postgresql://pat:{PASSWORD}@127.0.0.1:1/postgres"),
        format!("postgresql://pat:{PASSWORD}@127.0.0.1:port/postgres"),
        format!("postgresql://pat:{PASSWORD}@127.0.0.1:{port}/postgres?nonsense=1"),
        format!("postgresql://pat:{PASSWORD}@[::1/postgres"),
        format!("postgresql://pat:{PASSWORD}%zz@127.0.0.1/postgres"),
        format!("host=127.0.0.1 password={PASSWORD} nonsense"),
        format!("host=127.0.0.1 password='{PASSWORD}"),
        format!("host=127.0.0.1 port={port} password={PASSWORD} sslmode=sometimes"),
        format!(
            "host=127.0.0.1 port={port} user=pat password={PASSWORD} sslkey=/nonexistent sslcert=/nonexistent"
        ),
    ];
    for target in &targets {
        let mut run = Run::local(&["-n", "-t", "1", target]);
        run.command.env("PGSURGE_LOG", "trace").env("RUST_BACKTRACE", "full");
        let report = run.finish(PATIENCE).expect_code(1);
        assert!(report.finished.stderr.contains("error: "), "{}", report.finished);
        secrets.assert_not_in(target, report.finished.stderr.as_bytes());
        secrets.assert_not_in(target, report.finished.stdout.as_bytes());
    }
}

#[test]
fn a_child_process_is_told_no_secret() {
    let world = world();
    let secrets = Secrets::new(&world, &[]);
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = folder.path().join("shell.sql");
    let look =
        format!("\\shell cat /proc/$$/cmdline /proc/$$/environ > {}\nSELECT 1;\n", seen.display());
    fs::write(&script, look).unwrap();
    let mut run = Run::local(&["-n", "-t", "1", "-f", &script.display().to_string()]);
    give_target(&mut run.command, &world);
    Way::File.give(&mut run.command, folder.path());
    let _ = run.finish(PATIENCE).expect_code(0);
    let seen = fs::read(seen).unwrap();
    assert!(!seen.is_empty());
    secrets.assert_not_in("a child's command line and environment", &seen);
}
