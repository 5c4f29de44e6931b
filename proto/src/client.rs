//! The agent's end of the stream, over whatever connection its connector makes.

use std::error::Error;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use crate::message::{AgentMessage, CoordinatorMessage, LogPart, LogReceipt, LogSender};
use crate::wire::fleet_client::FleetClient;
use crate::{Incoming, MAX_MESSAGE_BYTES};

/// See the server's figures; an agent that was silent for less than its coordinator's patience is kept.
const KEEPALIVE_EVERY: Duration = Duration::from_secs(5);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);
const WINDOW_BYTES: u32 = 1 << 20;

/// Why an agent is not attached.
#[derive(Debug, Error)]
pub enum AttachError {
    /// The coordinator will never take this agent as it is.
    #[error("{0}")]
    RefusedForGood(String),
    /// The coordinator does not take it at the moment.
    #[error("{0}")]
    Refused(String),
    /// There is no connection, or it broke.
    #[error("{0}")]
    Connection(String),
}

/// The settings of the connection; its address only fills the HTTP/2 headers, dialling is the
/// connector's own work.
#[must_use]
pub fn endpoint() -> Endpoint {
    Endpoint::from_static("http://pgsurge.coordinator")
        .http2_keep_alive_interval(KEEPALIVE_EVERY)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
}

/// Opens the stream. The hello must be the first message in `outgoing` already; the stream ends when the
/// channel's sender is dropped.
///
/// # Errors
/// The coordinator refuses, or the connection fails.
pub async fn attach(
    channel: Channel,
    outgoing: mpsc::Receiver<AgentMessage>,
) -> Result<Incoming<CoordinatorMessage>, AttachError> {
    let mut client = FleetClient::new(channel)
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let messages = ReceiverStream::new(outgoing).map(Into::into);
    match client.attach(messages).await {
        Ok(response) => Ok(Incoming::new(response.into_inner())),
        Err(status) => Err(status.into()),
    }
}

/// Delivers the logs of a run, over a channel that nothing else uses; all parts have arrived and are kept when
/// it succeeds.
///
/// # Errors
/// The coordinator does not want them, cannot keep them, or the connection fails.
pub async fn deliver(
    channel: Channel,
    sender: LogSender,
    parts: mpsc::Receiver<LogPart>,
) -> Result<LogReceipt, AttachError> {
    let first = tokio_stream::once(sender.into());
    let parts = first.chain(ReceiverStream::new(parts).map(Into::into));
    match FleetClient::new(channel).deliver(parts).await {
        Ok(receipt) => Ok(receipt.into_inner().into()),
        Err(status) => Err(status.into()),
    }
}

impl From<Status> for AttachError {
    fn from(status: Status) -> Self {
        let why = crate::stream::explain(&status);
        match status.code() {
            // Another service than the fleet answers `unimplemented`.
            Code::FailedPrecondition | Code::Unimplemented => Self::RefusedForGood(why),
            Code::Unavailable if status.source().is_none() => Self::Refused(why),
            _ => Self::Connection(why),
        }
    }
}
