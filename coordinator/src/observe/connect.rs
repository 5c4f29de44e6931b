//! Opens the coordinator's own sessions on the target, as libpq would: several hosts and addresses, unix
//! sockets, every `sslmode`, the kinds of server that `target_session_attrs` asks for.
//!
//! Hosts are tried in the order given also where clients pick at random (`load_balance_hosts`), so that what looks
//! before and after a run looks at one server; `datestyle` and the like, which no statement of the coordinator
//! depends on, are not asked for.
//!
//! Shared by `init` and `observe`. Knows nothing of what the sessions are for.

use std::io;

use pgsurge_common::target::{self, Host, SslMode, Target};
use pgsurge_common::tls;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_postgres::config::{ChannelBinding, SslNegotiation};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_util::either::Either;

use super::error::{TargetError, chain};
use super::guard::{Guard, Settled};
use super::place::{Place, Stream, peer_uid};
use super::session::{Access, Session};

/// The message that asks a server for TLS: its length and a protocol number of its own.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// A stream on which encryption is settled: plain, or secured.
pub(super) type Link = Either<Stream, Box<dyn SecuredStream>>;

/// What a TLS stream of whatever library can do.
pub(super) trait SecuredStream: TlsStream + Send + Unpin {}

impl<S: TlsStream + Send + Unpin> SecuredStream for S {}

/// How a session is protected on one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Security {
    Plain,
    /// TLS, or plaintext if the server has none.
    IfOffered,
    Tls,
}

/// Attempts on one place, in order; a later one is made only if encryption may be what failed the earlier.
fn attempts(place: &Place, mode: SslMode) -> &'static [Security] {
    match (place, mode) {
        (Place::Unix(_), _) | (_, SslMode::Disable) => &[Security::Plain],
        (_, SslMode::Allow) => &[Security::Plain, Security::Tls],
        (_, SslMode::Prefer) => &[Security::IfOffered, Security::Plain],
        (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => &[Security::Tls],
    }
}

/// Opens a session on the first host that accepts and suits.
pub(super) async fn open(target: &Target) -> Result<Session, TargetError> {
    let mut failures = Vec::new();
    let mut second_choice = None;
    for host in &target.hosts {
        let places = match Place::of(host).await {
            Ok(places) => places,
            Err(error) => {
                failures.push(error);
                continue;
            }
        };
        for place in places {
            match open_at(target, host, &place).await {
                Ok(mut session) => match session.suits(target.session_attrs).await {
                    Ok(()) => return Ok(session),
                    Err(error) => {
                        second_choice = second_choice.or(Some(session));
                        failures.push(failed_at(&place, error));
                    }
                },
                Err(error) => {
                    let stop = is_final(&error);
                    failures.push(failed_at(&place, error));
                    if stop {
                        return Err(all(failures));
                    }
                }
            }
        }
    }
    match second_choice {
        Some(session) if target.session_attrs == target::SessionAttrs::PreferStandby => Ok(session),
        _ => Err(all(failures)),
    }
}

/// A server that answers, and refuses, ends the search; one that is starting up or shutting down does not.
fn is_final(error: &TargetError) -> bool {
    error.sqlstate.as_deref().is_some_and(|code| code != "57P03")
}

fn failed_at(place: &Place, error: TargetError) -> TargetError {
    error.of(&format!("connection to server {} failed", place.describe()))
}

fn all(failures: Vec<TargetError>) -> TargetError {
    let last = failures.last().cloned();
    let lines: Vec<_> = failures.into_iter().map(|failure| failure.message).collect();
    match last {
        Some(last) => TargetError { message: lines.join("\n"), ..last },
        None => TargetError::new("the target names no host"),
    }
}

async fn open_at(target: &Target, host: &Host, place: &Place) -> Result<Session, TargetError> {
    let attempt = async {
        let mut failure = None;
        for &security in attempts(place, target.tls.mode) {
            let access = Access { host: host.clone(), place: place.clone(), security };
            match start(target, access).await {
                Ok(session) => return Ok(session),
                Err(refusal) if refusal.encryption_may_matter => failure = Some(refusal.error),
                Err(refusal) => return Err(refusal.error),
            }
        }
        Err(failure.unwrap_or_else(|| TargetError::new("no way to connect")))
    };
    match target.connect_timeout.filter(|limit| !limit.is_zero()) {
        None => attempt.await,
        Some(limit) => tokio::time::timeout(limit, attempt)
            .await
            .unwrap_or_else(|_| Err(TargetError::new("timeout expired"))),
    }
}

struct Refusal {
    error: TargetError,
    encryption_may_matter: bool,
}

impl Refusal {
    fn whatever_the_encryption(error: TargetError) -> Self {
        Self { error, encryption_may_matter: false }
    }
}

async fn start(target: &Target, access: Access) -> Result<Session, Refusal> {
    let stream = access.place.open(&target.tcp).await.map_err(Refusal::whatever_the_encryption)?;
    check_peer(target, &stream).map_err(Refusal::whatever_the_encryption)?;
    let link = secure(target, &access, stream)
        .await
        .map_err(|error| Refusal { error, encryption_may_matter: true })?;
    let secured = matches!(link, Link::Right(_));
    // Where the server had no TLS to offer, plaintext has been tried by this.
    let last = access.security == Security::IfOffered && !secured;
    let (guard, pid) = Guard::new(link, target.require_auth.clone());
    let opened = config(target, &access.host).connect_raw(guard, Settled).await;
    let (client, connection) = opened.map_err(|error| {
        let error = TargetError::login(&error);
        // 28000: pg_hba.conf has no line for this, and lines tell sessions with and without TLS apart.
        let encryption_may_matter =
            !last && error.sqlstate.as_deref().is_none_or(|code| code == "28000");
        Refusal { error, encryption_may_matter }
    })?;
    let security = if secured { Security::Tls } else { Security::Plain };
    Ok(Session::new(client, connection, &pid, Access { security, ..access }))
}

/// What tokio-postgres is to say; encryption is settled before it comes in.
fn config(target: &Target, host: &Host) -> tokio_postgres::Config {
    let mut config = tokio_postgres::Config::new();
    config
        .user(&target.user)
        .dbname(&target.database)
        .application_name(&target.application_name)
        .ssl_mode(tokio_postgres::config::SslMode::Require)
        .ssl_negotiation(SslNegotiation::Direct)
        .channel_binding(match target.tls.channel_binding {
            target::ChannelBinding::Disable => ChannelBinding::Disable,
            target::ChannelBinding::Prefer => ChannelBinding::Prefer,
            target::ChannelBinding::Require => ChannelBinding::Require,
        });
    if let Some(options) = &target.options {
        config.options(options);
    }
    if let Some(password) = host.password.as_ref().or(target.password.as_ref()) {
        config.password(password.expose());
    }
    config
}

/// `requirepeer`.
fn check_peer(target: &Target, stream: &Stream) -> Result<(), TargetError> {
    let (Some(wanted), Some(uid)) = (&target.require_peer, peer_uid(stream)) else {
        return Ok(());
    };
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    });
    if name == Some(wanted) {
        return Ok(());
    }
    let found = name.map_or_else(|| format!("user id {uid}"), |name| format!("\"{name}\""));
    Err(TargetError::new(format!(
        "requirepeer specifies \"{wanted}\", but the server's process belongs to {found}"
    )))
}

/// Settles encryption on a fresh stream.
pub(super) async fn secure(
    target: &Target,
    access: &Access,
    mut stream: Stream,
) -> Result<Link, TargetError> {
    if access.security == Security::Plain {
        return Ok(Link::Left(stream));
    }
    let told = |error: io::Error| TargetError::new(chain(&error));
    if !target.tls.direct {
        stream.write_all(&SSL_REQUEST).await.map_err(told)?;
        let mut answer = [0];
        stream.read_exact(&mut answer).await.map_err(told)?;
        match (answer[0], access.security) {
            (b'S', _) => {}
            (b'N', Security::IfOffered) => return Ok(Link::Left(stream)),
            (b'N', _) => {
                return Err(TargetError::new("server does not support SSL, but SSL was required"));
            }
            (other, _) => {
                return Err(TargetError::new(format!(
                    "received invalid response to SSL negotiation: {other:#04x}"
                )));
            }
        }
    }
    let as_error = |error: tls::TlsError| TargetError::new(error.to_string());
    let config = tls::client_config(&target.tls, system_roots).map_err(as_error)?;
    let name = tls::server_name(&access.host.address).map_err(as_error)?;
    let mut connector = MakeRustlsConnect::new(config);
    let connect = MakeTlsConnect::<Stream>::make_tls_connect(&mut connector, &name.to_str())
        .expect("making a rustls connector cannot fail");
    let secured = connect
        .connect(stream)
        .await
        .map_err(|error| TargetError::new(format!("SSL error: {}", chain(&error))))?;
    Ok(Link::Right(Box::new(secured)))
}

fn system_roots() -> Vec<rustls_pki_types::CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}
