//! A faulty network: a TCP proxy that delays, stalls and cuts connections on command.
//!
//! Knows nothing of what flows through it. Bytes are never lost or reordered within a connection that
//! lives on, as TCP promises; a network that loses everything is a stall.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

/// What the network is like; it can change at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weather {
    /// Added to each direction.
    pub delay: Duration,
    /// Nothing gets through, but connections stay.
    pub stalled: bool,
    /// New connections are closed at once.
    pub closed: bool,
    /// Raised by [`Proxy::cut`]: connections of an earlier number end.
    generation: u64,
}

/// A running proxy; it and its connections end with its handle.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    weather: Arc<watch::Sender<Weather>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts on a free port of 127.0.0.1, in fair weather.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn start(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        listener.set_nonblocking(true).expect("a listener can be made non-blocking");
        let address = listener.local_addr().expect("a listener has an address");
        let weather = Arc::new(watch::Sender::new(Weather::default()));
        let seen = Arc::clone(&weather);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime starts");
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, upstream, &seen) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, weather, stop: Some(stop), thread: Some(thread) }
    }

    /// Where to connect to.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Adds a delay to each direction.
    pub fn delay(&self, delay: Duration) {
        self.weather.send_modify(|weather| weather.delay = delay);
    }

    /// Lets nothing through until told otherwise.
    pub fn stall(&self, stalled: bool) {
        self.weather.send_modify(|weather| weather.stalled = stalled);
    }

    /// Ends every connection; new ones are welcome.
    pub fn cut(&self) {
        self.weather.send_modify(|weather| weather.generation += 1);
    }

    /// Ends every connection and refuses new ones until told otherwise.
    pub fn close(&self, closed: bool) {
        self.weather.send_modify(|weather| {
            weather.closed = closed;
            weather.generation += u64::from(closed);
        });
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn accept(listener: TcpListener, upstream: SocketAddr, weather: &watch::Sender<Weather>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("the listener is valid");
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        let weather = weather.subscribe();
        if !weather.borrow().closed {
            tokio::spawn(connect(client, upstream, weather));
        }
    }
}

/// Carries one connection until either side ends it or it is cut.
async fn connect(client: TcpStream, upstream: SocketAddr, mut weather: watch::Receiver<Weather>) {
    let born = weather.borrow().generation;
    let Ok(server) = TcpStream::connect(upstream).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let ((from_client, to_client), (from_server, to_server)) =
        (client.into_split(), server.into_split());
    let there = carry(from_client, to_server, weather.clone());
    let back = carry(from_server, to_client, weather.clone());
    tokio::select! {
        _ = async { tokio::join!(there, back) } => {}
        _ = weather.wait_for(|weather| weather.generation != born) => {}
    }
}

/// Carries one direction; the end of the stream travels like the bytes before it.
async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut weather: watch::Receiver<Weather>,
) {
    // Bounded, so that a stalled network exerts back-pressure after some buffers, as a real one does.
    let (in_flight, mut arriving) = mpsc::channel::<(Instant, Vec<u8>)>(1024);
    let seen = weather.clone();
    let send = async move {
        let mut buffer = vec![0; 16 * 1024];
        while let Ok(length) = from.read(&mut buffer).await {
            let due = Instant::now() + seen.borrow().delay;
            let sent = in_flight.send((due, buffer[..length].to_vec())).await;
            if length == 0 || sent.is_err() {
                break;
            }
        }
    };
    let receive = async move {
        while let Some((due, bytes)) = arriving.recv().await {
            sleep_until(due).await;
            if weather.wait_for(|weather| !weather.stalled).await.is_err() {
                break;
            }
            if to.write_all(&bytes).await.is_err() {
                break;
            }
        }
        let _ = to.shutdown().await;
    };
    tokio::join!(send, receive);
}
