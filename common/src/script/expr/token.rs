//! The words of an expression.
//!
//! Works on the whole script from an offset on, because an expression ends where its line does and a
//! backslash before the line break continues it. Knows no grammar.

use crate::script::number::{parse_double, parse_int};

/// One word of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'s> {
    /// An integer.
    Int(i64),
    /// The one integer that is legal only behind a minus.
    MinusMin,
    /// A double.
    Double(f64),
    /// A variable, without its colon.
    Variable(&'s [u8]),
    /// A word that is no keyword.
    Name(&'s [u8]),
    /// A keyword.
    Word(Word),
    /// An operator, parenthesis or comma; two-character ones as such.
    Symbol(&'static str),
    /// The end of the line or of the script.
    End,
}

/// Keywords, case-insensitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Word {
    And,
    Or,
    Not,
    Is,
    IsNull,
    NotNull,
    Case,
    When,
    Then,
    Else,
    End,
    True,
    False,
    Null,
}

const WORDS: [(&str, Word); 14] = [
    ("and", Word::And),
    ("or", Word::Or),
    ("not", Word::Not),
    ("is", Word::Is),
    ("isnull", Word::IsNull),
    ("notnull", Word::NotNull),
    ("case", Word::Case),
    ("when", Word::When),
    ("then", Word::Then),
    ("else", Word::Else),
    ("end", Word::End),
    ("true", Word::True),
    ("false", Word::False),
    ("null", Word::Null),
];

/// Longest first, so that the first match is the longest one.
const SYMBOLS: [&str; 22] = [
    "<=", ">=", "<>", "!=", "<<", ">>", "+", "-", "*", "/", "%", "=", "<", ">", "|", "&", "#", "~",
    "(", ")", ",", "\n",
];

/// A word that cannot be one; the lexer has passed over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenError<'s> {
    /// What is wrong.
    pub message: &'static str,
    /// The text in question.
    pub text: &'s [u8],
}

/// Reads words from a script.
#[derive(Clone, Debug)]
pub struct Tokens<'s> {
    script: &'s [u8],
    at: usize,
}

/// First byte of a name: an ASCII letter, `_` or anything beyond ASCII.
pub fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

/// Further byte of a name.
pub fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

/// Length of a backslash directly before a line break, at the beginning of `text`.
pub fn continuation(text: &[u8]) -> Option<usize> {
    match text {
        [b'\\', b'\n', ..] => Some(2),
        [b'\\', b'\r', b'\n', ..] => Some(3),
        _ => None,
    }
}

/// White space within a line.
pub fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c')
}

impl<'s> Tokens<'s> {
    /// Begins at an offset of the script.
    pub fn new(script: &'s [u8], at: usize) -> Self {
        Self { script, at }
    }

    /// Offset behind the last word.
    pub fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'s [u8] {
        &self.script[self.at..]
    }

    fn take(&mut self, length: usize) -> &'s [u8] {
        let (word, _) = self.rest().split_at(length);
        self.at += length;
        word
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            match rest.first() {
                Some(&byte) if is_blank(byte) => self.at += 1,
                _ => match continuation(rest) {
                    Some(length) => self.at += length,
                    None => break,
                },
            }
        }
    }

    /// The next word. Behind [`Token::End`] at a line break the next line begins.
    pub fn next(&mut self) -> Result<Token<'s>, TokenError<'s>> {
        self.skip_blanks();
        let rest = self.rest();
        let Some(&first) = rest.first() else {
            return Ok(Token::End);
        };
        if first == b':' && rest.get(1).is_some_and(|&byte| continues_name(byte)) {
            return Ok(Token::Variable(&self.take(1 + name_length(&rest[1..]))[1..]));
        }
        if starts_name(first) {
            return Ok(word_or_name(self.take(name_length(rest))));
        }
        if first.is_ascii_digit() || (first == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit))
        {
            return number(self.take(number_length(rest)));
        }
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(symbol.as_bytes())) {
            self.take(symbol.len());
            return Ok(if *symbol == "\n" { Token::End } else { Token::Symbol(symbol) });
        }
        Err(TokenError { message: "unexpected character", text: self.take(1) })
    }
}

fn name_length(text: &[u8]) -> usize {
    text.iter().position(|&byte| !continues_name(byte)).unwrap_or(text.len())
}

fn digits_length(text: &[u8]) -> usize {
    text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len())
}

/// Length of the number at the beginning of `text`: digits, a point with further digits, an exponent
/// that has digits.
fn number_length(text: &[u8]) -> usize {
    let mut length = digits_length(text);
    if text.get(length) == Some(&b'.') {
        length += 1 + digits_length(&text[length + 1..]);
    }
    if let Some([b'e' | b'E', exponent @ ..]) = text.get(length..) {
        let sign = usize::from(matches!(exponent.first(), Some(b'+' | b'-')));
        match digits_length(&exponent[sign..]) {
            0 => {}
            digits => length += 1 + sign + digits,
        }
    }
    length
}

fn number(text: &[u8]) -> Result<Token<'_>, TokenError<'_>> {
    if text == b"9223372036854775808" {
        return Ok(Token::MinusMin);
    }
    let (value, message) = if text.iter().all(u8::is_ascii_digit) {
        (parse_int(text).map(Token::Int), "bigint constant overflow")
    } else {
        (parse_double(text).map(Token::Double), "double constant overflow")
    };
    value.ok_or(TokenError { message, text })
}

fn word_or_name(text: &[u8]) -> Token<'_> {
    WORDS
        .iter()
        .find(|(word, _)| text.eq_ignore_ascii_case(word.as_bytes()))
        .map_or(Token::Name(text), |&(_, word)| Token::Word(word))
}
