//! A value as it lies in variables and on the stack: two plain words.
//!
//! A [`Value`] is copied as one piece of 16 bytes, and a processor that has just written its halves has to wait
//! before it can read it so. Two integers are read and written one by one, and travel in registers.

use super::value::Value;

/// See the module. Also what a variable holds that has no value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packed {
    kind: u64,
    bits: u64,
}

const NULL: u64 = 0;
const BOOL: u64 = 1;
const INT: u64 = 2;
const DOUBLE: u64 = 3;
const UNSET: u64 = 4;
const TEXT: u64 = 5;

impl Packed {
    /// No value.
    pub const NULL: Self = Self { kind: NULL, bits: 0 };
    /// Of a variable: it does not exist.
    pub const UNSET: Self = Self { kind: UNSET, bits: 0 };
    /// Of a variable: a string from outside.
    pub const TEXT: Self = Self { kind: TEXT, bits: 0 };

    #[inline]
    pub fn int(number: i64) -> Self {
        Self { kind: INT, bits: number.cast_unsigned() }
    }

    #[inline]
    pub fn bool(truth: bool) -> Self {
        Self { kind: BOOL, bits: u64::from(truth) }
    }

    /// The number, if it is an integer.
    #[inline]
    pub fn as_int(self) -> Option<i64> {
        (self.kind == INT).then_some(self.bits.cast_signed())
    }

    #[inline]
    pub fn is_null(self) -> bool {
        self.kind == NULL
    }

    /// It is neither a string nor nothing.
    #[inline]
    pub fn is_value(self) -> bool {
        self.kind <= DOUBLE
    }

    #[inline]
    pub fn is_text(self) -> bool {
        self.kind == TEXT
    }

    #[inline]
    pub fn is_unset(self) -> bool {
        self.kind == UNSET
    }

    /// The value; NULL where there is none.
    #[inline]
    pub fn value(self) -> Value {
        match self.kind {
            BOOL => Value::Bool(self.bits != 0),
            INT => Value::Int(self.bits.cast_signed()),
            DOUBLE => Value::Double(f64::from_bits(self.bits)),
            _ => Value::Null,
        }
    }
}

impl From<Value> for Packed {
    #[inline]
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(truth) => Self::bool(truth),
            Value::Int(number) => Self::int(number),
            Value::Double(number) => Self { kind: DOUBLE, bits: number.to_bits() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_comes_back_as_it_was() {
        for value in [
            Value::Null,
            Value::Bool(false),
            Value::Bool(true),
            Value::Int(i64::MIN),
            Value::Int(-1),
            Value::Double(-0.0),
            Value::Double(f64::INFINITY),
        ] {
            let packed = Packed::from(value);
            assert_eq!(packed.value(), value);
            assert!(packed.is_value());
            assert_eq!(packed.is_null(), value == Value::Null);
            assert_eq!(
                packed.as_int().map(Value::Int),
                Some(value).filter(|v| matches!(v, Value::Int(_)))
            );
        }
        assert!(!Packed::UNSET.is_value() && !Packed::TEXT.is_value());
    }
}
