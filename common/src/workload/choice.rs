//! Which script a transaction executes: drawn with the probability of its weight.

use thiserror::Error;

use crate::random::Generator;

/// As many scripts as one run may have.
pub const MAX_SCRIPTS: usize = 128;

/// Why a set of weights cannot be drawn from.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WeightsError {
    /// More scripts than are allowed.
    #[error("at most {MAX_SCRIPTS} SQL scripts are allowed")]
    TooMany,
    /// No script could ever be drawn.
    #[error("total script weight must not be zero")]
    AllZero,
}

/// The weights of a run's scripts, summed up for drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptChoice {
    /// For each script the sum of the weights up to and with its own.
    cumulative: Vec<u64>,
}

impl ScriptChoice {
    /// Takes the weights in the order of the scripts.
    pub fn new(weights: impl IntoIterator<Item = u32>) -> Result<Self, WeightsError> {
        let add = |sum: &mut u64, weight| {
            *sum += u64::from(weight);
            Some(*sum)
        };
        let cumulative: Vec<u64> = weights.into_iter().scan(0, add).collect();
        if cumulative.len() > MAX_SCRIPTS {
            return Err(WeightsError::TooMany);
        }
        match cumulative.last() {
            None | Some(0) => Err(WeightsError::AllZero),
            Some(_) => Ok(Self { cumulative }),
        }
    }

    /// The sum of all weights.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.cumulative.last().copied().unwrap_or_default()
    }

    /// The number of the next script. A single script takes no draw.
    #[inline]
    pub fn draw(&self, chooser: &mut Generator) -> usize {
        if self.cumulative.len() == 1 {
            return 0;
        }
        let point = chooser.bounded(self.total() - 1);
        self.cumulative.partition_point(|&sum| sum <= point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_drawn_by_weight_and_weight_zero_never() {
        let choice = ScriptChoice::new([0, 3, 0, 1, 0]).expect("valid weights");
        let mut generator = Generator::from_seed(1);
        let mut seen = [0; 5];
        for _ in 0..40_000 {
            seen[choice.draw(&mut generator)] += 1;
        }
        assert_eq!((seen[0], seen[2], seen[4]), (0, 0, 0));
        assert!((29_500..30_500).contains(&seen[1]), "{seen:?}");
    }

    #[test]
    fn a_single_script_takes_no_draw() {
        let mut generator = Generator::from_seed(1);
        assert_eq!(ScriptChoice::new([7]).expect("valid").draw(&mut generator), 0);
        assert_eq!(generator, Generator::from_seed(1));
    }

    #[test]
    fn impossible_weights_are_refused() {
        assert_eq!(ScriptChoice::new([0, 0]), Err(WeightsError::AllZero));
        assert_eq!(ScriptChoice::new([1; 129]), Err(WeightsError::TooMany));
        assert!(ScriptChoice::new([i32::MAX.cast_unsigned(); 128]).is_ok());
    }
}
