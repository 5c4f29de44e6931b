//! What went wrong with TLS, in words that say what to change.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

/// Who is speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The message is for the agent's operator.
    Agent,
    /// The message is for the coordinator's.
    Coordinator,
}

/// A failure of TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFault {
    /// What is wrong and what to do.
    pub text: String,
    /// Trying again with the same files cannot help.
    pub for_good: bool,
}

/// Explains an error of a TLS stream; `None` if TLS is not what failed.
#[must_use]
pub fn explain(error: &io::Error, side: Side) -> Option<TlsFault> {
    let cause = cause(error)?;
    let (peer, own) = match side {
        Side::Agent => ("the coordinator", "this agent"),
        Side::Coordinator => ("the agent", "this coordinator"),
    };
    let fault = |text: String, for_good| Some(TlsFault { text, for_good });
    match cause {
        Error::InvalidCertificate(reason) => fault(certificate(reason, peer), true),
        Error::NoCertificatesPresented => fault(format!("{peer} presented no certificate"), true),
        Error::PeerIncompatible(PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon) => {
            fault(format!("{peer} does not know the kind of key that {own} has"), true)
        }
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            fault(format!("{peer} does not speak TLS here, while {own} does"), true)
        }
        Error::AlertReceived(alert) => Some(refused(*alert, peer, own)),
        other => fault(format!("TLS with {peer} failed: {other}"), false),
    }
}

/// The error of TLS somewhere below another one.
fn cause(error: &io::Error) -> Option<&Error> {
    let mut link: &(dyn StdError + 'static) = error.get_ref()?;
    loop {
        if let Some(cause) = link.downcast_ref::<Error>() {
            return Some(cause);
        }
        link = link.source()?;
    }
}

/// Why the peer's certificate is not good enough.
fn certificate(reason: &CertificateError, peer: &str) -> String {
    use CertificateError as E;
    let what = match reason {
        E::UnknownIssuer | E::BadSignature => "is not signed by the authority in --tls-ca".into(),
        E::Expired | E::ExpiredContext { .. } => "has expired".into(),
        E::NotValidYet | E::NotValidYetContext { .. } => "is not valid yet, check the clocks".into(),
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            "was made for other names than the one that was dialled".into()
        }
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
            "is not meant for this use: coordinators need one for server use, agents one for client use"
                .into()
        }
        E::Revoked => "was revoked".into(),
        other => format!("is not acceptable: {other}"),
    };
    format!("the certificate of {peer} {what}")
}

/// Why the peer does not accept one's own certificate.
fn refused(alert: AlertDescription, peer: &str, own: &str) -> TlsFault {
    use AlertDescription as A;
    let what = match alert {
        A::UnknownCA | A::DecryptError => {
            format!("{peer} does not know the authority that signed the certificate of {own}")
        }
        A::CertificateRequired => format!("{peer} demands a certificate and {own} presented none"),
        A::CertificateExpired => {
            format!("for {peer} the certificate of {own} has expired or is not valid yet")
        }
        A::UnsupportedCertificate => {
            format!("{peer} does not accept the certificate of {own} for this use")
        }
        A::BadCertificate | A::CertificateUnknown | A::CertificateRevoked | A::AccessDenied => {
            format!("{peer} does not accept the certificate of {own}")
        }
        other => {
            let text = format!("{peer} ended TLS with {own}: {other:?}");
            return TlsFault { text, for_good: false };
        }
    };
    TlsFault { text: what, for_good: true }
}
