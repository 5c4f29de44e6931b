//! A client from its first transaction to its last.
//!
//! When to stop and when to begin the next transaction come from the station's schedule and rules;
//! everything about the transaction itself is in [`super::transaction`].

use std::rc::Rc;

use pgsurge_common::outcome::ErrorClass;
use pgsurge_common::schedule::Due;
use pgsurge_common::script::ClientState;
use pgsurge_common::stats::Phase;

use super::capture::Capture;
use super::session::Session;
use super::transaction::{Fate, Transaction};
use super::trouble::Abort;
use crate::load::{Notice, Stop};
use crate::wire::Connection;
use crate::worker::{Ended, Entry, RunTime, Sample, Seat, Station};

/// A client at work.
pub(super) struct Client<'a> {
    pub(super) station: &'a Station,
    pub(super) seat: &'a Seat,
    pub(super) state: ClientState,
    pub(super) session: Option<Session>,
    /// Results that a script stores; only for scripts that do.
    pub(super) capture: Option<Box<Capture>>,
    /// Transactions of the measured part, whatever their end.
    pub(super) done: u64,
    /// Sessions lost since its last transaction that ended otherwise.
    pub(super) losses: u32,
    /// A round trip or a sleep has let others work since the last transaction.
    pub(super) has_yielded: bool,
}

/// What a client does after a transaction.
enum Lived {
    /// It goes on, at this time.
    On(RunTime),
    /// It lost its session at this time.
    Lost(RunTime),
    /// It has come to its end.
    Done,
}

/// Executes transactions until the client has done its work, aborts or is stopped. A client without
/// a session has nothing to do, except under `-C`.
pub(crate) async fn run(
    station: Rc<Station>,
    seat: usize,
    state: ClientState,
    session: Option<Session>,
) {
    let seat = &station.seats[seat];
    let mut client = Client {
        station: &station,
        seat,
        state,
        session,
        capture: None,
        done: 0,
        losses: 0,
        has_yielded: false,
    };
    seat.working.set(true);
    *seat.cancel.borrow_mut() =
        client.session.as_ref().and_then(|session| session.connection.cancel_token());
    if let Err(Abort(reason)) = client.work().await
        // A client that was cut off has not failed by itself.
        && station.stopping() != Some(Stop::Now)
    {
        station.say(Notice::error(seat.client, reason.clone()));
        station.abort(seat.client, reason);
    }
    seat.working.set(false);
    client.leave().await;
}

impl Client<'_> {
    async fn work(&mut self) -> Result<(), Abort> {
        let mut now = self.station.now();
        loop {
            let script = self.state.choose(&self.station.program);
            let Some(due) = self.next_due(now, script) else { return Ok(()) };
            let entered = due.phase;
            self.station.recorder.borrow_mut().enter(entered);
            let lived = self.live(due, now, script).await;
            self.station.recorder.borrow_mut().leave(entered);
            now = match lived? {
                Lived::On(end) => end,
                Lived::Lost(end) if self.is_done() => {
                    self.station.recorder.borrow_mut().ended_lost(end, true);
                    return Ok(());
                }
                Lived::Lost(end) => match self.recover(end).await? {
                    Some(back) => back,
                    None => return Ok(()),
                },
                Lived::Done => return Ok(()),
            };
            if !std::mem::take(&mut self.has_yielded) {
                // A script that waits for nothing would keep all others from working.
                tokio::task::yield_now().await;
            }
        }
    }

    /// All its transactions are done (`-t`).
    fn is_done(&self) -> bool {
        self.station.rules.transactions == Some(self.done)
    }

    /// When the next transaction is due; books what the schedule skipped on the way.
    fn next_due(&mut self, now: RunTime, script: usize) -> Option<Due> {
        let station = self.station;
        if station.is_closing(now) {
            return None;
        }
        if self.is_done() {
            return None;
        }
        let remaining = station.rules.transactions.map(|count| count - self.done);
        let turn = station.next_turn(now, remaining);
        if turn.skipped > 0 {
            station.recorder.borrow_mut().skip(turn.skipped_phase, script, now, turn.skipped);
            if turn.skipped_phase == Phase::Measure {
                self.done += turn.skipped;
                station.log_skipped(self.seat.client, script, now, self.done, turn.skipped);
            }
        }
        turn.next
    }

    /// One transaction from its due time to its end.
    async fn live(&mut self, due: Due, now: RunTime, script: usize) -> Result<Lived, Abort> {
        let station = self.station;
        let mut begun = now;
        let mut transaction = Transaction { script, due: now, begun, phase: due.phase, tries: 1 };
        if station.rules.rate_limited {
            transaction.due = RunTime::from_us(due.at_us);
            if transaction.due > now {
                begun = station.sleep_until(transaction.due, false).await;
                self.has_yielded = true;
                if station.is_closing(begun) {
                    return Ok(Lived::Done);
                }
            }
        }
        // In a closed loop the first transaction is due when the clients are to begin.
        let first_due = if station.rules.rate_limited { transaction.due } else { station.joined() };
        station.recorder.borrow_mut().begun(first_due, begun);
        if self.session.is_none() {
            let Some(connected) = self.connect(begun, due.phase).await? else {
                return Ok(Lived::Done);
            };
            begun = connected;
            if !station.rules.rate_limited {
                // The time to connect is counted apart; without a rate it is not part of the latency.
                transaction.due = begun;
                transaction.phase = station.timeline.phase(begun);
            }
        }
        transaction.begun = begun;
        let fate = self.transact(&mut transaction).await?;
        Ok(match fate {
            Fate::Ended(ended, end) => {
                self.losses = 0;
                self.book(&transaction, ended, end);
                self.end_session_or_block(&transaction, end).await?;
                Lived::On(end)
            }
            Fate::Lost(end) => {
                self.book(&transaction, Ended::Failed(ErrorClass::Connection), end);
                self.part().await;
                Lived::Lost(end)
            }
            Fate::Dropped => Lived::Done,
        })
    }

    fn book(&mut self, transaction: &Transaction, ended: Ended, end: RunTime) {
        let commits = self.session.as_mut().map_or(0, Session::take_commits);
        let sample = Sample {
            phase: transaction.phase,
            script: transaction.script,
            due: transaction.due,
            begun: transaction.begun,
            end,
            ended,
            retries: transaction.tries - 1,
            commits,
        };
        self.station.recorder.borrow_mut().book(&sample);
        if transaction.phase == Phase::Measure {
            self.done += 1;
            if ended == Ended::Success {
                self.seat.transactions.set(self.seat.transactions.get() + 1);
            }
            self.station.log(&Entry::of(self.seat.client, self.done, &sample));
        }
    }

    /// A script must not leave a transaction block open; under `-C` the session ends with it.
    async fn end_session_or_block(
        &mut self,
        transaction: &Transaction,
        end: RunTime,
    ) -> Result<(), Abort> {
        let station = self.station;
        if self.session.as_ref().is_some_and(Session::is_in_block) {
            return Err(Abort(format!(
                "client {} aborted: end of script reached without completing the last transaction",
                self.seat.client
            )));
        }
        if station.rules.connect_each {
            self.part().await;
            let closed = station.now();
            let us = closed.us_since(end);
            station.recorder.borrow_mut().connection(transaction.phase, closed, 0, us);
        }
        Ok(())
    }

    /// Closes the session as far as that can be done at once.
    async fn part(&mut self) {
        *self.seat.cancel.borrow_mut() = None;
        if let Some(session) = self.session.take() {
            session.connection.close().await;
        }
    }

    /// The session that the client works with from now on.
    pub(super) fn take_up(&mut self, connection: Connection) {
        *self.seat.cancel.borrow_mut() = connection.cancel_token();
        self.session = Some(Session::new(connection));
    }

    /// Opens a session; returns the time after that, or nothing if the load ended before there was one.
    async fn connect(&mut self, begun: RunTime, phase: Phase) -> Result<Option<RunTime>, Abort> {
        let station = self.station;
        self.has_yielded = true;
        // Boxed: this future is far larger than a client at work.
        let connected = Box::pin(station.connector.connect()).await;
        let now = station.now();
        match connected {
            Ok(connection) => {
                station.recorder.borrow_mut().connection(phase, now, 1, now.us_since(begun));
                self.take_up(connection);
                Ok(Some(now))
            }
            Err(error) => {
                station.recorder.borrow_mut().error(phase, now, error.kind());
                if station.rules.reconnect && !error.is_lasting() {
                    self.miss("could not connect", &format!("{}: {error}", error.kind()), now);
                    return self.recover(now).await;
                }
                station.say(Notice::error(self.seat.client, error.to_string()));
                let client = self.seat.client;
                Err(Abort(format!("client {client} aborted while establishing connection")))
            }
        }
    }

    /// Closes the session and leaves the seat.
    async fn leave(mut self) {
        let station = self.station;
        *self.seat.cancel.borrow_mut() = None;
        if let Some(mut session) = self.session.take() {
            station.books.borrow_mut().extra_commits += u64::from(session.take_commits());
            session.connection.close().await;
        }
        station.recorder.borrow_mut().client_left();
    }
}
