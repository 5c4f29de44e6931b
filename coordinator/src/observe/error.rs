//! What goes wrong between the coordinator and the target, worded for whoever started the run.
//!
//! tokio-postgres prints nothing but "db error"; here the server's own words are kept. Holds no secret.

use std::error::Error;
use std::fmt;

use pgsurge_common::target::refused_parameter;
use tokio_postgres::error::{DbError, ErrorPosition};

/// A failure with the lines that help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    /// What happened; may span lines, as the server's messages do.
    pub message: String,
    /// What pgbench prints after `detail: `.
    pub detail: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The server's SQLSTATE, if it was the server that refused.
    pub sqlstate: Option<String>,
}

impl TargetError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), detail: None, hint: None, sqlstate: None }
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure, told as one of a larger attempt: `context: message`.
    pub(crate) fn of(mut self, context: &str) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }

    /// A failed statement or handshake, `sql` being what was sent if it is known.
    pub(crate) fn postgres(error: &tokio_postgres::Error, sql: Option<&str>) -> Self {
        let Some(server) = error.as_db_error() else { return Self::new(chain(error)) };
        Self {
            message: server_message(server, sql),
            detail: None,
            hint: refused_parameter(server.message()),
            sqlstate: Some(server.code().code().to_owned()),
        }
    }

    /// A failed login. Nobody is asked for a password, so it must be known how else to give one.
    pub(crate) fn login(error: &tokio_postgres::Error) -> Self {
        let told = Self::postgres(error, None);
        if !told.message.ends_with("password missing") {
            return told;
        }
        Self::new("the server asks for a password and none is known")
            .hint("set PGPASSWORD, or put it into a password file (~/.pgpass, or PGPASSFILE)")
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(detail) = &self.detail {
            write!(f, "\ndetail: {detail}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl Error for TargetError {}

/// An error with all its causes.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.ends_with(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}

/// A message of the server in libpq's layout, with its SQLSTATE.
pub(crate) fn server_message(error: &DbError, sql: Option<&str>) -> String {
    let (severity, message, code) = (error.severity(), error.message(), error.code().code());
    let mut text = format!("{severity}:  {message} (SQLSTATE {code})");
    if let (Some(sql), Some(ErrorPosition::Original(at))) = (sql, error.position()) {
        text += &pointed_at(sql, *at);
    }
    with_details(text, error)
}

/// A notice of the server in libpq's layout; notices have no SQLSTATE that anybody looks for.
pub(crate) fn notice_message(notice: &DbError) -> String {
    with_details(format!("{}:  {}", notice.severity(), notice.message()), notice)
}

fn with_details(head: String, error: &DbError) -> String {
    let details = [("DETAIL", error.detail()), ("HINT", error.hint())];
    let lines =
        details.into_iter().filter_map(|(label, words)| Some(format!("{label}:  {}", words?)));
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

/// The line of a statement in which its `at`th character (from 1) stands, and a caret below it.
fn pointed_at(sql: &str, at: u32) -> String {
    let mut left = at as usize;
    for (number, line) in sql.split('\n').enumerate() {
        let length = line.chars().count() + 1;
        if left <= length {
            let label = format!("LINE {}: ", number + 1);
            let column = label.len() + left.saturating_sub(1);
            return format!("\n{label}{line}\n{:column$}^", "");
        }
        left -= length;
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_shown_under_its_line() {
        assert_eq!(pointed_at("select x", 8), "\nLINE 1: select x\n               ^");
        assert_eq!(pointed_at("select\n  é, x", 13), "\nLINE 2:   é, x\n             ^");
        assert_eq!(pointed_at("select", 99), "");
    }

    #[test]
    fn detail_and_hint_have_lines_of_their_own() {
        let error = TargetError::new("no").of("look-up").detail("d").hint("h");
        assert_eq!(error.to_string(), "look-up: no\ndetail: d\nhint: h");
    }
}
