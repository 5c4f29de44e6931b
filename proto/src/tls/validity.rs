//! How one's own certificate looks by the clock of this host: what the other side will think of it.

use std::time::Duration;

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{CertificateError, Error, RootCertStore};

use super::{Side, provider};

/// A certificate that ends within this time is worth a word.
const SOON: Duration = Duration::from_secs(14 * 24 * 3600);

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// Nothing is wrong with its time and use. Who signed it is the other side's to judge.
    Good,
    /// It ends within two weeks, at this time.
    Ending(UnixTime),
    /// It has ended.
    Expired(UnixTime),
    /// It begins later.
    NotYet(UnixTime),
    /// It is not made for the use of this side.
    Misused,
}

impl Validity {
    /// What to tell the operator of this side, if anything.
    pub(super) fn concern(self, certificate: &str) -> Option<String> {
        let what = match self {
            Self::Good => return None,
            Self::Ending(until) => format!("is valid until {} only", moment(until)),
            Self::Expired(until) => format!("has expired, it was valid until {}", moment(until)),
            Self::NotYet(from) => format!("is not valid before {}", moment(from)),
            Self::Misused => {
                "is not meant for this use: coordinators need one for server use, agents one for client use"
                    .to_owned()
            }
        };
        Some(format!("certificate {certificate} {what}"))
    }

    /// Looks at a chain as a side's own.
    pub(super) fn of(chain: &[CertificateDer<'static>], roots: &RootCertStore, side: Side) -> Self {
        let now = UnixTime::now();
        let soon = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + SOON);
        match Self::at(chain, roots, (side, now)) {
            Self::Good => match Self::at(chain, roots, (side, soon)) {
                Self::Expired(until) => Self::Ending(until),
                _ => Self::Good,
            },
            other => other,
        }
    }

    fn at(
        chain: &[CertificateDer<'static>],
        roots: &RootCertStore,
        (side, now): (Side, UnixTime),
    ) -> Self {
        use CertificateError as E;
        match verify(chain, roots, (side, now)) {
            Err(Error::InvalidCertificate(E::ExpiredContext { not_after, .. })) => {
                Self::Expired(not_after)
            }
            Err(Error::InvalidCertificate(E::NotValidYetContext { not_before, .. })) => {
                Self::NotYet(not_before)
            }
            Err(Error::InvalidCertificate(E::InvalidPurpose | E::InvalidPurposeContext { .. })) => {
                Self::Misused
            }
            _ => Self::Good,
        }
    }
}

/// Verifies as the other side would if it trusted the same authority.
fn verify(
    chain: &[CertificateDer<'static>],
    roots: &RootCertStore,
    (side, now): (Side, UnixTime),
) -> Result<(), Error> {
    let (leaf, intermediates) = chain.split_first().ok_or(Error::NoCertificatesPresented)?;
    match side {
        Side::Agent => {
            let roots = std::sync::Arc::new(roots.clone());
            WebPkiClientVerifier::builder_with_provider(roots, provider())
                .build()
                .map_err(|error| Error::General(error.to_string()))?
                .verify_client_cert(leaf, intermediates, now)
                .map(drop)
        }
        Side::Coordinator => verify_server_cert_signed_by_trust_anchor(
            &ParsedCertificate::try_from(leaf)?,
            roots,
            intermediates,
            now,
            provider().signature_verification_algorithms.all,
        ),
    }
}

/// A time of a certificate, for people.
pub(super) fn moment(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    match jiff::Timestamp::from_second(seconds) {
        Ok(timestamp) => timestamp.to_string(),
        Err(_) => format!("second {seconds} of the epoch"),
    }
}
