//! What is wrong with a script: found before anything connects ([`ScriptError`]), or when a client
//! comes to the command ([`CommandError`]). The texts are pgbench's.

use std::fmt;

use thiserror::Error;

use crate::workload::WeightsError;

/// A static error: the run does not start.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ScriptError {
    /// A command that cannot be read.
    #[error("{0}")]
    Syntax(Box<SyntaxError>),
    /// A script without any command.
    #[error("empty command list for script \"{0}\"")]
    Empty(String),
    /// `\if` and its relatives do not fit together.
    #[error("condition error in script \"{script}\" command {command}: {message}")]
    Condition {
        /// The script.
        script: String,
        /// Number of the command, from 1.
        command: usize,
        /// What does not fit.
        message: &'static str,
    },
    /// More variables in one statement than the protocol modes with parameters allow.
    #[error("statement has too many arguments (maximum is {MAX_PARAMETERS}): {0}")]
    TooManyParameters(String),
    /// The weights allow no choice of scripts.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// Most parameters of a statement in extended and prepared mode.
pub const MAX_PARAMETERS: usize = 255;

/// A command that cannot be read, and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyntaxError {
    /// The script's name.
    pub script: String,
    /// Number of the line on which the command begins, from 1.
    pub line_number: usize,
    /// What is wrong.
    pub message: &'static str,
    /// The text in question.
    pub more: Option<String>,
    /// The command's name.
    pub command: Option<String>,
    /// The command as it stands in the script.
    pub line: Option<String>,
    /// Where in it the error was found, in bytes from 0.
    pub column: Option<usize>,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.script, self.line_number, self.message)?;
        if let Some(more) = &self.more {
            write!(f, " ({more})")?;
        }
        if let Some(command) = &self.command {
            write!(f, " in command \"{command}\"")?;
        }
        if let Some(line) = &self.line {
            write!(f, "\n{line}")?;
            if let Some(column) = self.column {
                write!(f, "\n{:>width$} error found here", '^', width = column + 1)?;
            }
        }
        Ok(())
    }
}

impl From<SyntaxError> for ScriptError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax(Box::new(error))
    }
}

/// An error that ends a client when it comes to the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError(Box<Failure>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    detail: Option<String>,
    failed: Option<FailedCommand>,
}

/// The command at which a client ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCommand {
    /// Number of the script, from 0.
    pub script: usize,
    /// Number of the command, from 0.
    pub command: usize,
    /// The command's name as written.
    pub name: String,
    /// What failed, in general terms.
    pub message: &'static str,
}

const OPEN_PIPELINE: &str = "end of script reached with pipeline open";

impl CommandError {
    /// A command failed.
    pub(crate) fn new(detail: Option<String>, failed: FailedCommand) -> Self {
        Self(Box::new(Failure { detail, failed: Some(failed) }))
    }

    /// The script ended inside a pipeline.
    pub(crate) fn open_pipeline() -> Self {
        Self(Box::new(Failure { detail: None, failed: None }))
    }

    /// What exactly went wrong; a line of its own in front of [`CommandError::abort_line`].
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// Which command failed how; `None` if the script ended inside a pipeline.
    #[must_use]
    pub fn failed(&self) -> Option<&FailedCommand> {
        self.0.failed.as_ref()
    }

    /// The line that says why the client ends.
    #[must_use]
    pub fn abort_line(&self, client: u32) -> String {
        match self.failed() {
            None => format!("client {client} aborted: {OPEN_PIPELINE}"),
            Some(FailedCommand { script, command, name, message }) => format!(
                "client {client} aborted in command {command} ({name}) of script {script}; {message}"
            ),
        }
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let general = self.failed().map_or(OPEN_PIPELINE, |failed| failed.message);
        f.write_str(self.detail().unwrap_or(general))
    }
}

impl std::error::Error for CommandError {}
