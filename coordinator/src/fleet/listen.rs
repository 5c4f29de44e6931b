//! The port: accepts, recognises what is spoken, does TLS, and hands connections to the server.
//!
//! Strangers cost little and are not waited for: the number of connections, of those without an agent and
//! the time of each are bounded, and none of them holds up an agent, one that is only coming included.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pgsurge_proto::tls::{Renewing, Side, explain};
use rustix::process::{Resource, getrlimit};
use rustls::ServerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::hub::Hub;
use super::io::{Carrier, Connection};
use super::peer::Peer;
use super::strangers::{NO_ROOM, Strangers};

/// Connections at a time, if so many files may be open; beyond them new ones are closed at once.
const CONNECTIONS: usize = 8192;

/// Open files that are left for everything else: results, logs, the sessions that look at the target.
const OTHER_FILES: usize = 256;

/// Connections over which no agent has come yet.
const STRANGERS: usize = 1024;

/// Time for a connection to become a stream, TLS included.
const HANDSHAKE_WITHIN: Duration = Duration::from_secs(10);

/// Time until an agent must be admitted over it.
const ADMITTED_WITHIN: Duration = Duration::from_secs(15);

/// After running out of file descriptors, accepting at once would only spin.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// First byte of a TLS handshake record.
const TLS_RECORD: u8 = 0x16;

/// First byte of HTTP/2's preface (`PRI * HTTP/2.0`).
const PREFACE: u8 = b'P';

/// A fatal alert "protocol version" (RFC 8446, 6.2): what an agent without TLS recognises as TLS.
const TLS_ALERT: [u8; 7] = [0x15, 3, 1, 0, 2, 2, 70];

/// What an agent with TLS recognises as something else.
const NO_TLS: &[u8] = b"pgsurge coordinator without TLS\n";

/// A port that agents may dial.
pub(super) struct Port {
    pub listener: TcpListener,
    pub tls: Option<Arc<Renewing<ServerConfig>>>,
    pub hub: Arc<Hub>,
}

/// Connections on their way to the server.
pub(super) type Accepted = mpsc::Sender<io::Result<Connection>>;

impl Port {
    /// Accepts until the server is gone.
    pub async fn accept(self, accepted: Accepted) {
        let most = connections();
        let places = Arc::new(Semaphore::new(most));
        let strangers = Strangers::new(STRANGERS.min(most / 2));
        loop {
            let (stream, address) = tokio::select! {
                () = accepted.closed() => return,
                next = self.listener.accept() => match next {
                    Ok(next) => next,
                    Err(error) => {
                        let why = format!("it cannot be accepted: {error}");
                        self.hub.complaints.add("a connection", &why);
                        tokio::time::sleep(ACCEPT_AGAIN).await;
                        continue;
                    }
                },
            };
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                self.hub.complaints.add(&connection(address), "there are too many connections");
                strangers.turn_out();
                continue;
            };
            let stranger = strangers.take();
            let (tls, hub, accepted) = (self.tls.clone(), Arc::clone(&self.hub), accepted.clone());
            tokio::spawn(async move {
                let out = stranger.out();
                let opened = tokio::select! {
                    opened = timeout(HANDSHAKE_WITHIN, open(stream, tls)) => {
                        opened.unwrap_or_else(|_| Err("it said nothing in time".to_owned()))
                    }
                    () = out.cancelled() => Err(NO_ROOM.to_owned()),
                };
                match opened {
                    Ok(carrier) => {
                        let complaints = Arc::clone(&hub.complaints);
                        let peer = Peer::new(Some(address), Some(stranger), complaints);
                        let place = Some(place);
                        let connection = Connection::new(carrier, peer, ADMITTED_WITHIN, place);
                        let _ = accepted.send(Ok(connection)).await;
                    }
                    Err(why) => hub.complaints.add(&connection(address), &why),
                }
            });
        }
    }
}

/// As many as there can be without any shortage of files.
fn connections() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    CONNECTIONS.min(files.saturating_sub(OTHER_FILES)).max(2)
}

fn connection(address: SocketAddr) -> String {
    format!("the connection from {address}")
}

/// Makes a carrier of a connection, or says why it is none.
async fn open(
    stream: TcpStream,
    tls: Option<Arc<Renewing<ServerConfig>>>,
) -> Result<Carrier, String> {
    let mut first = [0];
    let seen = stream.peek(&mut first).await.map_err(|e| e.to_string())?;
    if seen == 0 {
        return Err("it was closed by the other side before anything was said".into());
    }
    // Heartbeats and probes are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    match (tls, first[0]) {
        (None, PREFACE) => Ok(Carrier::Tcp(stream)),
        (None, TLS_RECORD) => {
            turn_away(stream, NO_TLS).await;
            Err("the agent speaks TLS and this coordinator does not, give both sides --tls-ca, \
                 --tls-cert and --tls-key or neither"
                .into())
        }
        (Some(tls), TLS_RECORD) => match TlsAcceptor::from(tls.current()).accept(stream).await {
            Ok(stream) => Ok(Carrier::Tls(Box::new(stream))),
            Err(error) => Err(explain(&error, Side::Coordinator, tls.validity())
                .map_or_else(|| format!("TLS failed: {error}"), |fault| fault.text)),
        },
        (Some(_), PREFACE) => {
            turn_away(stream, &TLS_ALERT).await;
            Err("the agent does not speak TLS and this coordinator demands it, give the agent \
                 --tls-ca, --tls-cert and --tls-key"
                .into())
        }
        (_, _) => Err("what it says is not the fleet protocol".into()),
    }
}

/// Says something and closes so that the other side gets to read it: closing with bytes unread would
/// reset the connection.
async fn turn_away(mut stream: TcpStream, last_words: &[u8]) {
    let farewell = async {
        stream.write_all(last_words).await?;
        stream.shutdown().await?;
        let mut rest = (&mut stream).take(1 << 16);
        tokio::io::copy(&mut rest, &mut tokio::io::sink()).await
    };
    // Whether it was read is the other side's business.
    let _ = timeout(Duration::from_secs(1), farewell).await;
}
