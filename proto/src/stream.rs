//! Receiving: a stream of wire messages as a stream of checked ones.

use std::error::Error;
use std::fmt;
use std::pin::Pin;

use thiserror::Error;
use tokio_stream::{Stream, StreamExt};
use tonic::{Code, Status, Streaming};

use crate::WireError;

/// Why no further message comes.
#[derive(Debug, Error)]
pub enum ReceiveError {
    /// The connection broke or the peer closed it with an error.
    #[error("{0}")]
    Connection(String),
    /// The peer sent bytes that are no message, or more than one may have.
    #[error("the peer sent no message: {0}")]
    Garbled(String),
    /// The peer sent something that is no message of this protocol.
    #[error("the peer sent a bad message: {0}")]
    Message(#[from] WireError),
}

/// Checked messages of the peer.
pub struct Incoming<M>(Pin<Box<dyn Stream<Item = Result<M, ReceiveError>> + Send + Sync>>);

impl<M> Incoming<M> {
    pub(crate) fn new<W>(stream: Streaming<W>) -> Self
    where
        W: Send + 'static,
        M: TryFrom<W, Error = WireError> + 'static,
    {
        Self(Box::pin(stream.map(|item| match item {
            Ok(message) => Ok(M::try_from(message)?),
            Err(status) if is_garbled(&status) => Err(ReceiveError::Garbled(explain(&status))),
            Err(status) => Err(ReceiveError::Connection(explain(&status))),
        })))
    }

    /// The next message; `None` after the peer has closed its side in good order. Safe to drop and call
    /// again: no message is lost between two calls.
    ///
    /// # Errors
    /// The connection is gone or the message is bad; the stream is of no use after either.
    pub async fn next(&mut self) -> Result<Option<M>, ReceiveError> {
        self.0.next().await.transpose()
    }
}

impl<M> fmt::Debug for Incoming<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming").finish_non_exhaustive()
    }
}

/// It is the decoder's: what a connection has to say has a source.
fn is_garbled(status: &Status) -> bool {
    matches!(status.code(), Code::Internal | Code::OutOfRange) && status.source().is_none()
}

/// A status' own words, or the deepest cause where it has none of its own.
pub(crate) fn explain(status: &Status) -> String {
    let mut deepest: Option<&dyn Error> = status.source();
    while let Some(next) = deepest.and_then(Error::source) {
        deepest = Some(next);
    }
    match deepest.map(ToString::to_string) {
        // HTTP/2's own words for a connection that its peer closed in good order.
        Some(cause) if cause.ends_with("not a result of an error") => {
            "the other side has closed the connection".to_owned()
        }
        Some(cause) => cause,
        None if status.message().is_empty() => status.code().description().to_owned(),
        None => status.message().to_owned(),
    }
}
