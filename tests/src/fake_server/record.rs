//! What the fake server counts about itself and keeps of each connection.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// What is kept of each connection beyond counts; both grow with the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// The text of every statement that is part of a transaction.
    pub statements: bool,
    /// The time that every transaction took.
    pub times: bool,
    /// Every message of the session, as its bytes.
    pub frames: bool,
}

/// Sums over all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sessions opened, also those that have ended since.
    pub sessions: u64,
    /// Sessions that are open.
    pub open: u64,
    /// Sessions refused.
    pub refused: u64,
    /// Transactions that ended well.
    pub committed: u64,
    /// Transactions that did not.
    pub rolled_back: u64,
    /// Statements that are part of transactions.
    pub statements: u64,
    /// Cancel requests for a session that is known.
    pub cancels: u64,
}

/// One connection as it was.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Where it came from.
    pub peer: SocketAddr,
    /// Parameters of its startup message.
    pub parameters: Vec<(String, String)>,
    /// When its session was opened.
    pub opened: Instant,
    /// When it ended, if it has.
    pub closed: Option<Instant>,
    /// When its first statement of a transaction arrived.
    pub first_statement: Option<Instant>,
    /// Transactions that ended well.
    pub committed: u64,
    /// The statements, if they are kept.
    pub statements: Vec<String>,
    /// Time of each transaction from the arrival of its first statement to the moment before its
    /// answer was sent, in microseconds, if times are kept.
    pub service_us: Vec<u64>,
    /// The messages of the session, if they are kept: tag, length and body.
    pub frames: Vec<Vec<u8>>,
}

/// A connection while it is open.
#[derive(Debug)]
pub struct Live {
    pub connection: Mutex<Connection>,
    pub cancel: Notify,
    pub key: i32,
}

/// The books of a server.
#[derive(Debug, Default)]
pub struct Ledger {
    pub committed: AtomicU64,
    pub rolled_back: AtomicU64,
    pub statements: AtomicU64,
    pub cancels: AtomicU64,
    pub refused: AtomicU64,
    pub open: AtomicU64,
    pub failures_due: AtomicU64,
    pub failure: Mutex<Option<(String, String)>>,
    connections: Mutex<Vec<Arc<Live>>>,
}

impl Ledger {
    /// Enters a new session; its process id is its number in the books plus one.
    pub fn enter(&self, peer: SocketAddr, parameters: Vec<(String, String)>) -> (u32, Arc<Live>) {
        let mut connections = lock(&self.connections);
        let number = u32::try_from(connections.len()).expect("tests open few connections");
        let live = Arc::new(Live {
            connection: Mutex::new(Connection {
                peer,
                parameters,
                opened: Instant::now(),
                closed: None,
                first_statement: None,
                committed: 0,
                statements: Vec::new(),
                service_us: Vec::new(),
                frames: Vec::new(),
            }),
            cancel: Notify::new(),
            key: number.wrapping_mul(2_654_435_761).cast_signed(),
        });
        connections.push(Arc::clone(&live));
        self.open.fetch_add(1, Ordering::Relaxed);
        (number, live)
    }

    /// Notes the end of a session.
    pub fn leave(&self, live: &Live) {
        lock(&live.connection).closed = Some(Instant::now());
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Wakes the session that a cancel request names, if it is busy.
    pub fn cancel(&self, pid: i32, key: i32) {
        let index = usize::try_from(i64::from(pid) - 1).unwrap_or(usize::MAX);
        let live = lock(&self.connections).get(index).cloned();
        if let Some(live) = live.filter(|live| live.key == key) {
            self.cancels.fetch_add(1, Ordering::Relaxed);
            live.cancel.notify_waiters();
        }
    }

    /// Takes one of the failures that are due.
    pub fn take_failure(&self) -> Option<(String, String)> {
        if self.failures_due.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let less = |due: u64| due.checked_sub(1);
        self.failures_due.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).ok()?;
        lock(&self.failure).clone()
    }

    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            sessions: lock(&self.connections).len() as u64,
            open: read(&self.open),
            refused: read(&self.refused),
            committed: read(&self.committed),
            rolled_back: read(&self.rolled_back),
            statements: read(&self.statements),
            cancels: read(&self.cancels),
        }
    }

    pub fn connections(&self) -> Vec<Connection> {
        let all = lock(&self.connections);
        all.iter().map(|live| lock(&live.connection).clone()).collect()
    }
}

/// A failed test must show its own message, not that of a poisoned lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
