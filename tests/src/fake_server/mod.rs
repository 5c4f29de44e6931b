//! A fake PostgreSQL server that answers at a known speed: it proves latency figures against a known
//! truth and shows a client's own ceiling. Trust authentication, no TLS; simple and extended
//! protocol with prepared statements and pipelines.
//!
//! Knows nothing of pgsurge. Invariant: what it reports about itself is measured by its own clock,
//! not taken from what it was asked to do. Its service times are as coarse as tokio's timer (1 ms),
//! so compare with [`Connection::service_us`], or choose times that are long.

mod answer;
mod codec;
mod disguise;
mod record;
mod session;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

pub use answer::{Reply, Rows, Rule, Value};
pub use record::{Connection, Counts, Keep};
use record::{Ledger, lock};

/// One transaction that is to be answered.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Number of the connection, in the order of opening.
    pub connection: u32,
    /// Number of the transaction on it, from 0.
    pub transaction: u64,
    /// Address of the client.
    pub peer: SocketAddr,
    /// The statement at which the transaction ends.
    pub sql: &'a str,
}

/// How long a transaction takes on the server.
pub type Service = dyn Fn(&Request<'_>) -> Duration + Send + Sync;

/// How the server behaves.
pub struct Behaviour {
    /// Time from the arrival of the statement that ends a transaction to its answer.
    pub service: Box<Service>,
    /// Answers to statements about the server; they take no time and count as no transaction. The first
    /// that applies counts. By default those that make it pass for PostgreSQL.
    pub rules: Vec<Rule>,
    /// Further sessions are refused as PostgreSQL does (53300).
    pub max_connections: Option<u32>,
    /// What is kept of each connection.
    pub keep: Keep,
    /// What it says it is.
    pub version: String,
    /// Threads that serve.
    pub threads: usize,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            service: Box::new(|_| Duration::ZERO),
            rules: disguise::rules(),
            max_connections: None,
            keep: Keep::default(),
            version: "18.0".to_owned(),
            threads: 1,
        }
    }
}

impl Behaviour {
    /// Every transaction takes the same time.
    #[must_use]
    pub fn fixed(service: Duration) -> Self {
        Self::timed(move |_| service)
    }

    /// The time of each transaction is a function of what it is.
    #[must_use]
    pub fn timed(service: impl Fn(&Request<'_>) -> Duration + Send + Sync + 'static) -> Self {
        Self { service: Box::new(service), ..Self::default() }
    }
}

/// A running fake server; it ends with its handle.
#[derive(Debug)]
pub struct FakeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What all sessions share.
struct Shared {
    behaviour: Behaviour,
    stalled: watch::Sender<bool>,
    ledger: Ledger,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("ledger", &self.ledger).finish_non_exhaustive()
    }
}

impl FakeServer {
    /// Starts on a free port of 127.0.0.1.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        Self::on(listener, behaviour)
    }

    /// Serves on a listener that is there already, for example one inside a host of its own.
    ///
    /// # Panics
    /// If the listener is unusable.
    #[must_use]
    pub fn on(listener: TcpListener, behaviour: Behaviour) -> Self {
        listener.set_nonblocking(true).expect("a listener can be made non-blocking");
        let address = listener.local_addr().expect("a listener has an address");
        let threads = behaviour.threads.max(1);
        let shared = Arc::new(Shared {
            behaviour,
            stalled: watch::Sender::new(false),
            ledger: Ledger::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(threads)
                .enable_all()
                .build()
                .expect("a runtime starts");
            let serve = async move {
                let listener =
                    tokio::net::TcpListener::from_std(listener).expect("the listener is valid");
                tokio::select! {
                    () = session::accept(listener, serving) => {}
                    _ = stopped => {}
                }
            };
            runtime
                .block_on(async { tokio::spawn(serve).await })
                .expect("the server does not panic");
            runtime.shutdown_timeout(Duration::from_secs(1));
        });
        Self { address, shared, stop: Some(stop), thread: Some(thread) }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port on which it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// URI of its one database.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("postgresql://postgres@{}/postgres", self.address)
    }

    /// No statement is answered until [`FakeServer::resume`].
    pub fn stall(&self) {
        self.shared.stalled.send_replace(true);
    }

    /// Ends a stall.
    pub fn resume(&self) {
        self.shared.stalled.send_replace(false);
    }

    /// The next `count` statements of transactions fail with this error.
    ///
    /// # Panics
    /// Never: the lock is not held by code that can panic.
    pub fn fail_next(&self, count: u64, sqlstate: &str, message: &str) {
        *lock(&self.shared.ledger.failure) = Some((sqlstate.to_owned(), message.to_owned()));
        self.shared.ledger.failures_due.store(count, Ordering::Release);
    }

    /// What has happened so far, over all connections.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.ledger.counts()
    }

    /// Every connection so far, in the order of opening.
    #[must_use]
    pub fn connections(&self) -> Vec<Connection> {
        self.shared.ledger.connections()
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
