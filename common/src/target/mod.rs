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

impl Target {
    /// A target with libpq's defaults for everything else.
    #[must_use]
    pub fn new(hosts: Vec<Host>, user: impl Into<String>, database: impl Into<String>) -> Self {
        Self {
            hosts,
            user: user.into(),
            database: database.into(),
            password: None,
            tls: Tls::default(),
            options: None,
            application_name: String::new(),
            connect_timeout: None,
            tcp: TcpOptions { keepalives: true, ..TcpOptions::default() },
            session_attrs: SessionAttrs::Any,
            load_balance: false,
            settings: Vec::new(),
            require_auth: Vec::new(),
            require_peer: None,
        }
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
    /// Which of the hosts will do.
    #[serde(default)]
    pub session_attrs: SessionAttrs,
    /// `load_balance_hosts=random`: hosts and their addresses are tried in random order.
    #[serde(default)]
    pub load_balance: bool,
    /// Further settings of the startup message, as `client_encoding` or `datestyle`.
    #[serde(default)]
    pub settings: Vec<(String, String)>,
    /// `require_auth`: methods of authentication that are accepted, or with `!` refused; empty for any.
    #[serde(default)]
    pub require_auth: Vec<String>,
    /// `requirepeer`: the operating system user who must own the server behind a unix socket.
    #[serde(default)]
    pub require_peer: Option<String>,
}

/// `target_session_attrs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionAttrs {
    /// Any host.
    #[default]
    Any,
    /// One whose sessions can write by default.
    ReadWrite,
    /// One whose sessions cannot.
    ReadOnly,
    /// One that is not in hot standby.
    Primary,
    /// One that is.
    Standby,
    /// One that is in hot standby, or any if there is none.
    PreferStandby,
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
    /// `sslsni`: the host's name is told to the server before encryption starts.
    #[serde(default = "yes")]
    pub sni: bool,
    /// `sslcrl` as PEM: certificates that were revoked.
    #[serde(default)]
    pub revoked_pem: Option<String>,
    /// `ssl_min_protocol_version`.
    #[serde(default)]
    pub min_version: Option<TlsVersion>,
    /// `ssl_max_protocol_version`.
    #[serde(default)]
    pub max_version: Option<TlsVersion>,
}

fn yes() -> bool {
    true
}

impl Default for Tls {
    /// What libpq does when nothing is said and no files are there.
    fn default() -> Self {
        Self {
            mode: SslMode::Prefer,
            roots: Roots::None,
            client: None,
            direct: false,
            channel_binding: ChannelBinding::Prefer,
            sni: true,
            revoked_pem: None,
            min_version: None,
            max_version: None,
        }
    }
}

/// A version of TLS; older ones are not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2.
    #[serde(rename = "TLSv1.2")]
    Tls12,
    /// TLS 1.3.
    #[serde(rename = "TLSv1.3")]
    Tls13,
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
