//! What went wrong with TLS, in words that say what to change.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

use super::validity::{Validity, moment};

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

/// What both ends of a connection are called.
#[derive(Clone, Copy)]
struct Ends {
    peer: &'static str,
    own: &'static str,
    /// Whose use the peer's certificate must allow.
    peer_use: &'static str,
    own_use: &'static str,
}

impl Side {
    fn ends(self) -> Ends {
        match self {
            Self::Agent => Ends {
                peer: "the coordinator",
                own: "this agent",
                peer_use: "server",
                own_use: "client",
            },
            Self::Coordinator => Ends {
                peer: "the agent",
                own: "this coordinator",
                peer_use: "client",
                own_use: "server",
            },
        }
    }
}

/// Explains an error of a TLS stream, where `own` is how one's own certificate looks from here; `None` if
/// TLS is not what failed.
#[must_use]
pub fn explain(error: &io::Error, side: Side, own: Validity) -> Option<TlsFault> {
    let cause = cause(error)?;
    let ends = side.ends();
    let Ends { peer, own: this, .. } = ends;
    let fault = |text: String, for_good| Some(TlsFault { text, for_good });
    match cause {
        Error::InvalidCertificate(reason) => Some(certificate(reason, side)),
        Error::NoCertificatesPresented => fault(
            format!(
                "{peer} presented no certificate, give it --tls-cert and --tls-key with one from \
                 the authority in --tls-ca"
            ),
            true,
        ),
        Error::PeerIncompatible(PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon) => {
            fault(format!("{peer} does not know the kind of key that {this} has"), true)
        }
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => fault(
            format!(
                "{peer} does not speak TLS here, while {this} does; give both sides --tls-ca, \
                 --tls-cert and --tls-key or neither"
            ),
            true,
        ),
        Error::AlertReceived(alert) => Some(refused(*alert, side, own)),
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
fn certificate(reason: &CertificateError, side: Side) -> TlsFault {
    use CertificateError as E;
    let Ends { peer, peer_use, .. } = side.ends();
    // Time passes, so a certificate of the future becomes good by itself.
    let for_good = !matches!(reason, E::NotValidYet | E::NotValidYetContext { .. });
    let what = match reason {
        E::UnknownIssuer | E::BadSignature => {
            "is not signed by the authority in --tls-ca, take all certificates from one authority"
                .into()
        }
        E::Expired => "has expired, make a new one with pgsurge certs --renew".into(),
        E::ExpiredContext { time, not_after } => format!(
            "has expired: it was valid until {} and it is {} here, make a new one with pgsurge \
             certs --renew",
            moment(*not_after),
            moment(*time)
        ),
        E::NotValidYet => "is not valid yet, check the clocks".into(),
        E::NotValidYetContext { time, not_before } => format!(
            "is not valid yet: it begins at {} and it is {} here, check the clocks",
            moment(*not_before),
            moment(*time)
        ),
        E::NotValidForName => "was made for other names than the one that was dialled".into(),
        E::NotValidForNameContext { expected, presented } => format!(
            "was made for other names than the one that was dialled, which is {}: it has {}; dial \
             one of these, or make a certificate with pgsurge certs --renew --coordinator {}",
            expected.to_str(),
            names(presented),
            expected.to_str()
        ),
        E::InvalidPurpose | E::InvalidPurposeContext { .. } => format!(
            "is not meant for this use: coordinators need one for server use, agents one for client \
             use; give {peer} one for {peer_use} use"
        ),
        E::Revoked => "was revoked".into(),
        other => format!("is not acceptable: {other}"),
    };
    TlsFault { text: format!("the certificate of {peer} {what}"), for_good }
}

/// Names in a certificate, without the kind that stands before each.
fn names(presented: &[String]) -> String {
    let bare = |name: &String| match name.split_once("(\"") {
        Some((_, rest)) => rest.trim_end_matches("\")").to_owned(),
        None => name.split_once('(').map_or(name.as_str(), |(_, rest)| rest).replace(')', ""),
    };
    if presented.is_empty() {
        return "none".to_owned();
    }
    presented.iter().map(bare).collect::<Vec<_>>().join(", ")
}

/// Why the peer does not accept one's own certificate.
fn refused(alert: AlertDescription, side: Side, own: Validity) -> TlsFault {
    use AlertDescription as A;
    let Ends { peer, own: this, own_use, .. } = side.ends();
    let mut for_good = true;
    let text = match alert {
        A::UnknownCA | A::DecryptError => format!(
            "{peer} does not know the authority that signed the certificate of {this}, take all \
             certificates from one authority"
        ),
        A::CertificateRequired => format!(
            "{peer} demands a certificate and {this} presented none, give it --tls-cert and --tls-key"
        ),
        A::CertificateExpired => match own {
            Validity::Expired(until) => format!(
                "for {peer} the certificate of {this} has expired: it was valid until {}, make a \
                 new one with pgsurge certs --renew",
                moment(until)
            ),
            Validity::NotYet(from) => {
                for_good = false;
                format!(
                    "for {peer} the certificate of {this} is not valid yet: it begins at {}, check \
                     the clocks",
                    moment(from)
                )
            }
            _ => {
                for_good = false;
                format!(
                    "for {peer} the certificate of {this} has expired or is not valid yet, while it \
                     is good by the clock here: check the clocks"
                )
            }
        },
        A::UnsupportedCertificate => format!(
            "{peer} does not accept the certificate of {this} for this use, give {this} one for \
             {own_use} use"
        ),
        A::BadCertificate if side == Side::Coordinator => format!(
            "{peer} does not accept the certificate of {this}: it is not made for the name that was \
             dialled, make one with pgsurge certs --renew --coordinator NAME"
        ),
        A::BadCertificate | A::CertificateUnknown | A::CertificateRevoked | A::AccessDenied => {
            format!("{peer} does not accept the certificate of {this} ({alert:?})")
        }
        other => {
            for_good = false;
            format!("{peer} ended TLS with {this}: {other:?}")
        }
    };
    TlsFault { text, for_good }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_their_kinds() {
        let presented = ["DnsName(\"bench.example\")", "IpAddress(10.0.0.1)", "other"];
        assert_eq!(names(&presented.map(str::to_owned)), "bench.example, 10.0.0.1, other");
        assert_eq!(names(&[]), "none");
    }
}
