//! How the connection to the target is encrypted, as libpq's options say it.

use serde::{Deserialize, Serialize};

use super::Secret;

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
