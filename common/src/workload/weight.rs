//! `NAME@W` and `FILE@W`: what follows the last `@` is the weight.

use thiserror::Error;

/// A script named on the command line, with its share of transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    /// What stands before the last `@`, or everything if there is none.
    pub name: String,
    /// 0 to 2147483647; 1 if not given.
    pub weight: u32,
}

/// Why a weight is refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WeightError {
    /// Not a decimal number.
    #[error("invalid weight specification: @{0}")]
    Invalid(String),
    /// A number, but negative or too large.
    #[error("weight specification out of range (0 .. {max}): {0}", max = i32::MAX)]
    OutOfRange(i64),
}

impl Weighted {
    /// Splits an argument of `-b` or `-f`.
    pub fn parse(argument: &str) -> Result<Self, WeightError> {
        let Some((name, weight)) = argument.rsplit_once('@') else {
            return Ok(Self { name: argument.to_owned(), weight: 1 });
        };
        // C's strtol skips leading white space and takes a sign; nothing may follow the digits.
        let digits = weight.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        let number: i64 = digits.parse().map_err(|_| WeightError::Invalid(weight.to_owned()))?;
        match i32::try_from(number).map(u32::try_from) {
            Ok(Ok(weight)) => Ok(Self { name: name.to_owned(), weight }),
            _ => Err(WeightError::OutOfRange(number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_at_sign_separates_the_weight() {
        let table = [
            ("script.sql", "script.sql", 1),
            ("script.sql@0", "script.sql", 0),
            ("a@b@12", "a@b", 12),
            ("se@2147483647", "se", 2_147_483_647),
            ("se@+3", "se", 3),
            ("se@ 3", "se", 3),
            ("@1", "", 1),
        ];
        for (argument, name, weight) in table {
            assert_eq!(Weighted::parse(argument), Ok(Weighted { name: name.to_owned(), weight }));
        }
    }

    #[test]
    fn other_weights_are_refused() {
        let table = [
            ("se@one", "invalid weight specification: @one"),
            ("se@", "invalid weight specification: @"),
            ("se@1 ", "invalid weight specification: @1 "),
            ("se@9999999999999999999999", "invalid weight specification: @9999999999999999999999"),
            ("se@-1", "weight specification out of range (0 .. 2147483647): -1"),
            ("se@2147483648", "weight specification out of range (0 .. 2147483647): 2147483648"),
        ];
        for (argument, message) in table {
            let error = Weighted::parse(argument).expect_err(argument);
            assert_eq!(error.to_string(), message);
        }
    }
}
