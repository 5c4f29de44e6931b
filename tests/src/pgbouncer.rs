//! A connection pooler in front of a test's server: Debian's PgBouncer, one process a test.
//!
//! Knows PgBouncer's configuration and nothing of pgsurge. It logs in as `postgres` on the server, without a
//! password; how clients prove who they are is a setting. Ends when its handle is dropped and, by the
//! kernel's doing, with the thread that started it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::cluster::free_address;
use crate::postgres::{Certificates, Postgres, lend};
use crate::process::{Running, command};

/// The password of `postgres`, wherever the pooler asks for one.
pub const PASSWORD: &str = "pooled secret";

/// How long it may take to come up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is started anew because another process took its port in between.
const PORT_TRIES: usize = 5;

/// Settings of one pooler; the defaults pool sessions and trust everybody.
#[derive(Clone, Debug)]
pub struct Pooling {
    mode: &'static str,
    auth: &'static str,
    tls: bool,
    lines: Vec<String>,
}

impl Pooling {
    /// A client keeps its session on the server until it leaves.
    #[must_use]
    pub fn session() -> Self {
        Self { mode: "session", auth: "trust", tls: false, lines: Vec::new() }
    }

    /// A client has a session on the server for one transaction.
    #[must_use]
    pub fn transaction() -> Self {
        Self { mode: "transaction", ..Self::session() }
    }

    /// Sets `auth_type`.
    #[must_use]
    pub fn auth(self, auth: &'static str) -> Self {
        Self { auth, ..self }
    }

    /// Clients must use TLS, with the certificates of the server.
    #[must_use]
    pub fn tls(self) -> Self {
        Self { tls: true, ..self }
    }

    /// Sets any other setting.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.lines.push(format!("{name} = {value}"));
        self
    }
}

/// A running pooler.
#[derive(Debug)]
pub struct PgBouncer {
    process: Running,
    port: u16,
    asks: bool,
    _folder: tempfile::TempDir,
}

impl PgBouncer {
    /// Puts a pooler before a server.
    ///
    /// # Panics
    /// If it does not come up.
    #[must_use]
    pub fn start(server: &Postgres, pooling: &Pooling) -> Self {
        let folder = tempfile::Builder::new().prefix("pgsurge-pooler-").tempdir();
        let folder = folder.expect("there is room for a pooler");
        for _ in 0..PORT_TRIES {
            let port = free_address().port();
            let configuration = write(folder.path(), server, pooling, port);
            let mut process = Running::start("pgbouncer", &mut program(&configuration));
            let is_up = |process: &Running| process.stderr().contains("process up");
            crate::process::eventually("the pooler is up", PATIENCE, || {
                process.has_ended() || is_up(&process)
            });
            if is_up(&process) {
                let asks = pooling.auth != "trust";
                return Self { process, port, asks, _folder: folder };
            }
            let said = process.stderr();
            assert!(said.contains("in use"), "pgbouncer: {said}");
        }
        panic!("pgbouncer: no port stays free");
    }

    /// URI over TCP, as `postgres` to the database `postgres`, with the password if it is asked for.
    #[must_use]
    pub fn uri(&self) -> String {
        let password =
            if self.asks { format!(":{}", PASSWORD.replace(' ', "%20")) } else { String::new() };
        format!("postgresql://postgres{password}@127.0.0.1:{}/postgres", self.port)
    }

    /// TCP port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        self.process.stderr()
    }
}

/// Writes the configuration; returns its place.
fn write(folder: &Path, server: &Postgres, pooling: &Pooling, port: u16) -> std::path::PathBuf {
    let users = folder.join("users.txt");
    keep(&users, &format!("\"postgres\" \"{}\"\n", secret(server, pooling.auth)));
    let mut text = format!(
        "[databases]\n* = host=127.0.0.1 port={} user=postgres\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n\
         auth_type = {}\nauth_file = {}\npool_mode = {}\nmax_client_conn = 2000\n",
        server.port(),
        pooling.auth,
        users.display(),
        pooling.mode,
    );
    if pooling.tls {
        let Certificates { client, client_key, .. } = server.certificates();
        let key = folder.join("key.pem");
        keep(&key, &fs::read_to_string(client_key).expect("the key was written by this test"));
        let _ = write!(
            text,
            "client_tls_sslmode = require\nclient_tls_cert_file = {}\nclient_tls_key_file = {}\n",
            client.display(),
            key.display()
        );
    }
    for line in &pooling.lines {
        text.push_str(line);
        text.push('\n');
    }
    let configuration = folder.join("pgbouncer.ini");
    keep(&configuration, &text);
    lend(folder).expect("root may give folders away");
    configuration
}

/// What the pooler knows of the password. From the password itself it would derive SCRAM's keys anew for each
/// login, with a salt of its own.
fn secret(server: &Postgres, auth: &str) -> String {
    if auth != "scram-sha-256" {
        return PASSWORD.to_owned();
    }
    server.execute(&format!(
        "set password_encryption = 'scram-sha-256'; alter role postgres password '{PASSWORD}'"
    ));
    server.value("select rolpassword from pg_authid where rolname = 'postgres'")
}

/// A file that only the pooler's account may read.
fn keep(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    lend(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// It refuses to run as root.
fn program(configuration: &Path) -> Command {
    let mut command = match crate::postgres::server_account() {
        None => command("pgbouncer"),
        Some((uid, gid)) => {
            let mut command = command("setpriv");
            let (uid, gid) = (format!("--reuid={uid}"), format!("--regid={gid}"));
            command.args([&uid, &gid, "--clear-groups", "--pdeathsig=KILL", "--", "pgbouncer"]);
            command
        }
    };
    command.arg(configuration);
    command
}
