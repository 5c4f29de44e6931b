//! Why a target cannot be resolved, in libpq's words where it has them, yet without its habit of quoting
//! strings that may hold a password.

use std::path::{Path, PathBuf};

/// The connection options are wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No such option.
    #[error("invalid connection option \"{0}\"")]
    UnknownOption(String),
    /// A keyword string or URI cannot be read.
    #[error("{0}")]
    Syntax(String),
    /// An option has a value that it cannot have.
    #[error("invalid {option} value: \"{value}\"")]
    Value {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
    },
    /// An option that takes a whole number was given something else.
    #[error("invalid integer value \"{value}\" for connection option \"{option}\"")]
    Integer {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
    },
    /// A port out of range or not a number.
    #[error("invalid port number: \"{0}\"")]
    Port(String),
    /// Lists of hosts, addresses and ports that do not fit together.
    #[error("could not match {left} {what} to {right} {others}")]
    Counts {
        /// How many of the first kind.
        left: usize,
        /// The first kind.
        what: &'static str,
        /// How many of the second kind.
        right: usize,
        /// The second kind.
        others: &'static str,
    },
    /// Options that exclude each other.
    #[error("{0}")]
    Conflict(String),
    /// libpq has the option, pgsurge does not.
    #[error(
        "connection option \"{option}\" with value \"{value}\" is not supported by pgsurge ({advice})"
    )]
    Unsupported {
        /// The option.
        option: &'static str,
        /// What was given.
        value: String,
        /// What to do instead.
        advice: &'static str,
    },
    /// A service that no file defines.
    #[error("definition of service \"{0}\" not found")]
    UnknownService(String),
    /// A file that is needed cannot be used.
    #[error("{what} \"{}\" {problem}", path.display())]
    File {
        /// Which one.
        what: &'static str,
        /// Where it was looked for.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The user has no name.
    #[error("{0}")]
    User(String),
}

impl TargetError {
    pub(super) fn value(option: &'static str, value: &str) -> Self {
        Self::Value { option, value: value.to_owned() }
    }

    pub(super) fn file(what: &'static str, path: &Path, problem: impl Into<String>) -> Self {
        Self::File { what, path: path.to_owned(), problem: problem.into() }
    }
}
