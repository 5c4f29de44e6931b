//! Cuts a script into SQL commands and backslash commands, the way psql does.
//!
//! Knows just enough of SQL to tell where a command ends: quotes, dollar quotes, comments,
//! parentheses, and the bodies of functions written as BEGIN ... END. An unterminated quote is no
//! error here; the server will report it.

mod lexeme;

use lexeme::{line_length, quote_prefix, run, token_length, variable_test_length};

use super::expr::{continues_name, starts_name};
use super::number::is_space;

/// What ended a piece of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A semicolon, which is part of the text.
    Semicolon,
    /// A backslash; the cutter stands behind it.
    Backslash,
    /// The end of the script.
    End,
}

/// Walks through a script.
#[derive(Debug)]
pub struct Cutter<'s> {
    script: &'s [u8],
    at: usize,
    parentheses: u32,
    body: FunctionBody,
}

/// Recognises `CREATE [OR REPLACE] {FUNCTION | PROCEDURE} ... BEGIN ... END`.
#[derive(Debug, Default)]
struct FunctionBody {
    /// Words of the command so far.
    words: usize,
    /// Initials of the first four words, as far as they are of interest.
    initials: [u8; 4],
    /// Open BEGINs, and CASEs within them.
    depth: u32,
}

impl<'s> Cutter<'s> {
    /// Stands at the beginning of a script.
    pub fn new(script: &'s [u8]) -> Self {
        Self { script, at: 0, parentheses: 0, body: FunctionBody::default() }
    }

    /// Offset of what comes next.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Goes on behind a backslash command.
    pub fn go_on_at(&mut self, at: usize) {
        self.at = at;
    }

    fn rest(&self) -> &'s [u8] {
        &self.script[self.at..]
    }

    /// Appends the next `length` bytes and passes over them.
    fn copy(&mut self, length: usize, text: &mut Vec<u8>) {
        text.extend_from_slice(&self.rest()[..length]);
        self.at += length;
    }

    /// Reads SQL to where it ends. White space and `--` comments before its first word are dropped.
    pub fn sql(&mut self) -> (Vec<u8>, Stop) {
        let mut text = Vec::new();
        loop {
            let rest = self.rest();
            let Some(&first) = rest.first() else {
                return (text, Stop::End);
            };
            match first {
                _ if is_space(first) || rest.starts_with(b"--") => {
                    let length = if first == b'-' { line_length(rest) } else { 1 };
                    if text.is_empty() {
                        self.at += length;
                    } else {
                        self.copy(length, &mut text);
                    }
                }
                b'\\' => {
                    self.at += 1;
                    let Some(escaped @ (b';' | b':')) = rest.get(1) else {
                        return (text, Stop::Backslash);
                    };
                    self.copy(1, &mut text);
                    if *escaped == b';' {
                        self.body.words = 0;
                    }
                }
                b';' => {
                    self.copy(1, &mut text);
                    if self.parentheses == 0 && self.body.depth == 0 {
                        self.body.words = 0;
                        return (text, Stop::Semicolon);
                    }
                }
                b'(' => {
                    self.parentheses += 1;
                    self.copy(1, &mut text);
                }
                b')' => {
                    self.parentheses = self.parentheses.saturating_sub(1);
                    self.copy(1, &mut text);
                }
                _ if starts_name(first) && quote_prefix(rest).is_none() => {
                    let length = run(rest, |byte| continues_name(byte) || byte == b'$');
                    self.body.word(&rest[..length], self.parentheses);
                    self.copy(length, &mut text);
                }
                _ => match variable_test_length(rest) {
                    Some(length) => {
                        // psql asks whether the variable is set; to pgbench none of psql's ever is.
                        text.extend_from_slice(b"FALSE");
                        self.at += length;
                    }
                    None => self.copy(token_length(rest), &mut text),
                },
            }
        }
    }
}

impl FunctionBody {
    fn word(&mut self, word: &[u8], parentheses: u32) {
        const NOTED: [&[u8]; 5] = [b"create", b"or", b"replace", b"function", b"procedure"];
        let is = |other: &[u8]| word.eq_ignore_ascii_case(other);
        if self.words == 0 {
            self.initials = [0; 4];
        }
        if NOTED.into_iter().any(is)
            && let Some(initial) = self.initials.get_mut(self.words)
        {
            *initial = word[0].to_ascii_lowercase();
        }
        self.words += 1;
        let creates_function =
            matches!(self.initials, [b'c', b'f' | b'p', ..] | [b'c', b'o', b'r', b'f' | b'p']);
        if !creates_function || parentheses > 0 {
            return;
        }
        if is(b"begin") || (is(b"case") && self.depth > 0) {
            self.depth += 1;
        } else if is(b"end") {
            self.depth = self.depth.saturating_sub(1);
        }
    }
}
