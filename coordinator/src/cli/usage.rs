//! A mistake on the command line, as pgbench words it: an error line, then details, what follows from it, a
//! hint.

use std::fmt;

/// What was wrong, with the lines that help: `detail: ...`, `error: ...` and `hint: ...`, as [`super::tell::error`]
/// prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageError {
    message: String,
    details: Vec<String>,
    consequence: Option<String>,
    hint: Option<String>,
}

impl UsageError {
    /// An error with nothing but its message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: Vec::new(), consequence: None, hint: None }
    }

    /// Adds a detail line.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.details.push(detail.into());
        self
    }

    /// Adds a second error line: what could not be done for that reason.
    #[must_use]
    pub fn then(mut self, consequence: impl Into<String>) -> Self {
        self.consequence = Some(consequence.into());
        self
    }

    /// Adds a hint line.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the hint that points to the help text.
    #[must_use]
    pub fn try_help(self) -> Self {
        self.hint("Try \"pgsurge --help\" for more information.")
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for detail in &self.details {
            write!(f, "\ndetail: {detail}")?;
        }
        if let Some(consequence) = &self.consequence {
            write!(f, "\nerror: {consequence}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UsageError {}
