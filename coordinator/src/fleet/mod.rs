//! The coordinator's side of the fleet protocol: who is there, and one handle for each of them.
//!
//! Three ways lead in, a TCP port, the same with TLS, and a pipe inside the process, and all three meet in
//! one stream of connections that one gRPC server serves. Nothing here knows what a run is made of:
//! [`crate::run`] drives the handles.

mod clock;
mod complaints;
mod handle;
mod hub;
mod io;
mod listen;
mod logs;
mod peer;
mod registry;
mod strangers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use pgsurge_common::wording::counted;
use pgsurge_proto::tls::{Identity, IdentityError};
use thiserror::Error;
use tokio::io::DuplexStream;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_stream::wrappers::ReceiverStream;

pub use clock::{ClockReading, ClockSummary};
pub use handle::AgentHandle;
pub use logs::LogDelivery;
pub use registry::{AgentFacts, FleetEvent, Sign};

use hub::{Door, Hub};
use io::{Carrier, Connection};
use listen::{Accepted, Port};
use peer::Peer;
use registry::Agent;

/// Time that agents get to acknowledge that they are released, and the server to close.
const RELEASED_WITHIN: Duration = Duration::from_secs(3);
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

/// What agents are told at admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetOptions {
    /// An agent that does not hear from its coordinator for so long ends its load.
    pub lease: Duration,
    /// How often both sides say that they are there.
    pub heartbeat: Duration,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self { lease: Duration::from_secs(10), heartbeat: Duration::from_secs(1) }
    }
}

/// Where to listen, and how protected.
#[derive(Clone, Debug)]
pub struct Listen {
    /// Port 0 takes any free one.
    pub address: SocketAddr,
    /// Mutual TLS.
    pub tls: Option<Identity>,
    /// Plaintext beyond loopback is wanted.
    pub insecure: bool,
}

/// Why there is no port.
#[derive(Debug, Error)]
pub enum ListenError {
    /// The plan carries credentials.
    #[error(
        "listening on {0} without TLS would show the target's credentials to the network, give --tls-ca, \
         --tls-cert and --tls-key, or --insecure to do it anyway"
    )]
    Insecure(SocketAddr),
    /// Certificate, key or authority are of no use.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The operating system refuses.
    #[error("cannot listen on {address}: {error}")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// Its reason.
        error: std::io::Error,
    },
}

/// Not all agents came.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{} of {} attached within {} s{}{}", there.len(), counted(*wanted as u64, "agent"), waited.as_secs_f64(), list(": ", there), list("; turned away: ", refused))]
pub struct TooFew {
    /// How many were asked for.
    pub wanted: usize,
    /// Names of those that came.
    pub there: Vec<String>,
    /// What was turned away lately, which may be why.
    pub refused: Vec<String>,
    /// How long they had.
    pub waited: Duration,
}

fn list(head: &str, items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("{head}{}", items.join(", ")) }
}

/// A running fleet server.
#[derive(Debug)]
pub struct Fleet {
    hub: Arc<Hub>,
    address: Option<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Fleet {
    /// Opens the port.
    ///
    /// # Errors
    /// It cannot be had, or not without danger.
    pub async fn listen(listen: Listen, options: FleetOptions) -> Result<Self, ListenError> {
        let Listen { address, tls, insecure } = listen;
        let tls = match tls {
            Some(identity) => Some(Arc::new(identity.server()?)),
            None if address.ip().is_loopback() => None,
            None if insecure => {
                tracing::warn!(%address, "the fleet port is open without TLS, whoever can read the \
                    network sees the target's credentials");
                None
            }
            None => return Err(ListenError::Insecure(address)),
        };
        let bind = |error| ListenError::Bind { address, error };
        let listener = TcpListener::bind(address).await.map_err(bind)?;
        let bound = listener.local_addr().map_err(bind)?;
        let (mut fleet, accepted) = Self::start(options);
        fleet.address = Some(bound);
        let port = Port { listener, tls, hub: Arc::clone(&fleet.hub) };
        fleet.tasks.push(tokio::spawn(port.accept(accepted)));
        Ok(fleet)
    }

    /// A fleet without a port: an agent inside this process sends its end of a pipe instead of dialling.
    #[must_use]
    pub fn in_process(options: FleetOptions) -> (Self, mpsc::Sender<DuplexStream>) {
        let (mut fleet, accepted) = Self::start(options);
        let (pipes, mut dialled) = mpsc::channel(4);
        let hub = Arc::clone(&fleet.hub);
        fleet.tasks.push(tokio::spawn(async move {
            while let Some(pipe) = dialled.recv().await {
                let within = Duration::from_secs(60);
                let peer = Peer::new(None, None, Arc::clone(&hub.complaints));
                let connection = Connection::new(Carrier::Memory(pipe), peer, within, None);
                if accepted.send(Ok(connection)).await.is_err() {
                    return;
                }
            }
        }));
        (fleet, pipes)
    }

    fn start(options: FleetOptions) -> (Self, Accepted) {
        let hub = Arc::new(Hub::new(options));
        let (accepted, incoming) = mpsc::channel(64);
        let (stop, stopped) = oneshot::channel();
        let door = Arc::new(Door(Arc::clone(&hub)));
        let serve = async move {
            let stopped = async move { drop(stopped.await) };
            let incoming = ReceiverStream::new(incoming);
            if let Err(error) = pgsurge_proto::server::serve(door, incoming, stopped).await {
                tracing::error!("{error}");
            }
        };
        let tasks = vec![tokio::spawn(serve), tokio::spawn(Arc::clone(&hub).keep_alive())];
        (Self { hub, address: None, stop: Some(stop), tasks }, accepted)
    }

    /// Where the port is; absent inside the process.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Waits for so many agents that are free and whose clocks are known, in the order of admission.
    /// Dropping the future gives up without consequences.
    ///
    /// # Errors
    /// They did not come in time.
    pub async fn gather(&self, wanted: usize, wait: Duration) -> Result<Vec<AgentHandle>, TooFew> {
        let deadline = Instant::now() + wait;
        loop {
            let changed = self.hub.changed.notified();
            tokio::pin!(changed);
            // Registered before looking, so that no change falls in between.
            changed.as_mut().enable();
            // Counted first: each message of each agent may bring one here.
            if self.hub.lock().agents.values().filter(|agent| agent.is_free()).count() >= wanted {
                let mut there = self.free();
                there.truncate(wanted);
                return Ok(there);
            }
            if timeout_at(deadline, changed).await.is_err() {
                let there = self.free();
                let there = there.iter().map(|agent| agent.facts().name.clone()).collect();
                let refused = self.hub.complaints.recent();
                return Err(TooFew { wanted, there, refused, waited: wait });
            }
        }
    }

    /// All agents that could take part in a run.
    #[must_use]
    pub fn free(&self) -> Vec<AgentHandle> {
        handle::free(&self.hub)
    }

    /// Lets released agents go and closes the port. Bounded, whatever agents do.
    pub async fn shutdown(mut self) {
        let _ = timeout(RELEASED_WITHIN, self.released()).await;
        self.hub.close();
        drop(self.stop.take());
        if let Some(server) = self.tasks.first_mut() {
            let _ = timeout(CLOSED_WITHIN, server).await;
        }
    }

    async fn released(&self) {
        loop {
            let changed = self.hub.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            // Also those that are coming back: they are to hear it, too.
            let released = |agent: &Agent| agent.run.as_ref().is_some_and(|run| run.released);
            if !self.hub.lock().agents.values().any(released) {
                return;
            }
            changed.await;
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.hub.close();
        for task in &self.tasks {
            task.abort();
        }
    }
}
