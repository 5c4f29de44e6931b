//! An accepted connection, whatever carries it, that must prove itself an agent's in time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pgsurge_proto::server::Connected;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::server::TlsStream;

use super::peer::Peer;

/// What carries the bytes.
#[derive(Debug)]
pub(super) enum Carrier {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Memory(DuplexStream),
}

type Admission = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A connection that waits for its admission, with its place among all connections.
pub(super) struct Connection {
    carrier: Carrier,
    peer: Peer,
    /// Gone once an agent was admitted.
    admission: Option<Admission>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Connection {
    pub fn new(
        carrier: Carrier,
        peer: Peer,
        within: Duration,
        place: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let admission: Admission = Box::pin(peer.clone().admission(within));
        Self { carrier, peer, admission: Some(admission), _place: place }
    }

    /// Whether it may go on. Looked at whatever is done with the connection, for one whose other side does not
    /// read may never be read itself.
    fn check_admission(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.admission.as_mut().map(|admission| admission.as_mut().poll(cx)) {
            Some(Poll::Ready(admitted)) => {
                self.admission = None;
                admitted
            }
            Some(Poll::Pending) | None => Ok(()),
        }
    }

    fn carrier(self: Pin<&mut Self>) -> Pin<&mut dyn Duplex> {
        match &mut self.get_mut().carrier {
            Carrier::Tcp(stream) => Pin::new(stream),
            Carrier::Tls(stream) => Pin::new(stream.as_mut()),
            Carrier::Memory(stream) => Pin::new(stream),
        }
    }
}

trait Duplex: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Duplex for T {}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check_admission(cx)?;
        if self.peer.has_said_enough() {
            // Its admission, or the end of its time, wakes it.
            return Poll::Pending;
        }
        let before = buf.filled().len();
        let read = self.as_mut().carrier().poll_read(cx, buf);
        self.peer.count(buf.filled().len() - before)?;
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check_admission(cx)?;
        self.carrier().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check_admission(cx)?;
        self.carrier().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.carrier {
            Carrier::Tcp(stream) => stream.is_write_vectored(),
            Carrier::Tls(stream) => stream.is_write_vectored(),
            Carrier::Memory(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check_admission(cx)?;
        self.carrier().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.carrier().poll_shutdown(cx)
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}
