//! One session of the fake server, from the first message to the last.
//!
//! As in PostgreSQL a session reads no further while a statement takes its time; only a cancel
//! request ends that early.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::answer::{Effect, Reply, Statement, cut};
use super::codec::{self, First, Frontend, Junk};
use super::record::{Live, lock};
use super::{Request, Shared};

/// Accepts until it is dropped; its sessions go with the runtime.
pub async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        // An accept that fails concerns a client that has gone away already.
        if let Ok((stream, peer)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(serve(stream, peer, Arc::clone(&shared)));
        }
    }
}

async fn serve(mut stream: TcpStream, peer: SocketAddr, shared: Arc<Shared>) {
    let mut input = BytesMut::with_capacity(1024);
    let Ok(Some(parameters)) = open(&mut stream, &mut input, &shared).await else { return };
    let (number, live) = shared.ledger.enter(peer, parameters);
    let mut session = Session {
        number,
        peer,
        shared: &shared,
        live: &live,
        output: BytesMut::with_capacity(1024),
        state: b'I',
        skipping: false,
        arrived: Instant::now(),
        began: None,
        transactions: 0,
        prepared: HashMap::new(),
        portals: HashMap::new(),
    };
    // How a session ends is the client's matter: it may break off at any point.
    let _ = session.run(&mut stream, input).await;
    shared.ledger.leave(&live);
}

/// Everything before the session: encryption declined, cancel requests carried out, too many refused.
async fn open(
    stream: &mut TcpStream,
    input: &mut BytesMut,
    shared: &Shared,
) -> io::Result<Option<Vec<(String, String)>>> {
    loop {
        match codec::first(input).map_err(io::Error::other)? {
            Some(First::Encryption) => stream.write_all(b"N").await?,
            Some(First::Cancel { pid, key }) => {
                shared.ledger.cancel(pid, key);
                return Ok(None);
            }
            Some(First::Startup(parameters)) => {
                let most = shared.behaviour.max_connections.map_or(u64::MAX, u64::from);
                if shared.ledger.counts().open < most {
                    return Ok(Some(parameters));
                }
                shared.ledger.refused.fetch_add(1, Ordering::Relaxed);
                let mut output = BytesMut::new();
                codec::error(&mut output, "FATAL", "53300", "sorry, too many clients already");
                stream.write_all(&output).await?;
                return Ok(None);
            }
            None if stream.read_buf(input).await? == 0 => return Ok(None),
            None => {}
        }
    }
}

struct Session<'a> {
    number: u32,
    peer: SocketAddr,
    shared: &'a Shared,
    live: &'a Live,
    output: BytesMut,
    /// `I`, `T` or `E` as in `ReadyForQuery`.
    state: u8,
    /// After an error in the extended protocol everything up to the next Sync is passed over.
    skipping: bool,
    /// When the messages being worked on arrived.
    arrived: Instant,
    /// When the first statement of the transaction that is open arrived.
    began: Option<Instant>,
    transactions: u64,
    prepared: HashMap<Bytes, Arc<Statement>>,
    portals: HashMap<Bytes, (Arc<Statement>, bool)>,
}

impl Session<'_> {
    async fn run(&mut self, stream: &mut TcpStream, mut input: BytesMut) -> io::Result<()> {
        let pid = i32::try_from(self.number).unwrap_or(i32::MAX - 1) + 1;
        codec::welcome(&mut self.output, &self.shared.behaviour.version, pid, self.live.key);
        codec::ready(&mut self.output, self.state);
        stream.write_all_buf(&mut self.output).await?;
        while stream.read_buf(&mut input).await? > 0 {
            self.arrived = Instant::now();
            while let Some(message) = self.decode(&mut input)? {
                if message == Frontend::Terminate {
                    return Ok(());
                }
                self.handle(message).await;
            }
            stream.write_all_buf(&mut self.output).await?;
        }
        Ok(())
    }

    fn decode(&self, input: &mut BytesMut) -> io::Result<Option<Frontend>> {
        if self.shared.behaviour.keep.frames
            && let Some(frame) = codec::whole_frame(input)
        {
            lock(&self.live.connection).frames.push(frame.to_vec());
        }
        codec::next(input).map_err(|junk: Junk| io::Error::other(format!("{}: {junk}", self.peer)))
    }

    async fn handle(&mut self, message: Frontend) {
        match message {
            Frontend::Sync => {
                self.skipping = false;
                codec::ready(&mut self.output, self.state);
            }
            Frontend::Query(sql) => {
                self.query(&String::from_utf8_lossy(&sql)).await;
                codec::ready(&mut self.output, self.state);
            }
            _ if self.skipping => {}
            Frontend::Parse { name, sql } => {
                let statement = self.understand(&String::from_utf8_lossy(&sql));
                self.prepared.insert(name, Arc::new(statement));
                codec::bare(&mut self.output, b'1');
            }
            Frontend::Bind { portal, statement, binary } => {
                match self.prepared.get(&statement).cloned() {
                    Some(statement) => {
                        self.portals.insert(portal, (statement, binary));
                        codec::bare(&mut self.output, b'2');
                    }
                    None => self.fail("26000", "prepared statement does not exist"),
                }
            }
            Frontend::Describe { kind, name } => self.describe(kind, &name),
            Frontend::Execute { portal } => match self.portals.get(&portal).cloned() {
                Some((statement, binary)) => {
                    self.skipping = !self.execute(&statement, binary).await;
                }
                None => self.fail("34000", "portal does not exist"),
            },
            Frontend::Close => codec::bare(&mut self.output, b'3'),
            Frontend::Flush | Frontend::Terminate => {}
            Frontend::Other(tag) => {
                let text = format!("invalid frontend message type {tag}");
                self.fail("08P01", &text);
            }
        }
    }

    fn understand(&self, sql: &str) -> Statement {
        Statement::new(sql, &self.shared.behaviour.rules)
    }

    async fn query(&mut self, sql: &str) {
        let parts = cut(sql);
        if parts.is_empty() {
            codec::bare(&mut self.output, b'I');
        }
        for part in parts {
            let statement = self.understand(part);
            if let (Reply::Rows(rows), b'I' | b'T') = (&statement.reply, self.state) {
                codec::description(&mut self.output, rows, false);
            }
            if !self.execute(&statement, false).await {
                break;
            }
        }
    }

    fn describe(&mut self, kind: u8, name: &Bytes) {
        let (statement, binary) = if kind == b'S' {
            match self.prepared.get(name) {
                Some(statement) => (Arc::clone(statement), false),
                None => return self.fail("26000", "prepared statement does not exist"),
            }
        } else {
            match self.portals.get(name) {
                Some((statement, binary)) => (Arc::clone(statement), *binary),
                None => return self.fail("34000", "portal does not exist"),
            }
        };
        if kind == b'S' {
            codec::parameters(&mut self.output, statement.parameters);
        }
        match &statement.reply {
            Reply::Rows(rows) => codec::description(&mut self.output, rows, binary),
            _ => codec::bare(&mut self.output, b'n'),
        }
    }

    /// Runs one statement; false if it failed.
    async fn execute(&mut self, statement: &Statement, binary: bool) -> bool {
        if statement.effect == Effect::Control {
            return self.answer(&statement.reply, binary);
        }
        self.note(statement);
        let closes = matches!(statement.effect, Effect::Commit | Effect::Rollback);
        if self.state == b'E' && !closes {
            self.error("25P02", "current transaction is aborted");
            return false;
        }
        if let Some((sqlstate, message)) = self.shared.ledger.take_failure() {
            self.broken(&sqlstate, &message);
            return false;
        }
        let ends = match statement.effect {
            Effect::Commit | Effect::Rollback => self.state != b'I',
            Effect::Within => self.state == b'I',
            Effect::Begin | Effect::Control => false,
        };
        if !self.take_time(statement, ends).await {
            self.broken("57014", "canceling statement due to user request");
            return false;
        }
        let lost = self.state == b'E' || statement.effect == Effect::Rollback;
        if ends {
            self.count_transaction(!lost);
        }
        match statement.effect {
            Effect::Begin => self.state = b'T',
            Effect::Commit | Effect::Rollback => self.state = b'I',
            Effect::Within | Effect::Control => {}
        }
        if closes && lost {
            codec::complete(&mut self.output, "ROLLBACK");
            return true;
        }
        self.answer(&statement.reply, binary)
    }

    fn note(&mut self, statement: &Statement) {
        self.shared.ledger.statements.fetch_add(1, Ordering::Relaxed);
        self.began.get_or_insert(self.arrived);
        let keeps = self.shared.behaviour.keep.statements;
        if self.transactions == 0 || keeps {
            let mut connection = lock(&self.live.connection);
            connection.first_statement.get_or_insert(self.arrived);
            if keeps {
                connection.statements.push(statement.sql.clone());
            }
        }
    }

    /// Waits as long as the statement takes; false if it was cancelled.
    async fn take_time(&self, statement: &Statement, ends: bool) -> bool {
        let service = || {
            (self.shared.behaviour.service)(&Request {
                connection: self.number,
                transaction: self.transactions,
                peer: self.peer,
                sql: &statement.sql,
            })
        };
        let service = if ends { service() } else { std::time::Duration::ZERO };
        if service.is_zero() && !*self.shared.stalled.borrow() {
            return true;
        }
        let until = tokio::time::Instant::from_std(self.arrived + service);
        let mut stalled = self.shared.stalled.subscribe();
        let finish = async {
            tokio::time::sleep_until(until).await;
            let _ = stalled.wait_for(|stalled| !stalled).await;
        };
        tokio::select! {
            () = finish => true,
            () = self.live.cancel.notified() => false,
        }
    }

    fn count_transaction(&mut self, committed: bool) {
        let ledger = &self.shared.ledger;
        let counter = if committed { &ledger.committed } else { &ledger.rolled_back };
        counter.fetch_add(1, Ordering::Relaxed);
        self.transactions += 1;
        let began = self.began.take().unwrap_or(self.arrived);
        let mut connection = lock(&self.live.connection);
        connection.committed += u64::from(committed);
        if committed && self.shared.behaviour.keep.times {
            let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            connection.service_us.push(took);
        }
    }

    /// Appends a reply; false if it is an error.
    fn answer(&mut self, reply: &Reply, binary: bool) -> bool {
        match reply {
            Reply::Rows(rows) => {
                codec::data(&mut self.output, rows, binary);
                codec::complete(&mut self.output, &format!("SELECT {}", rows.rows.len()));
            }
            Reply::Done(tag) => codec::complete(&mut self.output, tag),
            Reply::Empty => codec::bare(&mut self.output, b'I'),
            Reply::Error { sqlstate, message } => {
                self.broken(sqlstate, message);
                return false;
            }
        }
        true
    }

    /// An error that spoils the transaction it is in.
    fn broken(&mut self, sqlstate: &str, message: &str) {
        if self.state == b'I' {
            self.shared.ledger.rolled_back.fetch_add(1, Ordering::Relaxed);
            self.began = None;
        } else {
            self.state = b'E';
        }
        self.error(sqlstate, message);
    }

    /// An error in the extended protocol.
    fn fail(&mut self, sqlstate: &str, message: &str) {
        self.broken(sqlstate, message);
        self.skipping = true;
    }

    fn error(&mut self, sqlstate: &str, message: &str) {
        codec::error(&mut self.output, "ERROR", sqlstate, message);
    }
}
