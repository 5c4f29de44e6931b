//! What a test asks of its server beyond the cheap defaults.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Settings of one server; the defaults trade durability for speed and make counters predictable.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    lines: Vec<(String, String)>,
    hba: Option<String>,
    pub(super) tls: bool,
    pub(super) port: Option<u16>,
}

impl Settings {
    /// The defaults: 100 connections on 127.0.0.1, trust, no fsync, no autovacuum.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a configuration parameter, over the defaults.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.lines.push((name.to_owned(), value.to_string()));
        self
    }

    /// Sets `max_connections`.
    #[must_use]
    pub fn connections(self, max: u32) -> Self {
        self.set("max_connections", &max.to_string())
    }

    /// Replaces `pg_hba.conf`, but for one line put first: `postgres` is trusted on the unix socket, because the
    /// harness's own queries come that way.
    #[must_use]
    pub fn hba(mut self, lines: &[&str]) -> Self {
        self.hba = Some(hba_text(lines));
        self
    }

    /// Turns TLS on, with certificates made for this server. Version 15 only.
    #[must_use]
    pub fn tls(mut self) -> Self {
        self.tls = true;
        self
    }

    /// A fixed port in place of any free one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Writes the configuration into a data directory; the port comes with the start.
    pub(super) fn write(&self, data: &Path, socket_dir: &Path) -> io::Result<()> {
        let mut conf = fs::OpenOptions::new().append(true).open(data.join("postgresql.conf"))?;
        for (name, value) in DEFAULTS {
            writeln!(conf, "{name} = {value}")?;
        }
        writeln!(conf, "unix_socket_directories = {}", quoted(&socket_dir.display().to_string()))?;
        if self.tls {
            writeln!(conf, "ssl = on\nssl_ca_file = 'root.crt'")?;
        }
        for (name, value) in &self.lines {
            writeln!(conf, "{name} = {}", quoted(value))?;
        }
        if let Some(hba) = &self.hba {
            fs::write(data.join("pg_hba.conf"), hba)?;
        }
        Ok(())
    }
}

/// `pg_hba.conf` with the harness's own access in front of a test's lines.
pub(super) fn hba_text(lines: &[&str]) -> String {
    format!("local all postgres trust\n{}\n", lines.join("\n"))
}

const DEFAULTS: [(&str, &str); 9] = [
    ("listen_addresses", "'127.0.0.1'"),
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("synchronous_commit", "off"),
    ("shared_buffers", "32MB"),
    // No walsenders, so that tables filled in the transaction that made them need no log.
    ("wal_level", "minimal"),
    ("max_wal_senders", "0"),
    // Its workers commit too, at moments of their own.
    ("autovacuum", "off"),
    ("log_line_prefix", "'%m [%p] %a: '"),
];

fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}
