//! The four types of the script language and how they change into each other.
//!
//! A failed coercion says why in pgbench's words. Knows no variables and no functions.

use bytes::BufMut;

use super::expr::{EvalFailure, Evaluated};
use super::number::{looks_like_int, parse_double, parse_int, write_double, write_int};

/// A value of an expression. Two whole words: with a tag of one byte the parts of a value would be
/// copied one by one, at odd addresses.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(u64)]
pub enum Value {
    /// No value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A double.
    Double(f64),
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Type {
    Null,
    Boolean,
    Int,
    Double,
}

impl Type {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int => "int",
            Self::Double => "double",
        }
    }
}

/// Why a string variable has no value in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is empty.
    Empty,
    /// It looks like an integer and does not fit 64 bits.
    IntRange,
    /// It looks like an integer and has no digits.
    IntSyntax,
    /// It is neither a keyword nor a number.
    Malformed,
}

impl Value {
    /// Its type.
    #[must_use]
    pub fn kind(self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Boolean,
            Self::Int(_) => Type::Int,
            Self::Double(_) => Type::Double,
        }
    }

    /// Whether a condition holds: true, or a number other than zero.
    #[must_use]
    pub fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(truth) => truth,
            Self::Int(number) => number != 0,
            Self::Double(number) => number != 0.0,
        }
    }

    /// Appends the text that SQL and the shell see.
    #[inline]
    pub fn write(self, out: &mut impl BufMut) {
        match self {
            Self::Int(number) => write_int(number, out),
            Self::Null => out.put_slice(b"NULL"),
            Self::Bool(true) => out.put_slice(b"true"),
            Self::Bool(false) => out.put_slice(b"false"),
            Self::Double(number) => write_double(number, out),
        }
    }

    /// Reads a string as expressions do: a keyword, an integer, or else a double.
    pub fn from_text(text: &[u8]) -> Result<Self, Unreadable> {
        let is = |word: &[u8]| text.eq_ignore_ascii_case(word);
        let begins = |word: &[u8]| word.len() >= text.len() && is(&word[..text.len()]);
        if text.is_empty() {
            Err(Unreadable::Empty)
        } else if is(b"null") {
            Ok(Self::Null)
        } else if begins(b"true") || begins(b"yes") || is(b"on") {
            Ok(Self::Bool(true))
        } else if begins(b"false") || begins(b"no") || is(b"off") || is(b"of") {
            Ok(Self::Bool(false))
        } else if looks_like_int(text) {
            let has_digits = text.last().is_some_and(u8::is_ascii_digit);
            let reason = if has_digits { Unreadable::IntRange } else { Unreadable::IntSyntax };
            parse_int(text).map(Self::Int).ok_or(reason)
        } else {
            parse_double(text).map(Self::Double).ok_or(Unreadable::Malformed)
        }
    }

    /// The truth value; numbers are none.
    #[inline]
    pub(crate) fn as_bool(self) -> Evaluated<bool> {
        match self {
            Self::Bool(truth) => Ok(truth),
            other => Err(EvalFailure::Coercion { from: other.kind(), to: Type::Boolean }.into()),
        }
    }

    /// The integer; doubles are rounded half to even.
    #[inline]
    pub(crate) fn as_int(self) -> Evaluated<i64> {
        match self {
            Self::Int(number) => Ok(number),
            Self::Double(number) => round_to_int(number),
            other => Err(EvalFailure::Coercion { from: other.kind(), to: Type::Int }.into()),
        }
    }

    /// The double.
    #[inline]
    pub(crate) fn as_double(self) -> Evaluated<f64> {
        match self {
            Self::Double(number) => Ok(number),
            Self::Int(number) => Ok(number as f64),
            other => Err(EvalFailure::Coercion { from: other.kind(), to: Type::Double }.into()),
        }
    }

    /// Whether it is of type double, which decides how mixed arithmetic is done.
    #[inline]
    pub(crate) fn is_double(self) -> bool {
        matches!(self, Self::Double(_))
    }
}

#[allow(clippy::cast_possible_truncation)]
fn round_to_int(number: f64) -> Evaluated<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let rounded = number.round_ties_even();
    if (-LIMIT..LIMIT).contains(&rounded) {
        Ok(rounded as i64)
    } else {
        Err(EvalFailure::IntOverflow(rounded).into())
    }
}
