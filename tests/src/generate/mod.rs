//! Random expressions, scripts and runs, for questions that two programs are to answer alike.
//!
//! In reading order: literals and variables (`literal`), whole expressions (`expression`) and damaged ones
//! (`broken`), statements that a server understands (`statement`), pieces that it need not (`piece`), and
//! the scripts and options of a run made of them (`script`). Everything is a proptest strategy, so that
//! what differs shrinks to its core. Knows pgbench's language, and neither of the programs that read it.

mod broken;
mod expression;
mod literal;
mod piece;
mod script;
mod statement;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

pub use broken::broken;
pub use expression::expression;
pub use literal::DEFINES;
pub use script::{Case, Script, of_pieces, of_statements};
pub use statement::TABLE;

/// Draws from strategies; the same seed draws the same.
#[derive(Debug)]
pub struct Source(TestRunner);

impl Source {
    /// The source of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        Self(TestRunner::new_with_rng(quiet(0), random))
    }

    /// The next value, with the way to simpler ones.
    ///
    /// # Panics
    /// If a strategy rejects all that it draws.
    pub fn draw<S: Strategy>(&mut self, strategy: &S) -> S::Tree {
        strategy.new_tree(&mut self.0).expect("the strategies filter nothing")
    }
}

/// proptest's settings where it is used as a library: it writes no files, and shrinks so often.
pub(crate) fn quiet(shrinks: u32) -> Config {
    Config { failure_persistence: None, max_shrink_iters: shrinks, ..Config::default() }
}
