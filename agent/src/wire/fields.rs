//! What an error or a notice of the server says, and how libpq prints it.
//!
//! Text that is not UTF-8 is shown with replacement characters rather than refused: an error message must
//! arrive.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// The fields of an error or a notice, still in the read buffer.
#[derive(Clone, Copy, Debug)]
pub struct ErrorFields<'a> {
    body: &'a [u8],
}

impl<'a> ErrorFields<'a> {
    /// Wraps the body of the message.
    #[must_use]
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { body }
    }

    /// The field with this code, if present.
    #[must_use]
    pub fn get(&self, code: u8) -> Option<&'a [u8]> {
        let mut rest = self.body;
        while let [field, tail @ ..] = rest {
            let end = tail.iter().position(|&byte| byte == 0)?;
            if *field == code {
                return Some(&tail[..end]);
            }
            rest = &tail[end + 1..];
        }
        None
    }

    /// The five characters of the SQLSTATE; `XX000` (internal error) if the server sent none.
    #[must_use]
    pub fn sqlstate(&self) -> [u8; 5] {
        let code: Option<[u8; 5]> = self.get(b'C').and_then(|code| code.try_into().ok());
        match code {
            Some(code) if code.iter().all(u8::is_ascii_alphanumeric) => code,
            _ => *b"XX000",
        }
    }

    /// The primary message.
    #[must_use]
    pub fn message(&self) -> Cow<'a, str> {
        self.text(b'M').unwrap_or_default()
    }

    /// An owned copy, for whoever keeps it.
    #[must_use]
    pub fn to_error(&self) -> ServerError {
        let owned = |code| self.text(code).map(Cow::into_owned);
        ServerError {
            severity: owned(b'S').unwrap_or_default(),
            sqlstate: self.sqlstate(),
            message: self.message().into_owned(),
            detail: owned(b'D'),
            hint: owned(b'H'),
            context: owned(b'W'),
            position: self.text(b'P').and_then(|position| position.parse().ok()),
            internal_query: owned(b'q'),
            internal_position: self.text(b'p').and_then(|position| position.parse().ok()),
        }
    }

    fn text(&self, code: u8) -> Option<Cow<'a, str>> {
        self.get(code).map(String::from_utf8_lossy)
    }
}

/// An error or notice of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// `ERROR`, `FATAL`, `NOTICE`, ... in the server's language.
    pub severity: String,
    sqlstate: [u8; 5],
    /// The primary message.
    pub message: String,
    /// More about it.
    pub detail: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where it happened inside the server (call stack of functions).
    pub context: Option<String>,
    /// Where it is in the statement, in characters from 1.
    pub position: Option<usize>,
    internal_query: Option<String>,
    internal_position: Option<usize>,
}

impl ServerError {
    /// The SQLSTATE.
    #[must_use]
    pub fn sqlstate(&self) -> &str {
        std::str::from_utf8(&self.sqlstate).unwrap_or("XX000")
    }

    /// The text that libpq gives for it at default verbosity, without the final newline; with the
    /// statement's text at hand it shows line and caret.
    #[must_use]
    pub fn render(&self, query: Option<&[u8]>) -> String {
        let mut text = String::new();
        if !self.severity.is_empty() {
            let _ = write!(text, "{}:  ", self.severity);
        }
        text.push_str(&self.message);
        let query = query.map(String::from_utf8_lossy);
        match (self.position, self.internal_position) {
            (Some(position), _) => match query {
                Some(query) => point_at(&mut text, &query, position),
                None => {
                    let _ = write!(text, " at character {position}");
                }
            },
            (None, Some(position)) => match &self.internal_query {
                Some(query) => point_at(&mut text, query, position),
                None => {
                    let _ = write!(text, " at character {position}");
                }
            },
            (None, None) => {}
        }
        let extra =
            [("DETAIL", &self.detail), ("HINT", &self.hint), ("QUERY", &self.internal_query)];
        for (label, value) in extra {
            if let Some(value) = value {
                let _ = write!(text, "\n{label}:  {value}");
            }
        }
        if let Some(context) = self.context.as_ref().filter(|_| self.is_error()) {
            let _ = write!(text, "\nCONTEXT:  {context}");
        }
        text
    }

    /// Whether it is an error rather than a remark, by its SQLSTATE class.
    fn is_error(&self) -> bool {
        !matches!(&self.sqlstate[..2], b"00" | b"01" | b"02")
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(None))
    }
}

/// Longest part of a line that is shown around an error's position, in characters, as in libpq.
const LINE_WIDTH: usize = 60;

/// How much of a longer line is shown to the right of the position at least.
const RIGHT_OF_IT: usize = 10;

/// Appends the line of `query` that holds the character `position` (from 1), with a caret under it.
fn point_at(text: &mut String, query: &str, position: usize) {
    let target = position.saturating_sub(1);
    let chars: Vec<char> = query.chars().collect();
    let Some((number, line, column)) = line_of(&chars, target) else { return };
    // Cut on the right if the position stays visible, else on both sides.
    let end = if line.len() <= LINE_WIDTH {
        line.len()
    } else if column + RIGHT_OF_IT <= LINE_WIDTH {
        LINE_WIDTH
    } else {
        line.len().min(column + RIGHT_OF_IT)
    };
    let begin = end.saturating_sub(LINE_WIDTH);
    let before = if begin > 0 { "..." } else { "" };
    let after = if end < line.len() { "..." } else { "" };
    let shown: String = line[begin..end].iter().map(|&c| if c == '\t' { ' ' } else { c }).collect();
    let label = format!("LINE {number}: {before}");
    let _ = write!(text, "\n{label}{shown}{after}\n");
    text.extend(std::iter::repeat_n(' ', label.chars().count() + column - begin));
    text.push('^');
}

/// The line that holds the character `target` (from 0): its number, its characters, the column of the target.
/// A line ends with LF, CR or both.
fn line_of(chars: &[char], target: usize) -> Option<(usize, &[char], usize)> {
    let (mut number, mut begin) = (1, 0);
    let mut end = chars.len();
    for (at, c) in chars.iter().enumerate().filter(|(_, c)| matches!(c, '\r' | '\n')) {
        if at >= target {
            end = at;
            break;
        }
        let second_half = *c == '\n' && at > 0 && chars[at - 1] == '\r';
        number += usize::from(!second_half);
        begin = at + 1;
    }
    (target <= chars.len()).then(|| (number, &chars[begin..end], target - begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(body: &[u8]) -> ServerError {
        ErrorFields::new(body).to_error()
    }

    #[test]
    fn an_error_reads_as_libpq_prints_it() {
        let body = b"SFATAL\0VFATAL\0C28P01\0Mno entry\0Dthe detail\0Hthe hint\0Wthe context\0\0";
        let error = error(body);
        assert_eq!(error.sqlstate(), "28P01");
        assert_eq!(
            error.to_string(),
            "FATAL:  no entry\nDETAIL:  the detail\nHINT:  the hint\nCONTEXT:  the context"
        );
    }

    #[test]
    fn a_position_is_shown_under_its_line() {
        let error = error(b"SERROR\0C42601\0Msyntax error at or near \"x\"\0P14\0\0");
        assert_eq!(
            error.render(Some(b"select 1\n  , x y")),
            "ERROR:  syntax error at or near \"x\"\nLINE 2:   , x y\n            ^"
        );
        assert_eq!(error.to_string(), "ERROR:  syntax error at or near \"x\" at character 14");
    }

    #[test]
    fn a_missing_or_malformed_sqlstate_counts_as_internal_error() {
        assert_eq!(error(b"SERROR\0Mx\0\0").sqlstate(), "XX000");
        assert_eq!(error(b"C123\0\0").sqlstate(), "XX000");
        assert_eq!(error(b"C1234\xff\0\0").sqlstate(), "XX000");
        assert_eq!(error(b"").sqlstate(), "XX000");
    }
}
