//! Operators on values none of which is NULL.
//!
//! If either operand is a double both become one, else both become integers; remainders, shifts and
//! bit operators always work on integers. Doubles follow IEEE without any check.

use super::code::Binary;
use super::failure::{EvalFailure, Evaluated};
use crate::script::value::Value;

/// Which of several values is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranked {
    /// The smallest.
    Least,
    /// The largest.
    Greatest,
}

impl Binary {
    /// The operator's value.
    pub fn apply(self, left: Value, right: Value) -> Evaluated {
        if self.accepts_doubles() && (left.is_double() || right.is_double()) {
            let left = left.as_double()?;
            return Ok(self.on_doubles(left, right.as_double()?));
        }
        let left = left.as_int()?;
        self.on_ints(left, right.as_int()?)
    }

    fn accepts_doubles(self) -> bool {
        use Binary::{Add, Div, Eq, Le, Lt, Mul, Ne, Sub};
        matches!(self, Add | Sub | Mul | Div | Lt | Le | Eq | Ne)
    }

    /// The value for two integers.
    #[inline]
    pub fn on_ints(self, left: i64, right: i64) -> Evaluated {
        let checked = |value: Option<i64>| value.ok_or(EvalFailure::OutOfRange(self));
        Ok(Value::Int(match self {
            Self::Add => checked(left.checked_add(right))?,
            Self::Sub => checked(left.checked_sub(right))?,
            Self::Mul => checked(left.checked_mul(right))?,
            Self::Div | Self::Mod if right == 0 => return Err(EvalFailure::DivisionByZero.into()),
            Self::Div => checked(left.checked_div(right))?,
            Self::Mod => left.wrapping_rem(right),
            Self::BitAnd => left & right,
            Self::BitOr => left | right,
            Self::BitXor => left ^ right,
            // Counts wrap at 64 as the machine's shifts do.
            Self::Shl => left.wrapping_shl(low_bits(right)),
            Self::Shr => left.wrapping_shr(low_bits(right)),
            Self::Lt => return Ok(Value::Bool(left < right)),
            Self::Le => return Ok(Value::Bool(left <= right)),
            Self::Eq => return Ok(Value::Bool(left == right)),
            Self::Ne => return Ok(Value::Bool(left != right)),
        }))
    }

    #[allow(clippy::float_cmp)]
    fn on_doubles(self, left: f64, right: f64) -> Value {
        match self {
            Self::Add => Value::Double(left + right),
            Self::Sub => Value::Double(left - right),
            Self::Mul => Value::Double(left * right),
            Self::Div => Value::Double(left / right),
            Self::Lt => Value::Bool(left < right),
            Self::Le => Value::Bool(left <= right),
            Self::Eq => Value::Bool(left == right),
            // The rest works on integers.
            _ => Value::Bool(left != right),
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn low_bits(count: i64) -> u32 {
    count as u32
}

/// The least or greatest of one or more values.
pub fn extreme(values: &[Value], which: Ranked) -> Evaluated {
    // A value that compares with neither order, that is NaN, takes the place of what came before.
    fn pick<T: PartialOrd>(which: Ranked, best: T, value: T) -> T {
        let keep = match which {
            Ranked::Least => best < value,
            Ranked::Greatest => best > value,
        };
        if keep { best } else { value }
    }
    let [first, rest @ ..] = values else {
        return Ok(Value::Null);
    };
    if values.iter().any(|value| value.is_double()) {
        let mut best = first.as_double()?;
        for value in rest {
            best = pick(which, best, value.as_double()?);
        }
        return Ok(Value::Double(best));
    }
    let mut best = first.as_int()?;
    for value in rest {
        best = pick(which, best, value.as_int()?);
    }
    Ok(Value::Int(best))
}
