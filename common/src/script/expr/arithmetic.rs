//! Operators on values none of which is NULL.
//!
//! If either operand is a double both become one, else both become integers; remainders, shifts and
//! bit operators always work on integers. Doubles follow IEEE without any check.

use super::code::Binary;
use super::failure::{EvalFailure, Evaluated};
use crate::script::packed::Packed;
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
        let (left, right) = (left.as_int()?, right.as_int()?);
        self.on_ints(left, right)
            .map(Packed::value)
            .ok_or_else(|| self.failure_on_ints(right).into())
    }

    fn accepts_doubles(self) -> bool {
        use Binary::{Add, Div, Eq, Le, Lt, Mul, Ne, Sub};
        matches!(self, Add | Sub | Mul | Div | Lt | Le | Eq | Ne)
    }

    /// The value for two integers; none for what [`Binary::failure_on_ints`] names. Inlined, so that the value
    /// never leaves the registers.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub fn on_ints(self, left: i64, right: i64) -> Option<Packed> {
        Some(Packed::int(match self {
            Self::Add => left.checked_add(right)?,
            Self::Sub => left.checked_sub(right)?,
            Self::Mul => left.checked_mul(right)?,
            Self::Div => left.checked_div(right)?,
            Self::Mod if right == 0 => return None,
            Self::Mod => left.wrapping_rem(right),
            Self::BitAnd => left & right,
            Self::BitOr => left | right,
            Self::BitXor => left ^ right,
            // Counts wrap at 64 as the machine's shifts do.
            Self::Shl => left.wrapping_shl(low_bits(right)),
            Self::Shr => left.wrapping_shr(low_bits(right)),
            Self::Lt => return Some(Packed::bool(left < right)),
            Self::Le => return Some(Packed::bool(left <= right)),
            Self::Eq => return Some(Packed::bool(left == right)),
            Self::Ne => return Some(Packed::bool(left != right)),
        }))
    }

    /// Why two integers have no value.
    #[cold]
    pub fn failure_on_ints(self, right: i64) -> EvalFailure {
        let divides = matches!(self, Self::Div | Self::Mod);
        if divides && right == 0 {
            EvalFailure::DivisionByZero
        } else {
            EvalFailure::OutOfRange(self)
        }
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
pub fn extreme(values: &[Packed], which: Ranked) -> Evaluated {
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
    if values.iter().any(|value| value.value().is_double()) {
        let mut best = first.value().as_double()?;
        for value in rest {
            best = pick(which, best, value.value().as_double()?);
        }
        return Ok(Value::Double(best));
    }
    let mut best = first.value().as_int()?;
    for value in rest {
        best = pick(which, best, value.value().as_int()?);
    }
    Ok(Value::Int(best))
}
