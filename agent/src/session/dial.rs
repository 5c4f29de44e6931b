//! From an address to a connection: look-up, TCP, TLS, or a pipe inside the process.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pgsurge_proto::client::{self, AttachError};
use pgsurge_proto::tls::{IdentityError, Renewing, Side, TlsFault, Validity, explain};
use rustls::ClientConfig;
use rustls_pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Uri};

use super::Coordinator;
use super::witness::{Testimony, Witnessed};

/// The port of a coordinator where none is named.
const PORT: u16 = 7432;

/// Bounds on the steps of dialling.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Buffer of a pipe, in bytes: an interval fits.
const PIPE_BYTES: usize = 1 << 20;

/// Why there is no connection.
#[derive(Debug, Error)]
#[error("cannot attach to the coordinator at {address}: {reason}")]
pub struct DialError {
    /// Where.
    pub address: String,
    /// What happened, and what to do.
    pub reason: String,
    /// Trying again with the same options cannot help.
    pub for_good: bool,
    /// It is TLS that failed: certificates that are replaced may help nevertheless.
    pub renewable: bool,
}

/// Dials one coordinator, again and again.
#[derive(Clone, Debug)]
pub(super) struct Dialler {
    place: Place,
    /// For messages.
    pub address: String,
}

#[derive(Clone, Debug)]
enum Place {
    Tcp { host: String, port: u16, tls: Option<Arc<Renewing<ClientConfig>>>, insecure: bool },
    Pipe(mpsc::Sender<DuplexStream>),
}

trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

type Stream = Witnessed<Box<dyn Duplex>>;

impl Dialler {
    pub fn new(coordinator: &Coordinator) -> Result<Self, IdentityError> {
        match coordinator {
            Coordinator::Tcp { address, tls, insecure } => {
                let tls = tls.as_ref().map(|tls| tls.client().map(Arc::new)).transpose()?;
                let (host, port) = host_and_port(address);
                let address = address.clone();
                Ok(Self { place: Place::Tcp { host, port, tls, insecure: *insecure }, address })
            }
            Coordinator::Pipe(pipe) => {
                Ok(Self { place: Place::Pipe(pipe.clone()), address: "this process".to_owned() })
            }
        }
    }

    fn error(&self, reason: impl Into<String>, for_good: bool) -> DialError {
        let address = self.address.clone();
        DialError { address, reason: reason.into(), for_good, renewable: false }
    }

    fn tls_error(&self, fault: TlsFault) -> DialError {
        DialError { renewable: true, ..self.error(fault.text, fault.for_good) }
    }

    /// A channel over one connection. It does not connect by itself again.
    pub async fn channel(&self) -> Result<(Channel, Testimony), DialError> {
        let testimony = Testimony::default();
        let stream = self.connect(testimony.clone()).await?;
        let mut stream = Some(hyper_util::rt::TokioIo::new(stream));
        let once = tower::service_fn(move |_: Uri| {
            let stream = stream.take().ok_or(io::Error::from(io::ErrorKind::NotConnected));
            async move { stream }
        });
        match client::endpoint().connect_with_connector(once).await {
            Ok(channel) => Ok((channel, testimony)),
            Err(error) => Err(self.failure(&testimony, error.to_string())),
        }
    }

    /// Why attaching failed: what the witness saw counts more than what came of it.
    pub fn attach_error(&self, testimony: &Testimony, error: AttachError) -> DialError {
        match error {
            AttachError::RefusedForGood(why) => self.error(why, true),
            AttachError::Refused(why) => self.error(why, false),
            AttachError::Connection(why) => self.failure(testimony, why),
        }
    }

    fn failure(&self, testimony: &Testimony, otherwise: String) -> DialError {
        match testimony.fault() {
            Some(fault) => self.tls_error(fault),
            None => self.error(otherwise, false),
        }
    }

    async fn connect(&self, testimony: Testimony) -> Result<Stream, DialError> {
        let boxed = |stream: Box<dyn Duplex>, tls| Witnessed::new(stream, tls, testimony);
        match &self.place {
            Place::Pipe(pipe) => {
                let (own, theirs) = tokio::io::duplex(PIPE_BYTES);
                let gone = |_| self.error("its part of this process has ended", true);
                pipe.send(theirs).await.map_err(gone)?;
                Ok(boxed(Box::new(own), None))
            }
            Place::Tcp { host, port, tls, insecure } => {
                let stream = self.tcp(host, *port, tls.is_none() && !insecure).await?;
                match tls {
                    None => Ok(boxed(Box::new(stream), None)),
                    Some(tls) => {
                        let config = tls.current();
                        let own = tls.validity();
                        let secured = self.tls(host, (config, own), stream).await?;
                        Ok(boxed(Box::new(secured), Some(own)))
                    }
                }
            }
        }
    }

    /// Tries all addresses of a name.
    async fn tcp(
        &self,
        host: &str,
        port: u16,
        loopback_only: bool,
    ) -> Result<TcpStream, DialError> {
        let found = timeout(CONNECT_WITHIN, tokio::net::lookup_host((host, port))).await;
        let found: Vec<SocketAddr> = match found {
            Ok(Ok(found)) => found.collect(),
            Ok(Err(error)) => return Err(self.error(format!("cannot look it up: {error}"), false)),
            Err(_) => return Err(self.error("looking it up took too long", false)),
        };
        if loopback_only && found.iter().any(|address| !address.ip().is_loopback()) {
            let reason = "plaintext beyond loopback would show the target's credentials to the network, \
                          give --tls-ca, --tls-cert and --tls-key, or --insecure to do it anyway";
            return Err(self.error(reason, true));
        }
        let mut last = "the name has no address".to_owned();
        for address in found {
            match timeout(CONNECT_WITHIN, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Echoes of clock probes must not wait for more to send.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => last = error.to_string(),
                Err(_) => last = format!("no answer within {} s", CONNECT_WITHIN.as_secs()),
            }
        }
        Err(self.error(last, false))
    }

    async fn tls(
        &self,
        host: &str,
        (config, own): (Arc<ClientConfig>, Validity),
        stream: TcpStream,
    ) -> Result<impl Duplex + use<>, DialError> {
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| self.error(format!("\"{host}\" is no name that TLS can check"), true))?;
        let handshake = TlsConnector::from(config).connect(name, stream);
        match timeout(HANDSHAKE_WITHIN, handshake).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(match explain(&error, Side::Agent, own) {
                Some(fault) => self.tls_error(fault),
                None if error.kind() == io::ErrorKind::UnexpectedEof => {
                    self.error("it closed the connection in the middle of the TLS handshake", false)
                }
                None => self.error(error.to_string(), false),
            }),
            Err(_) => Err(self.error("the TLS handshake took too long", false)),
        }
    }
}

/// `host:port`, `[v6]:port`, or either without a port.
fn host_and_port(address: &str) -> (String, u16) {
    let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
    match address.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => match port.parse() {
            Ok(port) => (bare(host), port),
            Err(_) => (bare(address), PORT),
        },
        _ => (bare(address), PORT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_with_and_without_a_port() {
        for (address, host, port) in [
            ("bench-1:7000", "bench-1", 7000),
            ("bench-1", "bench-1", PORT),
            ("10.0.0.1:1", "10.0.0.1", 1),
            ("[::1]:7000", "::1", 7000),
            ("[::1]", "::1", PORT),
            ("fe80::1", "fe80::1", PORT),
        ] {
            assert_eq!(host_and_port(address), (host.to_owned(), port), "{address}");
        }
    }
}
