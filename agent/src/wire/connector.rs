//! Opening sessions on a target: hosts in order, addresses in order, encryption as `sslmode` says.
//!
//! One connector serves all workers of an agent, so that look-ups, TLS configuration and derived SCRAM
//! keys are made once. What libpq tries next after a failure is tried next here.

use std::sync::Arc;
use std::time::Duration;

use pgsurge_common::target::{Host, SessionAttrs, SslMode, Target};

use super::cancel::CancelToken;
use super::connection::Connection;
use super::error::ConnectError;
use super::order;
use super::places::{Place, Resolver};
use super::scram::KeyCache;
use super::session_attrs;
use super::startup::{self, Login};
use super::stream::Stream;
use super::tls::{self, Client};

/// Bound on one address where a lost session is replaced and the target sets no `connect_timeout`: three
/// repetitions of a lost packet.
const AGAIN_WITHIN: Duration = Duration::from_secs(10);

/// Opens sessions on one target. Cheap to clone; shared by all threads.
#[derive(Clone, Debug)]
pub struct Connector {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    target: Target,
    startup: Vec<u8>,
    tls: Client,
    keys: KeyCache,
    resolver: Resolver,
    /// User id that must own a unix socket's server (`requirepeer`).
    peer: Option<u32>,
}

/// What is wanted of a session, and how long each address may take.
#[derive(Clone, Copy)]
struct Attempt {
    wanted: SessionAttrs,
    bound: Option<Duration>,
}

/// One way to secure a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Security {
    Plain,
    TlsIfOffered,
    Tls,
}

/// A failed attempt, and what is to be tried next.
struct Failure {
    error: ConnectError,
    next: Next,
    /// Whether the other way to secure the stream may do.
    other_security: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Address,
    Host,
    Nothing,
}

impl Connector {
    /// Prepares TLS and the startup message; opens nothing. Fails on unusable certificates or keys.
    pub fn new(target: &Target) -> Result<Self, ConnectError> {
        let shared = Shared {
            startup: startup::startup_message(target)?,
            tls: Client::new(&target.tls)?,
            keys: KeyCache::default(),
            resolver: Resolver::default(),
            peer: target.require_peer.as_deref().map(super::peer::user_id).transpose()?,
            target: target.clone(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.shared.target
    }

    /// Opens one session. Bounded by `connect_timeout` for each address, if the target has one.
    pub async fn connect(&self) -> Result<Connection, ConnectError> {
        self.connect_within(None).await
    }

    /// Opens one in place of a lost one. Bounded for each address in any case: one that is gone must not
    /// keep a client from the next one.
    pub async fn connect_again(&self) -> Result<Connection, ConnectError> {
        self.connect_within(Some(AGAIN_WITHIN)).await
    }

    async fn connect_within(&self, default: Option<Duration>) -> Result<Connection, ConnectError> {
        let asked_for = self.shared.target.connect_timeout.filter(|bound| !bound.is_zero());
        let bound = asked_for.or(default);
        let wanted = match self.shared.target.session_attrs {
            SessionAttrs::PreferStandby => SessionAttrs::Standby,
            wanted => wanted,
        };
        let first = self.try_hosts(Attempt { wanted, bound }).await;
        match first {
            Err(first) if self.shared.target.session_attrs == SessionAttrs::PreferStandby => {
                let second = self.try_hosts(Attempt { wanted: SessionAttrs::Any, bound }).await;
                second.map_err(|error| error.after(Some(first)))
            }
            first => first,
        }
    }

    async fn try_hosts(&self, attempt: Attempt) -> Result<Connection, ConnectError> {
        let target = &self.shared.target;
        let mut failed: Option<ConnectError> = None;
        let mut hosts: Vec<&Host> = target.hosts.iter().collect();
        order::arrange(&mut hosts, target.load_balance);
        for host in hosts {
            let mut places = match self.shared.resolver.places(host).await {
                Ok(places) => places,
                Err(error) => {
                    failed = Some(error.after(failed));
                    continue;
                }
            };
            order::arrange(&mut places, target.load_balance);
            for place in places {
                let failure = match self.try_place(host, &place, attempt).await {
                    Ok(connection) => return Ok(connection),
                    Err(failure) => failure,
                };
                let error = failure.error.after(failed.take());
                match failure.next {
                    Next::Nothing => return Err(error),
                    Next::Address => failed = Some(error),
                    Next::Host => {
                        failed = Some(error);
                        break;
                    }
                }
            }
        }
        self.shared.resolver.forget();
        Err(failed.unwrap_or_else(|| ConnectError::new("dns", "the target names no address")))
    }

    async fn try_place(
        &self,
        host: &Host,
        place: &Place,
        Attempt { wanted, bound }: Attempt,
    ) -> Result<Connection, Failure> {
        let attempt = async {
            let mut connection = self.try_securities(host, place).await?;
            match session_attrs::check(&mut connection, wanted).await {
                Ok(()) => Ok(connection),
                Err(error) => {
                    connection.close().await;
                    Err(Failure::new(error.at(&place.describe()), Next::Host))
                }
            }
        };
        let Some(bound) = bound else { return attempt.await };
        tokio::time::timeout(bound, attempt).await.unwrap_or_else(|_| {
            let error = ConnectError::new("timeout", "timeout expired").at(&place.describe());
            Err(Failure::new(error, Next::Address))
        })
    }

    async fn try_securities(&self, host: &Host, place: &Place) -> Result<Connection, Failure> {
        let (first, second) = securities(self.shared.target.tls.mode, place);
        let failure = match self.attempt(host, place, first).await {
            Ok(connection) => return Ok(connection),
            Err(failure) => failure.at(place),
        };
        let Some(second) = second.filter(|_| failure.other_security) else {
            return Err(failure);
        };
        self.attempt(host, place, second).await.map_err(|again| {
            if second == Security::Tls && again.error.kind() == "tls" {
                // The server has no TLS, so what it said first is the reason.
                return failure;
            }
            let again = again.at(place);
            Failure { error: again.error.after(Some(failure.error)), ..again }
        })
    }

    async fn attempt(
        &self,
        host: &Host,
        place: &Place,
        security: Security,
    ) -> Result<Connection, Failure> {
        let shared = &*self.shared;
        let stream =
            self.open_checked(place).await.map_err(|error| Failure::new(error, Next::Address))?;
        let stream = self.secure(stream, place, security).await.map_err(|error| Failure {
            other_security: error.kind() == "tls" || error.kind() == "closed",
            error,
            next: Next::Nothing,
        })?;
        let certificate_hash = tls::endpoint_hash(&stream);
        let mut connection = Connection::new(stream);
        let login = Login {
            target: &shared.target,
            startup: &shared.startup,
            password: host.password.as_ref(),
            keys: &shared.keys,
            certificate_hash,
        };
        startup::log_in(&mut connection, &login).await.map_err(|refused| {
            let next = match refused.error.kind() {
                "57P03" => Next::Host,
                _ if refused.error.server_error().is_none() => Next::Address,
                _ => Next::Nothing,
            };
            // Where TLS was not to be had, plaintext is what has just been tried.
            let was_last = security == Security::TlsIfOffered && !connection.is_tls();
            let by_server = refused.error.server_error().is_some();
            let other_security = by_server && !refused.authenticating && !was_last;
            Failure { error: refused.error, next, other_security }
        })?;
        self.remember_how_to_cancel(&mut connection, place);
        Ok(connection)
    }

    fn remember_how_to_cancel(&self, connection: &mut Connection, place: &Place) {
        let encrypted = connection.is_tls();
        let about = connection.about();
        let (process, secret) = (about.process, about.secret);
        if (process, secret) != (0, 0) {
            let (connector, place) = (self.clone(), place.clone());
            let token = CancelToken { connector, place, encrypted, process, secret };
            about.cancel = Some(token);
        }
    }

    /// Opens a further stream to the same place, secured as the first one was.
    pub(super) async fn open_again(
        &self,
        place: &Place,
        encrypted: bool,
    ) -> Result<Stream, ConnectError> {
        let stream = self.open_checked(place).await?;
        let security = if encrypted { Security::Tls } else { Security::Plain };
        self.secure(stream, place, security).await
    }

    async fn open_checked(&self, place: &Place) -> Result<Stream, ConnectError> {
        let stream = place.open(&self.shared.target.tcp).await?;
        if let (Some(wanted), Stream::Unix(socket)) = (self.shared.peer, &stream) {
            super::peer::check(socket, wanted)?;
        }
        Ok(stream)
    }

    async fn secure(
        &self,
        stream: Stream,
        place: &Place,
        security: Security,
    ) -> Result<Stream, ConnectError> {
        match (stream, place, security) {
            (Stream::Tcp(socket), Place::Tcp { name, addr }, Security::Tls) => {
                self.shared.tls.start(socket, name, addr.ip()).await
            }
            (Stream::Tcp(socket), Place::Tcp { name, addr }, Security::TlsIfOffered) => {
                self.shared.tls.start_if_offered(socket, name, addr.ip()).await
            }
            (stream, ..) => Ok(stream),
        }
    }
}

/// The ways to secure a stream to `place`, in the order in which `mode` tries them.
fn securities(mode: SslMode, place: &Place) -> (Security, Option<Security>) {
    match (place, mode) {
        (Place::Unix(_), _) | (_, SslMode::Disable) => (Security::Plain, None),
        (_, SslMode::Allow) => (Security::Plain, Some(Security::Tls)),
        (_, SslMode::Prefer) => (Security::TlsIfOffered, Some(Security::Plain)),
        (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => (Security::Tls, None),
    }
}

impl Failure {
    fn new(error: ConnectError, next: Next) -> Self {
        Self { error, next, other_security: false }
    }

    fn at(self, place: &Place) -> Self {
        Self { error: self.error.at(&place.describe()), ..self }
    }
}
