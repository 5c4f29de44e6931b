//! Throwaway PostgreSQL servers for tests: real ones, of the versions that the suites run against.
//!
//! Knows nothing of pgsurge. A server lives in a temporary folder of its own and is gone, folder
//! included, when its handle is dropped: also when the test panics, and when the test process is killed.

mod account;
mod binaries;
mod query;
mod settings;
mod supervise;
mod template;
mod tls;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use account::Account;
use binaries::Binaries;
pub use binaries::Version;
pub use query::Rows;
pub use settings::Settings;
use supervise::{Exit, Server};
pub use tls::Certificates;

/// How often a server is started anew because another process took its port in between.
const PORT_TRIES: usize = 5;

/// A running (or deliberately stopped) server with its superuser `postgres` and database `postgres`.
#[derive(Debug)]
pub struct Postgres {
    version: Version,
    binaries: Binaries,
    port: u16,
    certificates: Option<Certificates>,
    // Order matters: the server ends before its folder goes.
    server: Server,
    folder: tempfile::TempDir,
}

impl Postgres {
    /// Starts a server and waits until it accepts connections.
    ///
    /// # Panics
    /// With the server's own log if it does not come up.
    #[must_use]
    pub fn start(version: Version, settings: &Settings) -> Self {
        Self::try_start(version, settings).unwrap_or_else(|error| panic!("postgres: {error}"))
    }

    /// Like [`Postgres::start`], for a caller that wants the error.
    pub fn try_start(version: Version, settings: &Settings) -> io::Result<Self> {
        let account = Account::for_servers()?;
        let binaries = Binaries::find(version)?;
        let folder = tempfile::Builder::new().prefix("pgsurge-pg-").tempdir()?;
        account::open_to_all(folder.path())?;
        let data = folder.path().join("data");
        template::copy(version, account.as_ref(), &data)?;
        let certificates = settings
            .tls
            .then(|| Certificates::write(folder.path(), &data, account.as_ref()))
            .transpose()?;
        let port = match settings.port {
            Some(port) => port,
            None => free_port()?,
        };
        settings.write(&data, folder.path())?;
        let theirs = binaries.clone().for_account(account.as_ref(), folder.path())?;
        let server = Server::new(folder.path(), theirs.program("postgres"), account)?;
        let mut this = Self { version, binaries, port, certificates, server, folder };
        let tries = if settings.port.is_some() { 1 } else { PORT_TRIES };
        for attempt in 1.. {
            match this.server.start(this.port) {
                Ok(()) => break,
                Err(error) if attempt < tries && error.kind() == io::ErrorKind::AddrInUse => {
                    this.port = free_port()?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(this)
    }

    /// The major version.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// TCP port on 127.0.0.1 (and part of the socket's name).
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Folder of the unix socket.
    #[must_use]
    pub fn socket_dir(&self) -> &Path {
        self.folder.path()
    }

    /// The server's data directory.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// What the server has logged since its first start.
    #[must_use]
    pub fn log(&self) -> String {
        self.server.log()
    }

    /// URI over TCP, as `postgres` to the database `postgres`.
    #[must_use]
    pub fn uri(&self) -> String {
        self.uri_for("postgres", "postgres")
    }

    /// URI over TCP for a role and a database.
    #[must_use]
    pub fn uri_for(&self, user: &str, database: &str) -> String {
        format!("postgresql://{user}@127.0.0.1:{}/{database}", self.port)
    }

    /// Keyword string over the unix socket, as `postgres` to the database `postgres`.
    #[must_use]
    pub fn conninfo(&self) -> String {
        format!(
            "host={} port={} user=postgres dbname=postgres",
            self.socket_dir().display(),
            self.port
        )
    }

    /// Files of the authority, server and client, if the server was started with TLS.
    ///
    /// # Panics
    /// If it was not.
    #[must_use]
    pub fn certificates(&self) -> &Certificates {
        self.certificates.as_ref().expect("the settings asked for TLS")
    }

    /// Process id of the postmaster while it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.server.pid()
    }

    /// A command of this version's installation (`pgbench`, `psql`, ...) with the environment pointing at this
    /// server over TCP, and no other `PG*` variable.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        self.command_of(&self.binaries, program)
    }

    /// The same with the binaries of another version, for example pgbench 18 against server 15.
    ///
    /// # Panics
    /// If that version is not installed.
    #[must_use]
    pub fn command_from(&self, version: Version, program: &str) -> Command {
        let binaries = Binaries::find(version).unwrap_or_else(|error| panic!("postgres: {error}"));
        self.command_of(&binaries, program)
    }

    fn command_of(&self, binaries: &Binaries, program: &str) -> Command {
        let mut command = Command::new(binaries.program(program));
        for (name, _) in std::env::vars_os().filter(|(n, _)| n.to_string_lossy().starts_with("PG"))
        {
            command.env_remove(name);
        }
        command
            .env("PGHOST", "127.0.0.1")
            .env("PGPORT", self.port.to_string())
            .env("PGUSER", "postgres")
            .env("PGDATABASE", "postgres")
            .stdin(Stdio::null());
        command
    }

    /// Stops the server as `pg_ctl stop -m fast` does: sessions are ended, nothing is lost.
    pub fn stop(&mut self) {
        self.server.end(Exit::Fast);
    }

    /// Stops the server as `pg_ctl stop -m immediate` does: a crash that its sessions are told of.
    pub fn crash(&mut self) {
        self.server.end(Exit::Immediate);
    }

    /// Ends the postmaster by SIGKILL, as a crash of the machine would; its children notice and leave.
    pub fn kill(&mut self) {
        self.server.end(Exit::Kill);
    }

    /// Starts it again on the same port and data after it has ended in whatever way.
    ///
    /// # Panics
    /// With the server's log if it does not come up.
    pub fn resume(&mut self) {
        self.server.start(self.port).unwrap_or_else(|error| panic!("postgres: {error}"));
    }

    /// Stops and starts it.
    pub fn restart(&mut self) {
        self.stop();
        self.resume();
    }

    /// Makes the running server read its configuration files again.
    pub fn reload(&self) {
        self.server.signal(rustix::process::Signal::HUP);
    }

    /// Replaces `pg_hba.conf` and waits until the server has read it. The harness's own access stays.
    ///
    /// # Panics
    /// If the server does not read it within a minute.
    pub fn set_hba(&self, lines: &[&str]) {
        fs::write(self.data_dir().join("pg_hba.conf"), settings::hba_text(lines))
            .unwrap_or_else(|error| panic!("postgres: pg_hba.conf: {error}"));
        // A new session inherits the time of the postmaster's last reload.
        let loaded = || self.value("select pg_conf_load_time()");
        let before = loaded();
        self.execute("select pg_reload_conf()");
        wait_until("the server reads pg_hba.conf", || loaded() != before);
    }
}

/// User and group that servers run as, where the test itself is privileged and must not lend them its own.
///
/// # Panics
/// If there is no unprivileged account.
#[must_use]
pub fn server_account() -> Option<(u32, u32)> {
    let account = Account::for_servers().unwrap_or_else(|error| panic!("accounts: {error}"));
    account.map(Account::ids)
}

/// Gives a file or folder to that account.
pub fn lend(path: &Path) -> io::Result<()> {
    account::give(Account::for_servers()?.as_ref(), path)
}

/// Polls a condition, for at most a minute.
///
/// # Panics
/// With `what` if the condition does not come true.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + supervise::PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "still waiting: {what}");
        thread::sleep(supervise::POLL);
    }
}

/// A port that nobody listened on a moment ago; the caller copes with it being taken since.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
