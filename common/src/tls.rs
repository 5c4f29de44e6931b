//! TLS to the target as libpq means it: from `sslmode`, authorities and client certificate to a rustls
//! configuration, the same for the agents' sessions and for the coordinator's.
//!
//! Opens no file and no socket: certificates come as text in [`Tls`], the operating system's authorities
//! from the caller.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName, UnixTime,
};
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    SupportedProtocolVersion,
};
use thiserror::Error as ThisError;

use crate::target::{Address, Roots, SslMode, Tls, TlsVersion};

/// What makes a configuration impossible; all of it is known before any connection.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum TlsError {
    /// `verify-ca` or `verify-full` with nobody to trust.
    #[error(
        "sslmode {0} needs a root certificate: give sslrootcert=FILE or sslrootcert=system, or choose a weaker sslmode"
    )]
    NoRoots(&'static str),
    /// The root certificates are not PEM, or hold none that can be used.
    #[error("root certificate cannot be used: {0}")]
    Roots(String),
    /// The revocation list is not PEM.
    #[error("certificate revocation list cannot be used: {0}")]
    Revoked(String),
    /// The client certificate or its key cannot be used.
    #[error(
        "client certificate or key cannot be used: {0} (a key must be PEM without a passphrase)"
    )]
    Client(String),
    /// No version of TLS is both at least the least and at most the greatest.
    #[error("ssl_min_protocol_version is above ssl_max_protocol_version")]
    Versions,
    /// A name that no certificate can be made for.
    #[error("\"{0}\" is no host name that a certificate could be checked for")]
    Name(String),
}

/// The protocol name that servers from version 17 on expect with `sslnegotiation=direct`.
pub const ALPN: &[u8] = b"postgresql";

/// Builds the configuration; `system_roots` is asked only for [`Roots::System`].
pub fn client_config(
    tls: &Tls,
    system_roots: impl FnOnce() -> Vec<CertificateDer<'static>>,
) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions(tls)?)
        .expect("the ring provider has cipher suites for TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier(tls, provider, system_roots)?));
    let mut config = match &tls.client {
        None => builder.with_no_client_auth(),
        Some(client) => {
            let bad = |error: &dyn std::fmt::Display| TlsError::Client(error.to_string());
            let chain = CertificateDer::pem_slice_iter(client.chain_pem.as_bytes())
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| bad(&error))?;
            let key = PrivateKeyDer::from_pem_slice(client.key_pem.expose().as_bytes())
                .map_err(|error| bad(&error))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| bad(&error))?
        }
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.enable_sni = tls.sni;
    Ok(config)
}

fn versions(tls: &Tls) -> Result<Vec<&'static SupportedProtocolVersion>, TlsError> {
    let known = [(TlsVersion::Tls12, &TLS12), (TlsVersion::Tls13, &TLS13)];
    let allowed = |version| {
        tls.min_version.is_none_or(|min| min <= version)
            && tls.max_version.is_none_or(|max| version <= max)
    };
    let versions: Vec<_> =
        known.into_iter().filter(|(version, _)| allowed(*version)).map(|(_, v)| v).collect();
    if versions.is_empty() { Err(TlsError::Versions) } else { Ok(versions) }
}

/// The name that a host's certificate is checked for, and that is sent to the server.
pub fn server_name(address: &Address) -> Result<ServerName<'static>, TlsError> {
    match address {
        Address::Tcp { name, addr: Some(addr) } if name.is_empty() => {
            Ok(ServerName::IpAddress((*addr).into()))
        }
        Address::Tcp { name, .. } => {
            ServerName::try_from(name.clone()).map_err(|_| TlsError::Name(name.clone()))
        }
        Address::Unix(path) => Err(TlsError::Name(path.display().to_string())),
    }
}

fn verifier(
    tls: &Tls,
    provider: Arc<CryptoProvider>,
    system_roots: impl FnOnce() -> Vec<CertificateDer<'static>>,
) -> Result<Verifier, TlsError> {
    let bad = |error: &dyn std::fmt::Display| TlsError::Roots(error.to_string());
    let mut store = RootCertStore::empty();
    match &tls.roots {
        Roots::None => {}
        Roots::System => {
            // Some of a system's authorities are usually too odd for rustls; the rest is what counts.
            store.add_parsable_certificates(system_roots());
        }
        Roots::Pem(pem) => {
            for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
                store
                    .add(certificate.map_err(|error| bad(&error))?)
                    .map_err(|error| bad(&error))?;
            }
        }
    }
    if store.is_empty() {
        return match (&tls.roots, tls.mode) {
            (Roots::System | Roots::Pem(_), _) => Err(bad(&"there is none")),
            (Roots::None, SslMode::VerifyCa) => Err(TlsError::NoRoots("verify-ca")),
            (Roots::None, SslMode::VerifyFull) => Err(TlsError::NoRoots("verify-full")),
            (Roots::None, _) => Ok(Verifier { provider, chain: None, name: false }),
        };
    }
    let revoked = tls.revoked_pem.as_deref().unwrap_or_default();
    let revoked = CertificateRevocationListDer::pem_slice_iter(revoked.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| TlsError::Revoked(error.to_string()))?;
    if tls.revoked_pem.is_some() && revoked.is_empty() {
        return Err(TlsError::Revoked("it holds no list".into()));
    }
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(&provider))
        .with_crls(revoked)
        .build()
        .map_err(|error| bad(&error))?;
    // Authorities that are there are used in every mode, as libpq does.
    Ok(Verifier { provider, chain: Some(chain), name: tls.mode == SslMode::VerifyFull })
}

/// Checks as much as the mode asks for. That the server holds the certificate's key is always checked.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// Absent: any certificate will do.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// The certificate must be made for the host.
    name: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is looked at last, so everything else was in order.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls(mode: SslMode, roots: Roots) -> Tls {
        Tls { mode, roots, ..Tls::default() }
    }

    #[test]
    fn verifying_modes_need_authorities_and_others_do_not() {
        let built = |mode, roots| client_config(&tls(mode, roots), Vec::new).map(|_| ());
        assert_eq!(built(SslMode::Require, Roots::None), Ok(()));
        assert_eq!(built(SslMode::Prefer, Roots::None), Ok(()));
        assert_eq!(built(SslMode::VerifyCa, Roots::None), Err(TlsError::NoRoots("verify-ca")));
        assert_eq!(built(SslMode::VerifyFull, Roots::None), Err(TlsError::NoRoots("verify-full")));
        for roots in [Roots::System, Roots::Pem(String::new()), Roots::Pem("junk".into())] {
            assert!(matches!(built(SslMode::Require, roots), Err(TlsError::Roots(_))));
        }
    }

    #[test]
    fn versions_are_bounded_on_both_sides() {
        let versions = |min_version, max_version| {
            versions(&Tls { min_version, max_version, ..Tls::default() }).map(|found| found.len())
        };
        let (v12, v13) = (Some(TlsVersion::Tls12), Some(TlsVersion::Tls13));
        assert_eq!(versions(None, None), Ok(2));
        assert_eq!(versions(v13, None), Ok(1));
        assert_eq!(versions(None, v12), Ok(1));
        assert_eq!(versions(v13, v12), Err(TlsError::Versions));
    }

    #[test]
    fn a_host_is_checked_for_its_name_and_for_its_address_only_without_one() {
        let tcp = |name: &str, addr: Option<&str>| Address::Tcp {
            name: name.into(),
            addr: addr.map(|a| a.parse().expect("an address")),
        };
        let name = |address| server_name(&address).map(|name| name.to_str().into_owned());
        assert_eq!(name(tcp("db.example", Some("10.0.0.1"))), Ok("db.example".into()));
        assert_eq!(name(tcp("", Some("10.0.0.1"))), Ok("10.0.0.1".into()));
        assert_eq!(name(tcp("::1", None)), Ok("::1".into()));
        assert!(name(tcp("no name", None)).is_err());
    }
}
