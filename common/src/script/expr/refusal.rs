//! Errors of the grammar and where they stand.

use super::token::{Token, TokenError, Tokens};

/// Why a line holds no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError {
    /// What is wrong.
    pub message: &'static str,
    /// The word in question, where it says more than the position.
    pub more: Option<Vec<u8>>,
    /// Offset of the last byte of the offending word.
    pub at: usize,
    /// Offset behind the whole line.
    pub line_end: usize,
}

/// Why a word is refused: a message and the name it is about, or plainly a syntax error.
pub struct Refused(pub &'static str, pub Option<&'static str>);

/// Just that.
pub const SYNTAX: Refused = Refused("syntax error", None);

impl Refused {
    /// The error at the last word read, which is `name` if it is one.
    pub fn at(self, tokens: &Tokens<'_>, name: Option<&[u8]>) -> ExprError {
        let unknown = (self.0 == UNKNOWN_FUNCTION).then_some(name).flatten();
        let more = self.1.map(str::as_bytes).or(unknown).map(<[u8]>::to_vec);
        let at = tokens.at().saturating_sub(1);
        ExprError { message: self.0, more, at, line_end: tokens.at() }
    }
}

/// A word that is none, as an error.
pub fn token_error(error: &TokenError<'_>, tokens: &Tokens<'_>) -> ExprError {
    let at = tokens.at().saturating_sub(1);
    let more = Some(error.text.to_vec());
    ExprError { message: error.message, more, at, line_end: tokens.at() }
}

/// pgbench reads on to the end of the line to show all of it; a word that is none, found on the way,
/// takes the place of the error that was to be reported.
pub fn last_error(mut error: ExprError, mut tokens: Tokens<'_>) -> ExprError {
    loop {
        match tokens.next() {
            Ok(Token::End) => break,
            Ok(_) => {}
            Err(other) => error = token_error(&other, &tokens),
        }
    }
    error.line_end = tokens.at();
    error
}

/// A name that no function has; the message goes on with the name.
pub const UNKNOWN_FUNCTION: &str = "unexpected function name";
