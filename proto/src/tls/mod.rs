//! Mutual TLS on the fleet port: both ends' configuration from the same three PEM texts.
//!
//! Reads files only where it is told their names, and again when they change. A coordinator's certificate must be good for server use
//! and an agent's for client use wherever a certificate restricts its use, so that an agent cannot pose as
//! a coordinator. Every handshake looks at certificates: no session is resumed, since a resumed one would
//! outlive the certificate that opened it. The provider is always ring, whatever else is linked in.

mod explain;
mod renew;
mod validity;

use std::path::Path;
use std::sync::Arc;

use pgsurge_common::target::Secret;
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use thiserror::Error;

pub use explain::{Side, TlsFault, explain};
pub use renew::Renewing;
pub use validity::Validity;

use renew::Files;

/// One side's certificate, its key, and the authority of the other side.
#[derive(Clone, Debug)]
pub struct Identity {
    ca: Pem,
    cert: Pem,
    key: Secret,
    key_source: String,
    files: Option<Box<Files>>,
}

/// A text and where it is from, for messages.
#[derive(Clone, Debug)]
struct Pem {
    text: String,
    source: String,
}

/// Why an identity cannot be used.
#[derive(Debug, Error)]
pub enum IdentityError {
    /// A file cannot be read.
    #[error("cannot read {file}")]
    Read {
        /// Its name.
        file: String,
        /// The reason.
        #[source]
        error: std::io::Error,
    },
    /// A text holds no certificate or key.
    #[error("{file} holds no {what} in PEM form")]
    Empty {
        /// Its name.
        file: String,
        /// What was looked for.
        what: &'static str,
    },
    /// Certificate, key and authority do not go together.
    #[error("certificate {cert} cannot be used: {reason}")]
    Unusable {
        /// The certificate's name.
        cert: String,
        /// What TLS says.
        reason: String,
    },
}

impl Identity {
    /// Reads the three files.
    ///
    /// # Errors
    /// One of them cannot be read; what they hold is looked at when a configuration is made.
    pub fn read(ca: &Path, cert: &Path, key: &Path) -> Result<Self, IdentityError> {
        let read = |path: &Path| {
            let source = path.display().to_string();
            match std::fs::read_to_string(path) {
                Ok(text) => Ok(Pem { text, source }),
                Err(error) => Err(IdentityError::Read { file: source, error }),
            }
        };
        let key_file = key.to_owned();
        let key = read(key)?;
        Ok(Self {
            ca: read(ca)?,
            cert: read(cert)?,
            key: Secret::new(key.text),
            key_source: key.source,
            files: Some(Box::new(Files { ca: ca.into(), cert: cert.into(), key: key_file })),
        })
    }

    /// The same from its files as they are at this moment, or from its texts if it has none.
    fn read_again(&self) -> Result<Self, IdentityError> {
        match &self.files {
            Some(files) => Self::read(&files.ca, &files.cert, &files.key),
            None => Ok(self.clone()),
        }
    }

    /// Takes the three texts as they are.
    #[must_use]
    pub fn from_pem(ca: impl Into<String>, cert: impl Into<String>, key: Secret) -> Self {
        let pem = |text, source: &str| Pem { text, source: source.to_owned() };
        Self {
            ca: pem(ca.into(), "the authority"),
            cert: pem(cert.into(), "the certificate"),
            key,
            key_source: "the key".to_owned(),
            files: None,
        }
    }

    /// The coordinator's end, which follows the files.
    ///
    /// # Errors
    /// The texts do not hold what they should.
    pub fn server(&self) -> Result<Renewing<ServerConfig>, IdentityError> {
        Renewing::new(self, Side::Coordinator, Self::server_config)
    }

    /// An agent's end, which follows the files.
    ///
    /// # Errors
    /// The texts do not hold what they should.
    pub fn client(&self) -> Result<Renewing<ClientConfig>, IdentityError> {
        Renewing::new(self, Side::Agent, Self::client_config)
    }

    /// How its certificate looks as a side's own.
    fn validity(&self, side: Side) -> Validity {
        match (self.chain(), self.roots()) {
            (Ok(chain), Ok(roots)) => Validity::of(&chain, &roots, side),
            // Such an identity was refused when it was read.
            _ => Validity::Good,
        }
    }

    /// The coordinator's end: agents without a certificate of the authority are turned away.
    ///
    /// # Errors
    /// The texts do not hold what they should.
    fn server_config(&self) -> Result<Arc<ServerConfig>, IdentityError> {
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots()?), provider())
                .build()
                .map_err(|e| self.unusable(&e))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|e| self.unusable(&e))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(self.chain()?, self.key()?)
            .map_err(|e| self.unusable(&e))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Arc::new(config))
    }

    /// An agent's end.
    ///
    /// # Errors
    /// The texts do not hold what they should.
    fn client_config(&self) -> Result<Arc<ClientConfig>, IdentityError> {
        let mut config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|e| self.unusable(&e))?
            .with_root_certificates(self.roots()?)
            .with_client_auth_cert(self.chain()?, self.key()?)
            .map_err(|e| self.unusable(&e))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        config.resumption = Resumption::disabled();
        Ok(Arc::new(config))
    }

    fn roots(&self) -> Result<RootCertStore, IdentityError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&self.ca)? {
            roots.add(certificate).map_err(|e| IdentityError::Unusable {
                cert: self.ca.source.clone(),
                reason: e.to_string(),
            })?;
        }
        Ok(roots)
    }

    fn chain(&self) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
        certificates(&self.cert)
    }

    fn key(&self) -> Result<PrivateKeyDer<'static>, IdentityError> {
        PrivateKeyDer::from_pem_slice(self.key.expose().as_bytes()).map_err(|_| {
            IdentityError::Empty { file: self.key_source.clone(), what: "private key" }
        })
    }

    fn unusable(&self, reason: &dyn std::fmt::Display) -> IdentityError {
        IdentityError::Unusable { cert: self.cert.source.clone(), reason: reason.to_string() }
    }
}

fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.text.as_bytes()).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(IdentityError::Empty { file: pem.source.clone(), what: "certificate" }),
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
