//! Where and how to connect: the fully resolved target of a run.
//!
//! In reading order: what a target is (here, [`Tls`], [`Secret`]), and how it comes about as in libpq
//! ([`resolve()`]): the options' names (`keywords`), a keyword string (`conninfo`) or a URI (`uri`), a
//! service file (`service`), a password file (`passfile`), all looked up in [`Surroundings`]. An agent may
//! be bound to some targets by a [`TargetPattern`].
//!
//! Reads neither environment nor files itself. Secrets print as `***` (I6).

mod conninfo;
mod error;
mod files;
mod hosts;
mod keywords;
mod options;
mod passfile;
mod pattern;
mod pooler;
mod resolve;
mod secret;
mod service;
mod show;
mod surroundings;
mod tls;
mod uri;

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use error::TargetError;
pub use pattern::{PatternError, TargetPattern, forbidden_host};
pub use pooler::refused_parameter;
pub use resolve::{Request, Resolved, resolve};
pub use secret::Secret;
pub use surroundings::{File, Surroundings};
pub use tls::{ChannelBinding, ClientCertificate, Roots, SslMode, Tls, TlsVersion};

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
