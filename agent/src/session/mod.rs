//! An agent's life: dial, attach, serve one run after another.
//!
//! Knows the fleet protocol and no PostgreSQL: load is an [`Engine`]. Load never waits for the
//! coordinator: what could not be sent is kept, and a connection that comes back within the lease goes on
//! where it broke, with nothing lost and nothing sent twice. When the lease is over, load ends (I4).

mod backoff;
mod deliver;
mod dial;
mod engine;
mod host;
mod life;
mod link;
mod part;
mod run;
mod talk;
mod witness;

use std::time::Duration;

use pgsurge_proto::tls::{Identity, IdentityError};
use thiserror::Error;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use dial::DialError;
pub use engine::{Engine, LoadEngine, RunningLoad};
pub use host::{host_name, raise_file_limit};

/// Where the coordinator is, and how it is spoken to.
#[derive(Clone, Debug)]
pub enum Coordinator {
    /// On the network.
    Tcp {
        /// `HOST:PORT`; a port that is left out is 7432.
        address: String,
        /// Mutual TLS.
        tls: Option<Identity>,
        /// Plaintext beyond loopback is wanted.
        insecure: bool,
    },
    /// In this process: an end of a pipe is sent to it instead of dialling.
    Pipe(mpsc::Sender<DuplexStream>),
}

/// How an agent behaves.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// Where to dial.
    pub coordinator: Coordinator,
    /// Its name in reports.
    pub name: String,
    /// Leave after the first run.
    pub once: bool,
    /// Leave when no coordinator was found for so long; for ever if absent.
    pub give_up_after: Option<Duration>,
}

/// What the process was asked to do; both tokens stay cancelled once they are.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Finish what is in flight, report it, then leave.
    pub drain: CancellationToken,
    /// Leave at once.
    pub abort: CancellationToken,
}

/// Why an agent left in good order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentExit {
    /// It has served its one run.
    ServedOnce,
    /// It was asked to, and what was in flight is reported.
    Drained,
    /// It was asked to leave at once.
    Aborted,
}

/// Why an agent cannot go on.
#[derive(Debug, Error)]
pub enum AgentError {
    /// Certificate, key or authority are of no use.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// No coordinator takes or will take this agent as it is.
    #[error(transparent)]
    Dial(DialError),
    /// No coordinator was found in time.
    #[error("no coordinator at {address} for {} s, giving up: {last}", after.as_secs())]
    GaveUp {
        /// Where it was looked for.
        address: String,
        /// How long.
        after: Duration,
        /// What the last attempt met.
        last: String,
    },
}

/// Serves coordinators until there is a reason to leave. No load is left when it returns.
///
/// # Errors
/// The agent can never succeed as it is, or has found no coordinator in time.
pub async fn serve<E: Engine>(
    options: AgentOptions,
    engine: E,
    shutdown: Shutdown,
) -> Result<AgentExit, AgentError> {
    let dialler = dial::Dialler::new(&options.coordinator)?;
    life::Life::new(options, engine, dialler).live(shutdown).await
}
