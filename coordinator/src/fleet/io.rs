//! An accepted connection, whatever carries it, that must prove itself an agent's in time.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use pgsurge_proto::server::Connected;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;

/// What carries the bytes.
#[derive(Debug)]
pub(super) enum Carrier {
    Tcp(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
    Memory(DuplexStream),
}

/// What is known of a connection, and whether an agent was admitted over it.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// Absent inside the process.
    pub address: Option<SocketAddr>,
    admitted: Arc<AtomicBool>,
}

impl Peer {
    pub fn new(address: Option<SocketAddr>) -> Self {
        Self { address, admitted: Arc::default() }
    }

    /// The connection may stay.
    pub fn admit(&self) {
        self.admitted.store(true, Ordering::Relaxed);
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            Some(address) => address.fmt(f),
            None => f.write_str("this process"),
        }
    }
}

/// A connection with its deadline for admission and its place among all connections.
#[derive(Debug)]
pub(super) struct Connection {
    carrier: Carrier,
    peer: Peer,
    /// Gone once an agent was admitted.
    deadline: Option<Pin<Box<Sleep>>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Connection {
    pub fn new(
        carrier: Carrier,
        peer: Peer,
        within: Duration,
        place: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let deadline = Some(Box::pin(tokio::time::sleep(within)));
        Self { carrier, peer, deadline, _place: place }
    }

    fn check_deadline(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.peer.admitted.load(Ordering::Relaxed) {
            self.deadline = None;
        }
        match self.deadline.as_mut().map(|deadline| deadline.as_mut().poll(cx)) {
            Some(Poll::Ready(())) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "no agent was admitted in time"))
            }
            _ => Ok(()),
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
        self.check_deadline(cx)?;
        self.carrier().poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.carrier().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.carrier().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.carrier {
            Carrier::Tcp(stream) => stream.is_write_vectored(),
            Carrier::Tls(stream) => stream.is_write_vectored(),
            Carrier::Memory(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
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
