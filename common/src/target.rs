//! Where and how to connect: the fully resolved target of a run.
//!
//! Knows libpq's vocabulary, but reads neither environment nor files itself: the caller passes in what
//! it has read. Secrets print as `***` (I6).

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A password or private key. Serializes as `***`, so that no file or log can hold it; only the fleet
/// protocol takes it out, by [`Secret::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The secret in the clear, for authentication and for the fleet protocol only.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Serialize for Secret {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("***")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

/// A server (or several to try in order) and everything needed to open a session on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Tried in order until one accepts.
    pub hosts: Vec<Host>,
    /// The role.
    pub user: String,
    /// The database.
    pub database: String,
    /// The password, if any was found.
    pub password: Option<Secret>,
    /// TLS to the target.
    pub tls: Tls,
    /// `options` of the startup message (libpq's `options` / `PGOPTIONS`).
    pub options: Option<String>,
    /// What `pg_stat_activity` shows.
    pub application_name: String,
    /// Bound on opening one connection; zero or absent means none was asked for.
    pub connect_timeout: Option<Duration>,
    /// TCP keepalive and user timeout as given; absent means the system's.
    pub tcp: TcpOptions,
}

/// One place to connect to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Name, address or socket directory.
    pub address: Address,
    /// Port, also part of a unix socket's name.
    pub port: u16,
    /// Password of this host from the password file, where it differs from the common one.
    pub password: Option<Secret>,
}

/// Where a host is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Address {
    /// A name or address; `addr` (libpq's `hostaddr`) saves the look-up, the name is still what certificates are checked for.
    Tcp {
        /// Name as given; may be empty if only `addr` was.
        name: String,
        /// Numeric address, if given.
        addr: Option<std::net::IpAddr>,
    },
    /// The directory of a unix socket (or `@abstract`).
    Unix(PathBuf),
}

/// TLS to the target, with the contents of all files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tls {
    /// `sslmode`.
    pub mode: SslMode,
    /// `sslrootcert`.
    pub roots: Roots,
    /// `sslcert` and `sslkey` as PEM.
    pub client: Option<ClientCertificate>,
    /// `sslnegotiation=direct`.
    pub direct: bool,
    /// `channel_binding`.
    pub channel_binding: ChannelBinding,
}

/// `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SslMode {
    /// Never.
    Disable,
    /// Plaintext first, TLS if refused.
    Allow,
    /// TLS first, plaintext if the server has none (libpq's default).
    Prefer,
    /// TLS, unchecked unless a root certificate is there.
    Require,
    /// TLS with a certificate from a known authority.
    VerifyCa,
    /// The same, and made for this host name.
    VerifyFull,
}

/// Which authorities are trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Roots {
    /// None were found.
    None,
    /// Those of the agent's operating system (`sslrootcert=system`).
    System,
    /// PEM text.
    Pem(String),
}

/// A client certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCertificate {
    /// PEM chain.
    pub chain_pem: String,
    /// PEM key.
    pub key_pem: Secret,
}

/// `channel_binding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChannelBinding {
    /// Never.
    Disable,
    /// Where the server offers it.
    Prefer,
    /// Or fail.
    Require,
}

/// TCP options of libpq.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpOptions {
    /// `tcp_user_timeout`.
    pub user_timeout: Option<Duration>,
    /// `keepalives` is not 0.
    pub keepalives: bool,
    /// `keepalives_idle`.
    pub keepalives_idle: Option<Duration>,
    /// `keepalives_interval`.
    pub keepalives_interval: Option<Duration>,
    /// `keepalives_count`.
    pub keepalives_count: Option<u32>,
}
