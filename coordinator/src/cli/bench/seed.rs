//! `--random-seed`: `time`, `rand` or an unsigned 64-bit number, read as C reads it, also from
//! `PGBENCH_RANDOM_SEED`.

use std::io::Read;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::usage::UsageError;
use crate::cli::values::strtoul;

/// The seed of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Its value.
    pub value: u64,
    /// The user named it or the way to make it, so the value is told.
    pub announced: bool,
}

impl Seed {
    /// The seed before any option: from the variable if it is set, else from the clock.
    pub fn initial(variable: Option<&str>) -> Result<Self, UsageError> {
        match variable {
            Some(text) => Self::parse(text, "PGBENCH_RANDOM_SEED environment variable"),
            None => Ok(Self { value: from_clock(), announced: false }),
        }
    }

    /// A seed that nobody is told.
    #[must_use]
    pub const fn fixed(value: u64) -> Self {
        Self { value, announced: false }
    }

    /// The seed that `--random-seed` names.
    pub fn from_option(text: &str) -> Result<Self, UsageError> {
        Self::parse(text, "--random-seed option")
    }

    fn parse(text: &str, origin: &str) -> Result<Self, UsageError> {
        let value = match text {
            "time" => from_clock(),
            "rand" => from_system()?,
            digits => strtoul(digits).ok_or_else(|| {
                UsageError::new(format!("unrecognized random seed option \"{digits}\""))
                    .detail("Expecting an unsigned integer, \"time\" or \"rand\".")
                    .then(format!("error while setting random seed from {origin}"))
            })?,
        };
        Ok(Self { value, announced: true })
    }
}

fn from_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Microseconds, as pgbench takes them; they fit 64 bits for half a million years.
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn from_system() -> Result<u64, UsageError> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|e| UsageError::new(format!("could not generate random seed: {e}")))?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn seeds_are_numbers_or_ways_to_make_one() {
        assert_eq!(Seed::from_option("18446744073709551615").unwrap().value, u64::MAX);
        assert!(Seed::from_option("time").unwrap().announced);
        assert!(Seed::from_option("rand").unwrap().announced);
        assert!(!Seed::initial(None).unwrap().announced);
        let error = Seed::from_option("one").unwrap_err().to_string();
        for gist in ["unrecognized random seed option \"one\"", "Expecting", "--random-seed"] {
            assert!(error.contains(gist), "{error}");
        }
        assert!(Seed::initial(Some("1.5")).is_err());
    }
}
