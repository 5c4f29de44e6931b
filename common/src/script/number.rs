//! Numbers as C reads and pgbench prints them: `strtod` with its range errors, `%.15g`, `atoi`.
//!
//! Knows bytes only. Nothing here allocates, except for reading a hexadecimal or very long literal.

use std::fmt::{self, Write as _};

use bytes::BufMut;

/// Significant digits of a double in text (C's `DBL_DIG`).
const DIGITS: i32 = 15;

/// Whether C's `isspace` holds in the C locale.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0b' | b'\x0c' | b'\r')
}

fn skip_spaces(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| !is_space(byte)).unwrap_or(text.len());
    &text[start..]
}

/// Splits off a sign; true for minus.
fn take_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

/// Whether a string is to be read as an integer: blanks, a sign, digits and nothing else. A sign
/// alone counts, and then fails to convert.
pub fn looks_like_int(text: &[u8]) -> bool {
    let (_, digits) = take_sign(skip_spaces(text));
    digits.iter().all(u8::is_ascii_digit)
}

/// Reads what [`looks_like_int`] accepts; `None` if it does not fit or has no digit.
pub fn parse_int(text: &[u8]) -> Option<i64> {
    let digits = std::str::from_utf8(skip_spaces(text)).ok()?;
    digits.parse().ok()
}

/// C's `atoi` on a 32-bit integer: leading blanks, a sign, then digits up to anything else.
#[allow(clippy::cast_possible_truncation)]
pub fn atoi(text: &[u8]) -> i32 {
    let (negative, digits) = take_sign(skip_spaces(text));
    let end = digits.iter().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    // strtol saturates at 64 bits, atoi then cuts to 32.
    let value = digits[..end].iter().fold(0i64, |value, digit| {
        let digit = i64::from(digit - b'0');
        value.saturating_mul(10).saturating_add(if negative { -digit } else { digit })
    });
    value as i32
}

/// Reads a whole string as a double the way C's `strtod` does; `None` for anything else and for
/// values outside the range of normal doubles (where C sets `ERANGE`).
pub fn parse_double(text: &[u8]) -> Option<f64> {
    let (negative, body) = take_sign(skip_spaces(text));
    let magnitude = parse_magnitude(body)?;
    Some(if negative { -magnitude } else { magnitude })
}

fn parse_magnitude(body: &[u8]) -> Option<f64> {
    let is = |word: &[u8]| body.eq_ignore_ascii_case(word);
    if is(b"inf") || is(b"infinity") {
        return Some(f64::INFINITY);
    }
    if let Some((word, payload)) = body.split_at_checked(3)
        && word.eq_ignore_ascii_case(b"nan")
    {
        let inner = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let tagged = matches!(payload, [b'(', middle @ .., b')'] if middle.iter().all(inner));
        return (payload.is_empty() || tagged).then_some(f64::NAN);
    }
    if let [b'0', b'x' | b'X', digits @ ..] = body {
        return parse_hex(digits);
    }
    let (whole, fraction, exponent) = split_literal(body, u8::is_ascii_digit, b'e')?;
    let digits = || whole.iter().chain(fraction);
    if digits().next().is_none() || exponent.is_some_and(|e| parse_exponent(e).is_none()) {
        return None;
    }
    let value: f64 = std::str::from_utf8(body).ok()?.parse().ok()?;
    in_range(value, digits().all(|&digit| digit == b'0'))
}

/// Whole digits, fraction digits and the exponent's text, if the form is right.
type Literal<'t> = (&'t [u8], &'t [u8], Option<&'t [u8]>);

fn split_literal(body: &[u8], digit: fn(&u8) -> bool, mark: u8) -> Option<Literal<'_>> {
    let run = |text: &[u8]| text.iter().position(|b| !digit(b)).unwrap_or(text.len());
    let (whole, rest) = body.split_at(run(body));
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => rest.split_at(run(rest)),
        _ => (&rest[..0], rest),
    };
    match rest {
        [] => Some((whole, fraction, None)),
        [first, exponent @ ..] if first.eq_ignore_ascii_case(&mark) => {
            Some((whole, fraction, Some(exponent)))
        }
        _ => None,
    }
}

/// A signed exponent, saturated far outside the range of doubles.
fn parse_exponent(text: &[u8]) -> Option<i32> {
    const LIMIT: i32 = 1_000_000;
    let (negative, digits) = take_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |v, d| (v * 10 + i32::from(d - b'0')).min(LIMIT));
    Some(if negative { -value } else { value })
}

/// A hexadecimal float behind its `0x`.
fn parse_hex(body: &[u8]) -> Option<f64> {
    let (whole, fraction, exponent) = split_literal(body, u8::is_ascii_hexdigit, b'p')?;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut scale = exponent.map_or(Some(0), parse_exponent)?;
    // 60 bits and a sticky one are enough to round correctly to 53.
    let mut mantissa = 0u64;
    for (place, &digit) in whole.iter().chain(fraction).enumerate() {
        let value = u64::from((digit as char).to_digit(16)?);
        if mantissa >> 56 == 0 {
            mantissa = mantissa << 4 | value;
            scale -= if place >= whole.len() { 4 } else { 0 };
        } else {
            mantissa |= u64::from(value != 0);
            scale += if place < whole.len() { 4 } else { 0 };
        }
    }
    if mantissa == 0 {
        return Some(0.0);
    }
    let half = scale.clamp(-4000, 4000) / 2;
    let rest = scale.clamp(-4000, 4000) - half;
    in_range(mantissa as f64 * 2f64.powi(half) * 2f64.powi(rest), false)
}

fn in_range(value: f64, is_zero: bool) -> Option<f64> {
    (value.is_normal() || is_zero).then_some(value)
}

/// Appends an integer in decimal.
#[inline]
pub fn write_int(value: i64, out: &mut impl BufMut) {
    out.put_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a double with 15 significant digits, as C's `%.15g` does.
pub fn write_double(value: f64, out: &mut impl BufMut) {
    if value.is_nan() {
        return out.put_slice(b"NaN");
    }
    if value.is_infinite() {
        return out.put_slice(if value > 0.0 { b"Infinity" } else { b"-Infinity" });
    }
    let mut text = Scratch::default();
    write!(text, "{value:.14e}").expect("a double in scientific notation fits the scratch space");
    let text = text.as_bytes();
    let (sign, text) = text.split_at(usize::from(text[0] == b'-'));
    let mark = text.iter().position(|&b| b == b'e').expect("scientific notation has an exponent");
    let exponent = atoi(&text[mark + 1..]);
    // The form is D.DDDDDDDDDDDDDD; trailing zeros are dropped in either style.
    let mut digits = [0; DIGITS as usize];
    digits[0] = text[0];
    digits[1..].copy_from_slice(&text[2..mark]);
    let last = digits.iter().rposition(|&digit| digit != b'0').unwrap_or(0);
    let digits = &digits[..=last];
    out.put_slice(sign);
    if (-4..DIGITS).contains(&exponent) {
        write_fixed(digits, exponent, out);
    } else {
        write_scientific(digits, exponent, out);
    }
}

fn write_fixed(digits: &[u8], exponent: i32, out: &mut impl BufMut) {
    let Ok(exponent) = usize::try_from(exponent) else {
        out.put_slice(b"0.");
        out.put_bytes(b'0', usize::try_from(-1 - exponent).unwrap_or_default());
        return out.put_slice(digits);
    };
    let whole = exponent + 1;
    if digits.len() > whole {
        out.put_slice(&digits[..whole]);
        out.put_u8(b'.');
        out.put_slice(&digits[whole..]);
    } else {
        out.put_slice(digits);
        out.put_bytes(b'0', whole - digits.len());
    }
}

fn write_scientific(digits: &[u8], exponent: i32, out: &mut impl BufMut) {
    out.put_slice(&digits[..1]);
    if digits.len() > 1 {
        out.put_u8(b'.');
        out.put_slice(&digits[1..]);
    }
    out.put_u8(b'e');
    out.put_u8(if exponent < 0 { b'-' } else { b'+' });
    if exponent.abs() < 10 {
        out.put_u8(b'0');
    }
    write_int(i64::from(exponent.abs()), out);
}

/// Room for one double in scientific notation.
#[derive(Default)]
struct Scratch {
    bytes: [u8; 32],
    used: usize,
}

impl Scratch {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.used]
    }
}

impl fmt::Write for Scratch {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.used..self.used + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.used += text.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
