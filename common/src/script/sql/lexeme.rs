//! Lengths of what psql's lexer takes as one piece: quotes, comments, numbers, names.
//!
//! Every function gets the text from the piece on and never looks behind its end; an unterminated
//! piece reaches to the end of the text.

use crate::script::expr::{continues_name, starts_name};
use crate::script::number::is_space;

/// Length of the quote, comment, number or other token at the beginning of `text`, which is neither
/// empty nor the beginning of anything that [`Cutter::sql`] looks at itself.
pub fn token_length(text: &[u8]) -> usize {
    match text[0] {
        b'\'' => 1 + quoted_length(&text[1..], b'\''),
        b'"' => 1 + quoted_length(&text[1..], b'"'),
        b'/' if text.get(1) == Some(&b'*') => comment_length(text),
        b'$' => dollar_length(text),
        b'0'..=b'9' => number_length(text),
        b'.' => match text.get(1) {
            Some(b'0'..=b'9') => number_length(text),
            Some(b'.') => 2,
            _ => 1,
        },
        b':' => match run(&text[1..], continues_name) {
            0 => 1 + usize::from(text.get(1) == Some(&b':')),
            name => 1 + name,
        },
        first => match quote_prefix(text) {
            Some(2) if first.eq_ignore_ascii_case(&b'e') => 2 + escaped_length(&text[2..]),
            Some(length) => length + quoted_length(&text[length..], text[length - 1]),
            None => 1,
        },
    }
}

/// Length of `E'`, `B'`, `X'`, `N'`, `U&'` or `U&"` at the beginning of `text`.
pub fn quote_prefix(text: &[u8]) -> Option<usize> {
    match text {
        [b'e' | b'E' | b'b' | b'B' | b'x' | b'X' | b'n' | b'N', b'\'', ..] => Some(2),
        [b'u' | b'U', b'&', b'\'' | b'"', ..] => Some(3),
        _ => None,
    }
}

/// Length of `:{?name}` at the beginning of `text`.
pub fn variable_test_length(text: &[u8]) -> Option<usize> {
    let name = text.strip_prefix(b":{?")?;
    let length = run(name, continues_name);
    (length > 0 && name.get(length) == Some(&b'}')).then_some(length + 4)
}

/// Length of the bytes at the beginning of `text` that belong to something.
pub fn run(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !belongs(byte)).unwrap_or(text.len())
}

/// Length up to the line break.
pub fn line_length(text: &[u8]) -> usize {
    run(text, |byte| byte != b'\n' && byte != b'\r')
}

/// Length up to and with the closing quote. A doubled quote closes and opens again.
fn quoted_length(text: &[u8], quote: u8) -> usize {
    text.iter().position(|&byte| byte == quote).map_or(text.len(), |end| end + 1)
}

/// Length up to and with the closing quote of a string in which a backslash escapes; white space
/// with a line break in it, then a quote, continue the string.
fn escaped_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' => at = (at + 1).min(text.len()),
            b'\'' if text.get(at) == Some(&b'\'') => at += 1,
            b'\'' => match continuation_length(&text[at..]) {
                Some(length) => at += length,
                None => return at,
            },
            _ => {}
        }
    }
    at
}

/// Length of white space and comments with at least one line break, up to and with a quote.
fn continuation_length(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut broken = false;
    loop {
        match text.get(at..)? {
            [b'\'', ..] if broken => return Some(at + 1),
            [b'-', b'-', ..] => at += line_length(&text[at..]),
            [byte, ..] if is_space(*byte) => {
                broken |= matches!(byte, b'\n' | b'\r');
                at += 1;
            }
            _ => return None,
        }
    }
}

/// Length of a block comment, which may contain others.
fn comment_length(text: &[u8]) -> usize {
    let mut at = 2;
    let mut depth = 1;
    while depth > 0 {
        match &text[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            [_, ..] => at += 1,
            [] => break,
        }
    }
    at
}

/// Length of a dollar-quoted string, of a parameter, or of a lone dollar.
fn dollar_length(text: &[u8]) -> usize {
    let digits = run(&text[1..], |byte| byte.is_ascii_digit());
    if digits > 0 {
        return 1 + digits + junk_length(&text[1 + digits..]);
    }
    let tag = 1 + run(&text[1..], continues_name);
    if text.get(tag) != Some(&b'$') {
        return 1;
    }
    let delimiter = &text[..=tag];
    let body = &text[delimiter.len()..];
    let end = body.windows(delimiter.len()).position(|window| window == delimiter);
    end.map_or(text.len(), |end| end + 2 * delimiter.len())
}

/// Length of a number and of what is wrongly glued to it. `text` begins with a digit, or with a point
/// and a digit.
fn number_length(text: &[u8]) -> usize {
    let mut length = digits_length(text);
    // Two points are a token of their own.
    if text.get(length) == Some(&b'.') && (length == 0 || text.get(length + 1) != Some(&b'.')) {
        length += 1;
        length += digits_length(&text[length..]);
    }
    if let Some([b'e' | b'E', exponent @ ..]) = text.get(length..) {
        let sign = usize::from(matches!(exponent.first(), Some(b'+' | b'-')));
        let digits = digits_length(&exponent[sign..]);
        // A sign without digits belongs to the number too, and so begins no comment.
        if sign + digits > 0 {
            length += 1 + sign + digits;
        }
    }
    length + junk_length(&text[length..])
}

/// Length of digits, between which single underscores may stand.
fn digits_length(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        match &text[length..] {
            [digit, ..] if digit.is_ascii_digit() => length += 1,
            [b'_', digit, ..] if length > 0 && digit.is_ascii_digit() => length += 2,
            _ => return length,
        }
    }
}

fn junk_length(text: &[u8]) -> usize {
    if text.first().is_some_and(|&byte| starts_name(byte)) {
        run(text, |byte| continues_name(byte) || byte == b'$')
    } else {
        0
    }
}
