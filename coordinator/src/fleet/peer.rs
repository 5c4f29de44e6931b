//! What is known of the other end of a connection, and how much it may say before it must have said something.
//!
//! Bytes are counted from one message that was taken to the next, since what is not a whole message yet waits in
//! memory: a stranger may send a hello and little more, an agent without a run only what is small. Only an agent that
//! serves may send what an interval or totals take, which the protocol bounds by itself.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::complaints::Complaints;
use super::strangers::{NO_ROOM, Stranger};

/// So much is read of what is no message yet: of a stranger, whose hello has some hundred bytes and its headers no
/// more, and of an agent without a run, whose messages have some ten.
const QUIET_BYTES: usize = 64 << 10;

/// See the module. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    /// Absent inside the process.
    pub address: Option<SocketAddr>,
    standing: Arc<Standing>,
}

#[derive(Debug)]
struct Standing {
    complaints: Arc<Complaints>,
    stranger: Mutex<Option<Stranger>>,
    admitted: CancellationToken,
    serves: AtomicBool,
    /// Bytes since the last message.
    unheard: AtomicUsize,
}

impl Peer {
    /// A stranger; inside the process there are no others whose place it could take.
    pub fn new(
        address: Option<SocketAddr>,
        stranger: Option<Stranger>,
        complaints: Arc<Complaints>,
    ) -> Self {
        let standing = Standing {
            complaints,
            stranger: Mutex::new(stranger),
            admitted: CancellationToken::new(),
            serves: AtomicBool::new(false),
            unheard: AtomicUsize::new(0),
        };
        Self { address, standing: Arc::new(standing) }
    }

    /// The connection may stay.
    pub fn admit(&self) {
        self.heard();
        self.stranger().take();
        self.standing.admitted.cancel();
    }

    /// A run needs what it says.
    pub fn serve(&self) {
        self.standing.serves.store(true, Ordering::Relaxed);
    }

    /// A message of it was taken.
    pub fn heard(&self) {
        self.standing.unheard.store(0, Ordering::Relaxed);
    }

    /// Takes note of bytes.
    ///
    /// # Errors
    /// They are too many.
    pub fn count(&self, bytes: usize) -> io::Result<()> {
        let unheard = self.standing.unheard.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let idles = self.is_admitted() && !self.standing.serves.load(Ordering::Relaxed);
        if idles && unheard > QUIET_BYTES {
            let why = "it sent more than a message takes, and serves no run";
            return Err(self.turned_away(why));
        }
        Ok(())
    }

    /// A stranger has said enough.
    pub fn has_said_enough(&self) -> bool {
        !self.is_admitted() && self.standing.unheard.load(Ordering::Relaxed) >= QUIET_BYTES
    }

    fn is_admitted(&self) -> bool {
        self.standing.admitted.is_cancelled()
    }

    fn stranger(&self) -> std::sync::MutexGuard<'_, Option<Stranger>> {
        self.standing.stranger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is admitted, within bounds.
    ///
    /// # Errors
    /// It was not, or has to make room before.
    pub async fn admission(self, within: Duration) -> io::Result<()> {
        let out = self.stranger().as_ref().map(Stranger::out).unwrap_or_default();
        let why = tokio::select! {
            biased;
            () = self.standing.admitted.cancelled() => return Ok(()),
            () = out.cancelled() => NO_ROOM,
            () = tokio::time::sleep(within) => "no agent was admitted in time",
        };
        Err(self.turned_away(why))
    }

    fn turned_away(&self, why: &'static str) -> io::Error {
        self.standing.complaints.add(&format!("the connection from {self}"), why);
        io::Error::new(io::ErrorKind::ConnectionAborted, why)
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
