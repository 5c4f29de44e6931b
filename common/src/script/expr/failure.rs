//! Why an expression has no value, in pgbench's words.
//!
//! Small and without allocation; names of variables are looked up only when a message is made.

use super::code::Binary;
use crate::script::value::{Type, Unreadable, Value};
use crate::script::variables::{Slot, Variables};

/// What an evaluation gives. The failure is boxed because it is rare: so a value travels in two words.
pub type Evaluated<T = Value> = Result<T, Box<EvalFailure>>;

/// Why evaluation failed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EvalFailure {
    /// A value has the wrong type.
    Coercion {
        /// What it is.
        from: Type,
        /// What it would have to be.
        to: Type,
    },
    /// A double does not fit an integer.
    IntOverflow(f64),
    /// `+`, `-`, `*` or `/` on integers left their range.
    OutOfRange(Binary),
    /// Integer division or remainder by zero.
    DivisionByZero,
    /// The lower bound of a random function is above the upper one.
    EmptyRange,
    /// A random function's range does not fit an integer.
    RangeTooLarge,
    /// `random_gaussian` with a parameter below [`MIN_GAUSSIAN`].
    Gaussian(f64),
    /// `random_exponential` with a parameter not above zero.
    Exponential(f64),
    /// `random_zipfian` with a parameter outside [`MIN_ZIPFIAN`] to [`MAX_ZIPFIAN`].
    Zipfian(f64),
    /// `permute` with a size below 1.
    PermuteSize,
    /// A function has more than [`MAX_ARGUMENTS`].
    TooManyArguments,
    /// A variable was never set.
    Undefined(Slot),
    /// A string variable is no value.
    Unreadable(Slot, Unreadable),
}

/// Smallest parameter of `random_gaussian`.
pub const MIN_GAUSSIAN: f64 = 2.0;
/// Smallest parameter of `random_zipfian`.
pub const MIN_ZIPFIAN: f64 = 1.001;
/// Largest parameter of `random_zipfian`.
pub const MAX_ZIPFIAN: f64 = 1000.0;
/// Most arguments that a function takes.
pub const MAX_ARGUMENTS: usize = 16;

impl EvalFailure {
    /// The message; `None` where pgbench has none (an empty string as a number).
    pub(crate) fn message(self, variables: &Variables, names: &[Box<[u8]>]) -> Option<String> {
        let name = |slot: Slot| String::from_utf8_lossy(&names[slot.index()]).into_owned();
        let text = |slot| String::from_utf8_lossy(variables.text(slot).unwrap_or_default());
        Some(match self {
            Self::Coercion { from, to } => {
                format!("cannot coerce {} to {}", from.name(), to.name())
            }
            Self::IntOverflow(value) => format!("double to int overflow for {}", fixed(value)),
            Self::OutOfRange(operator) => {
                let name = match operator {
                    Binary::Add => "add",
                    Binary::Sub => "sub",
                    Binary::Mul => "mul",
                    _ => "div",
                };
                format!("bigint {name} out of range")
            }
            Self::DivisionByZero => "division by zero".to_owned(),
            Self::EmptyRange => "empty range given to random".to_owned(),
            Self::RangeTooLarge => "random range is too large".to_owned(),
            Self::Gaussian(value) => format!(
                "gaussian parameter must be at least {} (not {})",
                fixed(MIN_GAUSSIAN),
                fixed(value)
            ),
            Self::Exponential(value) => {
                format!("exponential parameter must be greater than zero (not {})", fixed(value))
            }
            Self::Zipfian(value) => format!(
                "zipfian parameter must be in range [{MIN_ZIPFIAN:.3}, {MAX_ZIPFIAN:.0}] (not {})",
                fixed(value)
            ),
            Self::PermuteSize => "permute size parameter must be greater than zero".to_owned(),
            Self::TooManyArguments => {
                format!("too many function arguments, maximum is {MAX_ARGUMENTS}")
            }
            Self::Undefined(slot) => format!("undefined variable \"{}\"", name(slot)),
            Self::Unreadable(_, Unreadable::Empty) => return None,
            Self::Unreadable(slot, Unreadable::IntRange) => {
                format!("value \"{}\" is out of range for type bigint", text(slot))
            }
            Self::Unreadable(slot, Unreadable::IntSyntax) => {
                format!("invalid input syntax for type bigint: \"{}\"", text(slot))
            }
            Self::Unreadable(slot, Unreadable::Malformed) => {
                format!("malformed variable \"{}\" value: \"{}\"", name(slot), text(slot))
            }
        })
    }
}

/// C's `%f`, with PostgreSQL's spelling of what is no number.
fn fixed(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        format!("{value:.6}")
    }
}
