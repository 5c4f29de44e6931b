//! Checking the server's certificate as far as `sslmode` asks, accepting what OpenSSL accepts.
//!
//! webpki checks chains. Two kinds of certificate that the PostgreSQL manual itself shows how to make are
//! not for webpki and are checked here: a server certificate that is its own authority, and one of
//! version 1 signed by a known authority.

use std::fmt;
use std::sync::Arc;

use pgsurge_common::target::{Roots, SslMode, Tls};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{
    CertificateDer, CertificateRevocationListDer, ServerName, SignatureVerificationAlgorithm,
    UnixTime,
};

use super::super::error::ConnectError;
use super::certificate::Certificate;
use super::names::match_name;
use super::{certificates, tls_error};

/// How far the server's certificate is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Not at all: the channel is private, the other end unknown.
    Anybody,
    /// It must come from a known authority.
    Chain,
    /// It must also be made for the host's name.
    ChainAndName,
}

impl Trust {
    /// What `mode` asks for; with a root certificate at hand every mode is at least as strict as
    /// `verify-ca` (and `prefer` then goes on without TLS).
    pub(super) fn of(mode: SslMode, has_roots: bool) -> Self {
        match mode {
            SslMode::VerifyFull => Self::ChainAndName,
            SslMode::VerifyCa => Self::Chain,
            _ if has_roots => Self::Chain,
            _ => Self::Anybody,
        }
    }
}

/// The check of certificates and handshake signatures.
pub(super) struct Verifier {
    trust: Trust,
    chain: Option<Arc<WebPkiServerVerifier>>,
    anchors: Vec<CertificateDer<'static>>,
    revokes: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("trust", &self.trust).finish_non_exhaustive()
    }
}

impl Verifier {
    /// Loads the authorities that `trust` needs.
    pub(super) fn new(
        provider: &Arc<CryptoProvider>,
        trust: Trust,
        tls: &Tls,
    ) -> Result<Self, ConnectError> {
        let algorithms = provider.signature_verification_algorithms;
        let revokes = tls.revoked_pem.is_some();
        if trust == Trust::Anybody {
            return Ok(Self { trust, chain: None, anchors: Vec::new(), revokes, algorithms });
        }
        let anchors = authorities(&tls.roots)?;
        let mut store = RootCertStore::empty();
        let (_, unusable) = store.add_parsable_certificates(anchors.iter().cloned());
        if store.is_empty() {
            let message = format!("none of the {unusable} root certificates can be used");
            return Err(tls_error(message));
        }
        let mut builder =
            WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider));
        if let Some(pem) = &tls.revoked_pem {
            let lists: Result<Vec<_>, _> =
                CertificateRevocationListDer::pem_slice_iter(pem.as_bytes()).collect();
            let lists = lists.map_err(|error| tls_error(format!("sslcrl: {error}")))?;
            builder = builder.with_crls(lists).allow_unknown_revocation_status();
        }
        let chain = builder.build().map_err(|error| tls_error(format!("sslcrl: {error}")))?;
        Ok(Self { trust, chain: Some(chain), anchors, revokes, algorithms })
    }

    fn check_chain(
        &self,
        server: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), Error> {
        let Some(chain) = &self.chain else {
            return Ok(());
        };
        let Err(error) = chain.verify_server_cert(server, between, name, &[], now) else {
            return Ok(());
        };
        match error {
            // The name is looked at last and, by libpq's rules, elsewhere.
            Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ) => Ok(()),
            error if self.is_anchor(server, now) || self.is_old_but_signed(server, now) => {
                if self.revokes { Err(error) } else { Ok(()) }
            }
            error => Err(error),
        }
    }

    /// Whether the server's certificate is itself one of the authorities.
    fn is_anchor(&self, server: &CertificateDer<'_>, now: UnixTime) -> bool {
        self.anchors.iter().any(|anchor| anchor.as_ref() == server.as_ref())
            && Certificate::parse(server).is_some_and(|server| server.is_valid_at(now))
    }

    /// Whether it is of version 1 and signed by one of the authorities.
    fn is_old_but_signed(&self, server: &CertificateDer<'_>, now: UnixTime) -> bool {
        let Some(server) = Certificate::parse(server).filter(|server| server.version < 3) else {
            return false;
        };
        let signed_by = |issuer: &Certificate<'_>| {
            issuer.subject == server.issuer
                && issuer.is_valid_at(now)
                && self.algorithms.all.iter().any(|algorithm| {
                    algorithm.signature_alg_id().as_ref() == server.signature_algorithm
                        && verifies(*algorithm, issuer, server.signed, server.signature)
                })
        };
        server.is_valid_at(now)
            && self.anchors.iter().filter_map(|der| Certificate::parse(der)).any(|i| signed_by(&i))
    }

    /// Checks a handshake signature by a certificate that webpki does not read.
    fn check_old_signature(
        &self,
        message: &[u8],
        server: &Certificate<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let by_scheme = self.algorithms.mapping.iter().find(|(scheme, _)| *scheme == signed.scheme);
        let algorithms = by_scheme.map_or(&[][..], |(_, algorithms)| *algorithms);
        let valid = algorithms
            .iter()
            .any(|algorithm| verifies(*algorithm, server, message, signed.signature()));
        if valid {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::BadSignature))
        }
    }
}

/// A certificate made for somebody else, in libpq's words.
#[derive(Debug, thiserror::Error)]
#[error("server certificate for \"{subject}\" does not match host name \"{host}\"")]
struct Mismatch {
    subject: String,
    host: String,
}

fn mismatch(server: &Certificate<'_>, host: &str) -> Error {
    let (dns, _) = server.alternative_names();
    let subject = dns.first().copied().or(server.common_name()).unwrap_or_default();
    let subject = String::from_utf8_lossy(subject).into_owned();
    let mismatch = Mismatch { subject, host: host.to_owned() };
    Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(mismatch))))
}

/// What a failed handshake is told as.
pub(super) fn explain(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(own))) => own.to_string(),
        other => format!("SSL error: {other}"),
    }
}

fn verifies(
    algorithm: &dyn SignatureVerificationAlgorithm,
    signer: &Certificate<'_>,
    message: &[u8],
    signature: &[u8],
) -> bool {
    algorithm.public_key_alg_id().as_ref() == signer.key_algorithm
        && algorithm.verify_signature(signer.key, message, signature).is_ok()
}

fn old(server: &CertificateDer<'_>) -> bool {
    Certificate::parse(server).is_some_and(|server| server.version < 3)
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        server: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.trust == Trust::Anybody {
            return Ok(ServerCertVerified::assertion());
        }
        self.check_chain(server, between, name, now)?;
        if self.trust == Trust::ChainAndName {
            let parsed = Certificate::parse(server)
                .ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))?;
            if !match_name(&parsed, &name.to_str()) {
                return Err(mismatch(&parsed, &name.to_str()));
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        server: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match Certificate::parse(server) {
            Some(parsed) if old(server) => self.check_old_signature(message, &parsed, signed),
            _ => rustls::crypto::verify_tls12_signature(message, server, signed, &self.algorithms),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        server: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match Certificate::parse(server) {
            Some(parsed) if old(server) => self.check_old_signature(message, &parsed, signed),
            _ => rustls::crypto::verify_tls13_signature(message, server, signed, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

fn authorities(roots: &Roots) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    match roots {
        Roots::Pem(pem) => certificates(pem, "root certificate"),
        Roots::System => {
            let found = rustls_native_certs::load_native_certs();
            if found.certs.is_empty() {
                let message = "sslrootcert=system: no certificates found on this system \
                               (install ca-certificates)";
                return Err(tls_error(message));
            }
            Ok(found.certs)
        }
        Roots::None => Err(tls_error(
            "root certificate file is missing; provide it with sslrootcert, use the system's \
             trusted roots with sslrootcert=system, or change sslmode to disable server \
             certificate verification",
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Duration;

    use super::*;

    /// Made by the manual's commands: a root, and a certificate of version 1 for the common name
    /// `old.example`; good from December 2026 for a hundred years.
    const AUTHORITY: &str = include_str!("fixtures/authority.crt");
    const SERVER: &str = include_str!("fixtures/version-1.crt");

    fn verify(mode: SslMode, host: &str, server: &[u8], year: u64) -> Result<(), Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = Tls { mode, roots: Roots::Pem(AUTHORITY.to_owned()), ..Tls::default() };
        let verifier = Verifier::new(&provider, Trust::of(mode, true), &tls).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs((year - 1970) * 31_556_952));
        let name = ServerName::try_from(host.to_owned()).unwrap();
        let server = CertificateDer::from(server.to_vec());
        verifier.verify_server_cert(&server, &[], &name, &[], now).map(drop)
    }

    fn server() -> Vec<u8> {
        certificates(SERVER, "fixture").unwrap().remove(0).to_vec()
    }

    #[test]
    fn a_certificate_of_version_1_passes_by_signature_date_and_common_name() {
        let server = server();
        assert_eq!(verify(SslMode::VerifyCa, "anything", &server, 2030), Ok(()));
        assert_eq!(verify(SslMode::VerifyFull, "old.example", &server, 2030), Ok(()));
        let mismatch = verify(SslMode::VerifyFull, "new.example", &server, 2030).unwrap_err();
        assert_eq!(
            explain(&mismatch),
            "server certificate for \"old.example\" does not match host name \"new.example\""
        );
    }

    #[test]
    fn it_is_refused_outside_of_its_dates_and_once_a_bit_of_it_changes() {
        let server = server();
        assert!(verify(SslMode::VerifyCa, "h", &server, 2020).is_err());
        assert!(verify(SslMode::VerifyCa, "h", &server, 2200).is_err());
        for at in 0..server.len() {
            let mut changed = server.clone();
            changed[at] ^= 1;
            assert!(verify(SslMode::VerifyCa, "h", &changed, 2030).is_err(), "byte {at}");
        }
    }
}
