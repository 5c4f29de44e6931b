//! Cancelling the statement that a session is executing.
//!
//! A `CancelRequest` travels over a connection of its own, to the very address that the session is
//! connected to. Closing a session's socket alone does not stop a backend.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::connector::Connector;
use super::error::ConnectError;
use super::places::Place;

/// Bound on cancelling where the target sets no `connect_timeout`.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What cancels the running statement of one session.
#[derive(Clone, Debug)]
pub struct CancelToken {
    pub(super) connector: Connector,
    pub(super) place: Place,
    pub(super) encrypted: bool,
    pub(super) process: i32,
    pub(super) secret: i32,
}

impl CancelToken {
    /// Asks the server to cancel; returns when the server has taken note. Whether a statement was
    /// running, and which, only the session itself learns.
    pub async fn cancel(&self) -> Result<(), ConnectError> {
        let bound = self.connector.target().connect_timeout.unwrap_or(TIMEOUT);
        let result = tokio::time::timeout(bound, self.request()).await;
        result
            .unwrap_or_else(|_| Err(ConnectError::new("timeout", "timeout expired")))
            .map_err(|error| error.at(&self.place.describe()))
    }

    async fn request(&self) -> Result<(), ConnectError> {
        let mut stream = self.connector.open_again(&self.place, self.encrypted).await?;
        let mut message = bytes::BytesMut::new();
        postgres_protocol::message::frontend::cancel_request(
            self.process,
            self.secret,
            &mut message,
        );
        stream.write_all(&message).await?;
        stream.flush().await?;
        // The server answers nothing and closes once the signal is sent; how it closes does not matter.
        let _ = stream.read(&mut [0; 1]).await;
        Ok(())
    }
}
