//! One transaction: a script from its first command to its last, tried again where that is allowed.
//!
//! The rules are pgbench's: the values drawn at random are the same in each try, variables are not put
//! back, an open block is rolled back, and once the time is over a failed try is counted nowhere.

use pgsurge_common::outcome::ErrorClass;
use pgsurge_common::stats::Phase;

use super::life::Client;
use super::trouble::{Abort, LOST, SqlError, Trouble, Why};
use crate::load::{Notice, Stop};
use crate::worker::{Ended, RunTime};

/// What is known of a transaction under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transaction {
    pub(super) script: usize,
    pub(super) due: RunTime,
    pub(super) begun: RunTime,
    pub(super) phase: Phase,
    pub(super) tries: u32,
}

/// How it ended.
pub(super) enum Fate {
    /// So, and then.
    Ended(Ended, RunTime),
    /// With the loss of its session, then; the client goes on (`--reconnect`).
    Lost(RunTime),
    /// It failed after the end of the load: the client is done and the transaction counted nowhere.
    Dropped,
}

impl Client<'_> {
    /// Executes the script until it succeeds or fails for good.
    pub(super) async fn transact(&mut self, this: &mut Transaction) -> Result<Fate, Abort> {
        self.state.begin(this.script);
        loop {
            let trouble = match self.execute(this).await {
                Ok(end) => return Ok(Fate::Ended(Ended::Success, end)),
                Err(trouble) => trouble,
            };
            let error = match *trouble.0 {
                why if self.may_come_back(&why) => return Ok(self.lose(&why, this)),
                Why::Sql(error) if self.survives(error.class) => error,
                why => return Err(self.abort(why, this)),
            };
            if let Some(fate) = Box::pin(self.after_error(this, &error)).await? {
                return Ok(fate);
            }
            self.state.retry();
        }
    }

    /// The error does not end the client.
    fn survives(&self, class: ErrorClass) -> bool {
        class != ErrorClass::Other || self.station.rules.continue_on_error
    }

    /// Rolls back and decides; `None` is another try.
    async fn after_error(
        &mut self,
        this: &mut Transaction,
        error: &SqlError,
    ) -> Result<Option<Fate>, Abort> {
        let (station, client) = (self.station, self.seat.client);
        let (script, command) = (this.script, self.state.command());
        self.note_error(this.phase, &error.sqlstate);
        if station.rules.verbose_errors {
            let text = &error.text;
            station.say(Notice::info(
                client,
                format!("client {client} got an error in command {command} (SQL) of script {script}; {text}"),
            ));
        }
        if let Some(fate) = self.roll_back(this).await? {
            return Ok(Some(fate));
        }
        let now = station.now();
        if station.is_closing(now) {
            return Ok(Some(Fate::Dropped));
        }
        let elapsed_us = now.us_since(this.due);
        let again =
            error.class != ErrorClass::Other && station.rules.may_retry(this.tries, elapsed_us);
        station.statement(this.phase, script, command, |stats| {
            stats.retries += u64::from(again);
            stats.failures += u64::from(!again);
        });
        if station.rules.verbose_errors {
            let text = self.verdict_text(this, again, elapsed_us);
            station.say(Notice::info(client, text));
        }
        if !again {
            return Ok(Some(Fate::Ended(Ended::Failed(error.class), now)));
        }
        this.tries += 1;
        Ok(None)
    }

    /// Ends the block in which an error left the session, if it did; a fate if that went wrong and the
    /// client goes on all the same.
    async fn roll_back(&mut self, this: &Transaction) -> Result<Option<Fate>, Abort> {
        let client = self.seat.client;
        let Some(session) = self.session.as_mut().filter(|session| session.is_in_block()) else {
            return Ok(None);
        };
        self.seat.busy.set(true);
        let result = match session.connection.query(b"ROLLBACK") {
            Ok(()) => session.round_trip(None).await,
            Err(error) => Err(error.into()),
        };
        self.seat.busy.set(false);
        let result = result.map_err(|broken| (broken.kind().to_owned(), Trouble::from(broken)));
        let (why, kind) = match result {
            Ok(reply) => match reply.error {
                None => return Ok(None),
                Some(refusal) => (refusal.error.render(None), refusal.error.sqlstate().to_owned()),
            },
            Err((_, trouble)) if self.may_come_back(&trouble.0) => {
                return Ok(Some(self.lose(&trouble.0, this)));
            }
            Err((kind, _)) => (LOST.into(), kind),
        };
        self.note_error(this.phase, &kind);
        Err(Abort(format!(
            "client {client} aborted while rolling back the transaction after an error; {why}"
        )))
    }

    fn verdict_text(&self, this: &Transaction, again: bool, elapsed_us: u64) -> String {
        let (client, rules) = (self.seat.client, &self.station.rules);
        let what = if again {
            "repeats the transaction after the error"
        } else {
            "ends the failed transaction"
        };
        let most = rules.max_tries.map(|most| format!("/{most}")).unwrap_or_default();
        let used = rules.latency_limit_us.map(|limit| {
            let percent = 100.0 * elapsed_us as f64 / limit as f64;
            format!(", {percent:.3}% of the maximum time of tries was used")
        });
        format!("client {client} {what} (try {}{most}{})", this.tries, used.unwrap_or_default())
    }

    /// The server or the system reported an error. What comes of being cut off is none of theirs.
    pub(super) fn note_error(&self, phase: Phase, kind: &str) {
        if self.station.stopping() == Some(Stop::Now) {
            return;
        }
        let now = self.station.now();
        self.station.recorder.borrow_mut().error(phase, now, kind);
    }
}
