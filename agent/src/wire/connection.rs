//! One open session: messages are queued, flushed in one write, and answers taken one by one.
//!
//! Knows nothing of what the messages are for. Nothing here allocates once the two buffers have reached
//! the size of a round trip; the session never waits for anything but its socket.

use std::future::poll_fn;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use super::backend::{Message, TransactionStatus};
use super::cancel::CancelToken;
use super::error::WireError;
use super::frontend;
use super::inbox::Inbox;
use super::stream::Stream;

/// An output buffer that has grown beyond this gives its memory back once it is sent.
const KEEP: usize = 16 * 1024;

/// A session with a server.
///
/// A message queued by [`query`](Self::query), [`parse`](Self::parse) and so on leaves with the next
/// [`flush`](Self::flush). After a [`WireError`] the session is of no further use.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    out: Vec<u8>,
    sent: usize,
    inbox: Inbox,
    /// A failed write, told only when nothing more can be read: the server's last words explain it better.
    broken: Option<WireError>,
    about: Box<About>,
}

/// What the server said about itself and this session.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    pub(super) cancel: Option<CancelToken>,
    pub(super) process: i32,
    pub(super) secret: i32,
    pub(super) server_version: String,
    pub(super) in_hot_standby: Option<bool>,
    pub(super) default_read_only: Option<bool>,
}

impl Connection {
    pub(super) fn new(stream: Stream) -> Self {
        Self {
            stream,
            out: Vec::new(),
            sent: 0,
            inbox: Inbox::default(),
            broken: None,
            about: Box::default(),
        }
    }

    pub(super) fn about(&mut self) -> &mut About {
        &mut self.about
    }

    /// The process id in the server's backend key: on a direct connection that of the backend
    /// (`pg_backend_pid()`), through a pooler a made-up one.
    #[must_use]
    pub fn backend_pid(&self) -> i32 {
        self.about.process
    }

    /// `server_version` as the server reports it, for example `15.18 (Debian 15.18-0+deb12u1)`.
    #[must_use]
    pub fn server_version(&self) -> &str {
        &self.about.server_version
    }

    /// Whether the session is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        matches!(self.stream, Stream::Tls(_))
    }

    /// What cancels the statement that this session is executing. `None` if the server gave no key.
    #[must_use]
    pub fn cancel_token(&self) -> Option<CancelToken> {
        self.about.cancel.clone()
    }

    /// The output buffer, for messages written by [`frontend`]'s functions.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Queues a Query.
    pub fn query(&mut self, sql: &[u8]) -> Result<(), WireError> {
        frontend::query(&mut self.out, sql)
    }

    /// Queues a Query whose text `write` appends straight to the output buffer.
    pub fn query_with<E: From<WireError>>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        frontend::query_with(&mut self.out, write)
    }

    /// Queues a Parse; the empty name is the unnamed statement.
    pub fn parse(&mut self, name: &[u8], sql: &[u8]) -> Result<(), WireError> {
        frontend::parse(&mut self.out, name, sql)
    }

    /// Queues a Bind of text parameters, each appended by `write(index, out)`, which returns `false` for
    /// NULL.
    pub fn bind_with<E: From<WireError>>(
        &mut self,
        statement: &[u8],
        parameters: usize,
        write: impl FnMut(usize, &mut Vec<u8>) -> Result<bool, E>,
    ) -> Result<(), E> {
        frontend::bind_with(&mut self.out, statement, parameters, write)
    }

    /// Queues a Bind of text parameters at hand.
    pub fn bind<'a>(
        &mut self,
        statement: &[u8],
        parameters: impl ExactSizeIterator<Item = Option<&'a [u8]>>,
    ) -> Result<(), WireError> {
        frontend::bind(&mut self.out, statement, parameters)
    }

    /// Queues a Describe of the portal.
    pub fn describe_portal(&mut self) {
        frontend::describe_portal(&mut self.out);
    }

    /// Queues an Execute.
    pub fn execute(&mut self) {
        frontend::execute(&mut self.out);
    }

    /// Queues a Sync.
    pub fn sync(&mut self) {
        frontend::sync(&mut self.out);
    }

    /// Queues the refusal of a COPY FROM STDIN.
    pub fn copy_fail(&mut self, reason: &[u8]) -> Result<(), WireError> {
        frontend::copy_fail(&mut self.out, reason)
    }

    /// Sends what is queued with one write where the socket takes it.
    ///
    /// While the socket takes no more, answers are read meanwhile, since the server may itself be waiting
    /// for us to read. A write that fails is reported by the next read that finds nothing more.
    pub async fn flush(&mut self) -> Result<(), WireError> {
        poll_fn(|cx| self.poll_flush(cx)).await
    }

    /// The poll form of [`flush`](Self::flush).
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), WireError>> {
        if self.broken.is_none()
            && let Err(error) = ready!(self.poll_write_all(cx))
        {
            self.broken = Some(error);
        }
        self.out.clear();
        self.sent = 0;
        if self.out.capacity() > KEEP {
            self.out.shrink_to(KEEP);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_all(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), WireError>> {
        while self.sent < self.out.len() {
            match Pin::new(&mut self.stream).poll_write(cx, &self.out[self.sent..]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(WireError::Closed)),
                Poll::Ready(Ok(written)) => self.sent += written,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error.into())),
                Poll::Pending => {
                    // An end of file here is found again by the read that reports it.
                    while matches!(self.inbox.poll_fill(&mut self.stream, cx), Poll::Ready(Ok(1..)))
                    {
                    }
                    return Poll::Pending;
                }
            }
        }
        Pin::new(&mut self.stream).poll_flush(cx).map_err(WireError::from)
    }

    /// The next message; waits for it if need be. Settings that the server reports and NOTIFY are taken
    /// in here and not handed out.
    pub async fn next_message(&mut self) -> Result<Message<'_>, WireError> {
        let frame = poll_fn(|cx| self.poll_frame(cx)).await?;
        Message::decode(self.inbox.frame(frame))
    }

    /// The poll form of [`next_message`](Self::next_message).
    pub fn poll_next_message(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Message<'_>, WireError>> {
        let frame = ready!(self.poll_frame(cx))?;
        Poll::Ready(Message::decode(self.inbox.frame(frame)))
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Result<Range<usize>, WireError>> {
        loop {
            while let Some(range) = self.inbox.take()? {
                match self.inbox.frame(range.clone())[0] {
                    b'S' => self.note_setting(range)?,
                    b'A' => {}
                    _ => return Poll::Ready(Ok(range)),
                }
            }
            match ready!(self.inbox.poll_fill(&mut self.stream, cx)) {
                Ok(0) => {
                    return Poll::Ready(Err(self.broken.take().unwrap_or(WireError::Closed)));
                }
                Ok(_) => {}
                Err(error) => {
                    let error = self.broken.take().unwrap_or_else(|| error.into());
                    return Poll::Ready(Err(error));
                }
            }
        }
    }

    /// Keeps those of the server's settings that this room uses.
    fn note_setting(&mut self, range: Range<usize>) -> Result<(), WireError> {
        if let Message::ParameterStatus { name, value } = Message::decode(self.inbox.frame(range))?
        {
            match name {
                b"server_version" => {
                    self.about.server_version = String::from_utf8_lossy(value).into_owned();
                }
                b"in_hot_standby" => self.about.in_hot_standby = Some(value == b"on"),
                b"default_transaction_read_only" => {
                    self.about.default_read_only = Some(value == b"on");
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads to the end of a round trip and gives the transaction status; errors of the server are
    /// passed over. For set-up and clean-up, not for measured work.
    pub async fn skip_to_ready(&mut self) -> Result<TransactionStatus, WireError> {
        loop {
            if let Message::ReadyForQuery(status) = self.next_message().await? {
                return Ok(status);
            }
        }
    }

    /// Says good-bye and closes, as far as the socket takes it at once: a server that reads no more must
    /// not hold anybody up. How it takes the end is not waited for. What is still to be written goes first,
    /// as with libpq.
    pub async fn close(mut self) {
        frontend::terminate(&mut self.out);
        poll_fn(|cx| {
            // Whether the server still listens does not matter: the session ends either way.
            let _ = self.poll_write_all(cx);
            if let Stream::Tls(_) = self.stream {
                let _ = Pin::new(&mut self.stream).poll_shutdown(cx);
            }
            Poll::Ready(())
        })
        .await;
    }
}
