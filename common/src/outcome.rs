//! How things end: classes of SQL errors, and the exit codes of the program.

use serde::{Deserialize, Serialize};

/// What an SQLSTATE means for the transaction in which it appeared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// 40001: may be tried again.
    Serialization,
    /// 40P01: may be tried again.
    Deadlock,
    /// Anything else the server reports.
    Other,
    /// The session was lost, so nobody knows the outcome (`--reconnect`). No SQLSTATE says so by itself.
    Connection,
}

impl ErrorClass {
    /// Classifies a five-character SQLSTATE as pgbench does.
    #[must_use]
    pub fn of_sqlstate(sqlstate: &str) -> Self {
        match sqlstate {
            "40001" => Self::Serialization,
            "40P01" => Self::Deadlock,
            _ => Self::Other,
        }
    }
}

/// The program's exit codes; where several of 2, 3 and 4 apply the highest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// Done and valid.
    Done = 0,
    /// Usage, script, set-up or connection error before the start; or a run that is fine otherwise whose
    /// report or results could not be written.
    Usage = 1,
    /// A client did not finish (pgbench's meaning).
    ClientsUnfinished = 2,
    /// The run finished but its verdict is invalid.
    Invalid = 3,
    /// An expectation given with `--fail-if` was missed.
    ExpectationMissed = 4,
    /// Interrupted; a partial report was written.
    Interrupted = 130,
}
