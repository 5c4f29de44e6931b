//! Watches a connection for the reason why it fails.
//!
//! With TLS 1.3 a coordinator says only after the handshake that it does not like the agent's certificate,
//! and one that demands TLS answers plaintext with a TLS alert. Both would surface as some error of HTTP/2;
//! the witness keeps what really happened.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use pgsurge_proto::tls::{Side, TlsFault, Validity, explain};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// First two bytes of a TLS alert record.
const TLS_ALERT: [u8; 2] = [0x15, 3];

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Testimony(Arc<Mutex<Option<TlsFault>>>);

impl Testimony {
    /// The fault of TLS that was seen, if one was.
    pub fn fault(&self) -> Option<TlsFault> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, fault: Option<TlsFault>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.is_none() {
            *seen = fault;
        }
    }
}

/// A connection with its witness.
#[derive(Debug)]
pub(super) struct Witnessed<S> {
    stream: S,
    /// TLS is spoken below, so bytes are what they seem; how one's own certificate looked then.
    tls: Option<Validity>,
    begun: bool,
    testimony: Testimony,
}

impl<S> Witnessed<S> {
    pub fn new(stream: S, tls: Option<Validity>, testimony: Testimony) -> Self {
        Self { stream, tls, begun: false, testimony }
    }

    fn look_at_first(&mut self, bytes: &[u8]) {
        if self.begun || bytes.is_empty() {
            return;
        }
        self.begun = true;
        if self.tls.is_none() && bytes.starts_with(&TLS_ALERT) {
            let text =
                "the coordinator demands TLS, give --tls-ca, --tls-cert and --tls-key".into();
            self.testimony.note(Some(TlsFault { text, for_good: true }));
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Witnessed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        match &polled {
            Poll::Ready(Ok(())) => self.look_at_first(&buf.filled()[before..]),
            Poll::Ready(Err(error)) => {
                let own = self.tls.unwrap_or(Validity::Good);
                self.testimony.note(explain(error, Side::Agent, own));
            }
            Poll::Pending => {}
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Witnessed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
