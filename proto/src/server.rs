//! The coordinator's end of the stream: a gRPC server over whatever connections it is given.
//!
//! Reads the hello itself, within a deadline and with the version compared first, so that what it hands
//! over is an agent that speaks this protocol. Decides nothing else about admission.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

pub use tonic::transport::server::Connected;

use crate::message::{AgentMessage, CoordinatorMessage, Hello, LogPart, LogReceipt, LogSender};
use crate::wire::agent_message::Kind;
use crate::wire::fleet_server::{Fleet as WireFleet, FleetServer};
use crate::{Incoming, MAX_MESSAGE_BYTES, PROTOCOL_VERSION, WireError, wire};

/// How long a stream may stay without its hello.
const HELLO_WITHIN: Duration = Duration::from_secs(10);

/// HTTP/2 pings find dead connections also while nothing is said. They are only the last resort: agents
/// notice silence by themselves, and a peer that was merely stopped for some seconds must not be cut off.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(5);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// Flow-control window of a stream: an interval with full histograms goes out without waiting.
const WINDOW_BYTES: u32 = 1 << 20;

/// Who takes admitted streams.
pub trait Admission: Send + Sync + 'static {
    /// What is known of a connection.
    type Peer: Clone + Send + Sync + 'static;

    /// Takes a new stream of an agent, or refuses it. Messages for the agent go through the channel that is
    /// returned; the stream ends when its sender is dropped.
    fn attach(&self, newcomer: Newcomer<Self::Peer>) -> Result<Outgoing, Refusal>;

    /// Takes the logs of an agent to their end, or refuses them.
    fn deliver(
        &self,
        delivery: Delivery<Self::Peer>,
    ) -> impl Future<Output = Result<LogReceipt, Refusal>> + Send;

    /// A stream was given up before it reached [`Admission::attach`], for the log.
    fn rejected(&self, peer: Option<&Self::Peer>, why: &str);
}

/// Messages on their way to one agent.
pub type Outgoing = mpsc::Receiver<CoordinatorMessage>;

/// An agent that has said hello.
#[derive(Debug)]
pub struct Newcomer<P> {
    /// Its connection.
    pub peer: P,
    /// Its hello.
    pub hello: Hello,
    /// What it says from here on.
    pub messages: Incoming<AgentMessage>,
}

/// Logs on their way in.
#[derive(Debug)]
pub struct Delivery<P> {
    /// Its connection.
    pub peer: P,
    /// Who says to be at the other end.
    pub sender: LogSender,
    /// The logs.
    pub parts: Incoming<LogPart>,
}

/// Why an agent is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It can never be taken as it is.
    #[error("{0}")]
    Never(String),
    /// It may try again later.
    #[error("{0}")]
    Later(String),
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Never(why) => Self::failed_precondition(why),
            Refusal::Later(why) => Self::unavailable(why),
        }
    }
}

/// The server could not go on.
#[derive(Debug, Error)]
#[error("the fleet server failed: {0}")]
pub struct ServeError(String);

/// Serves all connections of `incoming` until `shutdown` resolves and the last of them has ended; the
/// caller bounds that wait.
///
/// # Errors
/// Serving failed as a whole; errors of single connections only end these.
pub async fn serve<A, S, Io>(
    admission: Arc<A>,
    incoming: S,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError>
where
    A: Admission,
    S: Stream<Item = std::io::Result<Io>> + Send,
    Io: AsyncRead + AsyncWrite + Connected<ConnectInfo = A::Peer> + Unpin + Send + 'static,
{
    let service = FleetServer::new(Glue(admission))
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE_EVERY))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        // An agent has one stream, and for a moment a second one while it comes back.
        .max_concurrent_streams(4)
        .http2_max_header_list_size(16 * 1024)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, shutdown)
        .await
        .map_err(|e| ServeError(e.to_string()))
}

struct Glue<A>(Arc<A>);

type Replies = Pin<Box<dyn Stream<Item = Result<wire::CoordinatorMessage, Status>> + Send>>;

#[tonic::async_trait]
impl<A: Admission> WireFleet for Glue<A> {
    type AttachStream = Replies;

    async fn attach(
        &self,
        request: Request<Streaming<wire::AgentMessage>>,
    ) -> Result<Response<Replies>, Status> {
        let peer = request.extensions().get::<A::Peer>().cloned();
        let mut stream = request.into_inner();
        let hello = hello(&mut stream).await.and_then(|hello| match &peer {
            Some(peer) => Ok((peer.clone(), hello)),
            None => Err(Refusal::Never("the connection has no peer".into())),
        });
        let (peer, hello) = hello.inspect_err(|refusal| {
            self.0.rejected(peer.as_ref(), &refusal.to_string());
        })?;
        let messages = Incoming::new(stream);
        let outgoing = self.0.attach(Newcomer { peer, hello, messages })?;
        let replies = ReceiverStream::new(outgoing).map(|message| Ok(message.into()));
        Ok(Response::new(Box::pin(replies)))
    }

    async fn deliver(
        &self,
        request: Request<Streaming<wire::LogPart>>,
    ) -> Result<Response<wire::LogReceipt>, Status> {
        let peer = request.extensions().get::<A::Peer>().cloned();
        let mut stream = request.into_inner();
        let sender = sender(&mut stream).await.inspect_err(|refusal| {
            self.0.rejected(peer.as_ref(), &refusal.to_string());
        })?;
        let peer = peer.ok_or(Refusal::Never("the connection has no peer".into()))?;
        let parts = Incoming::new(stream);
        let receipt = self.0.deliver(Delivery { peer, sender, parts }).await?;
        Ok(Response::new(receipt.into()))
    }
}

/// The sender of a delivery: its first part.
async fn sender(stream: &mut Streaming<wire::LogPart>) -> Result<LogSender, Refusal> {
    let first = tokio::time::timeout(HELLO_WITHIN, stream.message()).await;
    let bad = |why: String| Refusal::Never(format!("logs without a sender: {why}"));
    match first {
        Ok(Ok(Some(part))) => LogSender::try_from(part).map_err(|error| bad(error.to_string())),
        Ok(Ok(None)) => Err(bad("the stream is empty".into())),
        Ok(Err(status)) => Err(bad(crate::stream::explain(&status))),
        Err(_) => Err(bad("it did not come in time".into())),
    }
}

/// The first message of a stream.
async fn hello(stream: &mut Streaming<wire::AgentMessage>) -> Result<Hello, Refusal> {
    let first = tokio::time::timeout(HELLO_WITHIN, stream.message()).await;
    let kind = match first {
        Err(_) => return Err(Refusal::Later("no hello came in time".into())),
        Ok(Err(status)) => {
            return Err(Refusal::Later(format!(
                "no hello came: {}",
                crate::stream::explain(&status)
            )));
        }
        Ok(Ok(message)) => message.and_then(|message| message.kind),
    };
    match kind {
        Some(Kind::Hello(hello)) if hello.protocol_version != PROTOCOL_VERSION => {
            Err(Refusal::Never(format!(
                "protocol version {} of agent \"{}\" (pgsurge {}) does not match the coordinator's version \
                 {PROTOCOL_VERSION} (pgsurge {}), install the same pgsurge on both",
                hello.protocol_version,
                hello.name,
                hello.software_version,
                env!("CARGO_PKG_VERSION"),
            )))
        }
        Some(Kind::Hello(hello)) => {
            Hello::try_from(hello).map_err(|e: WireError| Refusal::Never(format!("bad hello: {e}")))
        }
        _ => Err(Refusal::Never("the first message is no hello".into())),
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
