//! A client whose session is lost comes back (`--reconnect`): which losses it survives, how they are
//! counted, and opening another session until there is one or the load is over.
//!
//! Its variables and its random numbers stay, as under `-C`. Hosts, addresses and kinds of server are
//! tried in libpq's order each time anew, so that a client follows a failover.

use super::life::Client;
use super::transaction::{Fate, Transaction};
use super::trouble::{Abort, Why};
use crate::load::{Notice, Stop};
use crate::wire::{ConnectError, Connection, WireError};
use crate::worker::{RunTime, pause_after};

/// Letters of an error that an outage keeps.
const TOLD: usize = 200;

impl Client<'_> {
    /// The session is gone, or of no use any more, and the client may open another.
    pub(super) fn may_come_back(&self, why: &Why) -> bool {
        self.station.rules.reconnect
            && match why {
                // What is not the protocol would come again.
                Why::Lost(WireError::Protocol(_), None)
                | Why::Command(_)
                | Why::Text(_)
                | Why::Hopeless(_) => false,
                Why::Lost(..) => true,
                // A pooler's word for a server that is gone; the session with the pooler may live on.
                Why::Sql(error) => ends_session(&error.sqlstate),
            }
    }

    /// Counts the loss. A client that is being cut off has lost nothing.
    pub(super) fn lose(&mut self, why: &Why, this: &Transaction) -> Fate {
        let station = self.station;
        if station.stopping() == Some(Stop::Now) {
            return Fate::Dropped;
        }
        let (kind, text) = match why {
            Why::Sql(error) | Why::Lost(_, Some(error)) => {
                (error.sqlstate.as_str(), error.text.lines().next().unwrap_or_default().to_owned())
            }
            Why::Lost(lost, None) => (lost.kind(), lost.to_string()),
            Why::Command(_) | Why::Text(_) | Why::Hopeless(_) => ("", String::new()),
        };
        self.note_error(this.phase, kind);
        let (script, command) = (this.script, self.state.command());
        station.statement(this.phase, script, command, |stats| stats.failures += 1);
        let now = station.now();
        let place = format!("lost its connection in command {command} (SQL) of script {script}");
        self.miss(&place, &format!("{kind}: {text}"), now);
        Fate::Lost(now)
    }

    /// The client is without a session from `now` on. The user is told of the first one only, unless of
    /// all errors.
    pub(super) fn miss(&self, what: &str, error: &str, now: RunTime) {
        let (station, client) = (self.station, self.seat.client);
        let first = station.recorder.borrow_mut().lost(client, now, shortened(error));
        if first || station.rules.verbose_errors {
            let text = format!("client {client} {what}; {error}; reconnecting");
            station.say(Notice::error(client, text));
        }
    }

    /// Opens a session in place of the one that was lost at `since`; returns the time after that, or
    /// nothing if the load ended before.
    pub(super) async fn recover(&mut self, since: RunTime) -> Result<Option<RunTime>, Abort> {
        let (station, client) = (self.station, self.seat.client);
        self.has_yielded = true;
        let mut last = None;
        // A pooler without a server lets everybody in, and out again at the first statement.
        let fruitless = self.losses;
        self.losses += 1;
        if fruitless > 0 {
            self.pause(fruitless - 1).await;
        }
        for failures in fruitless.. {
            let now = station.now();
            if station.is_closing(now) {
                self.end_without(now, last.as_ref());
                return Ok(None);
            }
            let attempted = tokio::select! {
                biased;
                () = station.until_closing() => continue,
                attempted = self.attempt() => attempted,
            };
            let error = match attempted {
                Ok(connection) => return Ok(Some(self.come_back(connection, since))),
                Err(error) => error,
            };
            let now = station.now();
            self.note_attempt(&error, now);
            let patience = station.rules.give_up_after;
            if error.is_lasting() || patience.is_some_and(|patience| now >= since.plus(patience)) {
                station.recorder.borrow_mut().ended_lost(now, false);
                return Err(Abort(format!("client {client} could not reconnect: {error}")));
            }
            last = Some(error);
            self.pause(failures).await;
        }
        Ok(None)
    }

    /// Waits before the next attempt, unless the load is over.
    async fn pause(&self, failures: u32) {
        let station = self.station;
        let next = station.now().plus(pause_after(failures));
        tokio::select! {
            () = station.until_closing() => {}
            _ = station.sleep_until(next, true) => {}
        }
    }

    /// One attempt inside the host's budget.
    async fn attempt(&self) -> Result<Connection, ConnectError> {
        let station = self.station;
        let _permit = station.gate.enter_again(&station.timer).await;
        // Boxed: this future is far larger than a client at work.
        Box::pin(station.connector.connect_again()).await
    }

    fn note_attempt(&self, error: &ConnectError, now: RunTime) {
        let station = self.station;
        let phase = station.timeline.phase(now);
        let mut recorder = station.recorder.borrow_mut();
        recorder.error(phase, now, error.kind());
        recorder.still_lost(shortened(&format!("{}: {error}", error.kind())));
    }

    fn come_back(&mut self, connection: Connection, since: RunTime) -> RunTime {
        let (station, client) = (self.station, self.seat.client);
        self.take_up(connection);
        let now = station.now();
        let last = station.recorder.borrow_mut().back(since, now);
        if last || station.rules.verbose_errors {
            let away = now.us_since(since) as f64 / 1e6;
            let text = format!("client {client} is connected again after {away:.3} s");
            station.say(Notice::info(client, text));
        }
        now
    }

    /// The load is over and the client without a session: it did not do its part.
    fn end_without(&self, now: RunTime, last: Option<&ConnectError>) {
        let (station, client) = (self.station, self.seat.client);
        station.recorder.borrow_mut().ended_lost(now, false);
        if station.stopping() != Some(Stop::Now) {
            let why = last.map_or_else(String::new, |error| format!(": {error}"));
            let reason =
                format!("client {client} was without a connection when the run ended{why}");
            station.did_not_finish(client, reason);
        }
    }
}

/// Whether an SQLSTATE says that the connection to the server is gone or going.
fn ends_session(sqlstate: &str) -> bool {
    sqlstate.starts_with("08") || matches!(sqlstate, "57P01" | "57P02" | "57P03")
}

/// The first line, as far as an outage keeps it.
fn shortened(text: &str) -> &str {
    let text = text.lines().next().unwrap_or_default();
    let end = text.char_indices().nth(TOLD).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_a_server_that_is_gone_end_the_session_and_no_others() {
        for state in ["08000", "08006", "08P01", "57P01", "57P02", "57P03"] {
            assert!(ends_session(state), "{state}");
        }
        for state in ["57014", "40001", "53300", "XX000", "57P04"] {
            assert!(!ends_session(state), "{state}");
        }
    }

    #[test]
    fn long_errors_are_cut_between_letters() {
        assert_eq!(shortened("short\nand more"), "short");
        assert_eq!(shortened(&"é".repeat(300)).chars().count(), TOLD);
    }
}
