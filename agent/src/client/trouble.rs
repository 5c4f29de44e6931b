//! Why a script did not come to its end, and what that means for its client; the texts are pgbench's.

use pgsurge_common::outcome::ErrorClass;
use pgsurge_common::script::CommandError;

use super::life::Client;
use super::reply::{Broken, Refusal};
use super::transaction::Transaction;
use crate::load::Notice;
use crate::wire::WireError;

/// What pgbench says of a session that is gone.
pub(super) const LOST: &str = "perhaps the backend died while processing";

/// Why a client ends before its time.
#[derive(Debug)]
pub(super) struct Abort(pub(super) String);

/// Why a script did not come to its end. Boxed, so that the good case stays small.
#[derive(Debug)]
pub(super) struct Trouble(pub(super) Box<Why>);

/// The reason itself.
#[derive(Debug)]
pub(super) enum Why {
    /// The server refused a statement; the session goes on.
    Sql(SqlError),
    /// The session is lost, perhaps after a last word of the server.
    Lost(WireError, Option<SqlError>),
    /// A command failed on our side.
    Command(CommandError),
    /// As said.
    Text(String),
    /// No client can do its work, for this reason; it ends the whole run.
    Hopeless(String),
}

/// An error that the server reported for a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SqlError {
    /// What it means for the transaction.
    pub(super) class: ErrorClass,
    /// Its SQLSTATE.
    pub(super) sqlstate: String,
    /// What libpq prints.
    pub(super) text: String,
    /// Which result of the command it took the place of, from 0.
    pub(super) query: u32,
}

impl SqlError {
    /// `text` is the statement, where errors can point into it.
    pub(super) fn new(refusal: &Refusal, text: Option<&[u8]>) -> Self {
        let sqlstate = refusal.error.sqlstate();
        Self {
            class: ErrorClass::of_sqlstate(sqlstate),
            sqlstate: sqlstate.to_owned(),
            text: refusal.error.render(text),
            query: refusal.query,
        }
    }
}

impl Broken {
    /// The short name to count it by.
    pub(super) fn kind(&self) -> &str {
        match self {
            Self::Lost(_, Some(refusal)) => refusal.error.sqlstate(),
            Self::Lost(error, None) => error.kind(),
            Self::Copy => "copy",
        }
    }
}

impl From<Why> for Trouble {
    fn from(why: Why) -> Self {
        Self(Box::new(why))
    }
}

impl From<Broken> for Trouble {
    fn from(broken: Broken) -> Self {
        Self::from(match broken {
            Broken::Lost(error, refusal) => {
                Why::Lost(error, refusal.map(|refusal| SqlError::new(&refusal, None)))
            }
            Broken::Copy => Why::Text("COPY is not supported in pgbench, aborting".into()),
        })
    }
}

impl From<WireError> for Trouble {
    fn from(error: WireError) -> Self {
        Self::from(Why::Lost(error, None))
    }
}

impl From<CommandError> for Trouble {
    fn from(error: CommandError) -> Self {
        Self::from(Why::Command(error))
    }
}

impl Client<'_> {
    /// The client ends: counts the error and says why.
    pub(super) fn abort(&mut self, why: Why, this: &Transaction) -> Abort {
        let (client, script, command) = (self.seat.client, this.script, self.state.command());
        let refused = |error: &SqlError| {
            let SqlError { text, query, .. } = error;
            format!(
                "client {client} script {script} aborted in command {command} query {query}: {text}"
            )
        };
        Abort(match why {
            Why::Sql(error) | Why::Lost(_, Some(error)) => {
                self.note_error(this.phase, &error.sqlstate);
                refused(&error)
            }
            Why::Lost(lost, None) => {
                self.note_error(this.phase, lost.kind());
                format!(
                    "client {client} aborted in command {command} (SQL) of script {script}; {LOST}: {lost}"
                )
            }
            Why::Command(error) => {
                if let Some(detail) = error.detail() {
                    self.station.say(Notice::error(client, detail.to_owned()));
                }
                error.abort_line(client.0)
            }
            Why::Text(text) => text,
            Why::Hopeless(reason) => {
                self.station.abort_run(reason.clone());
                reason
            }
        })
    }
}
