//! Questions that take more than one run. Each run is one that a user could have typed, with its own verdict and
//! its own results folder; who carries it out is told from outside ([`OneRun`]).

pub mod capacity;
pub mod compare;
mod document;
mod journal;
mod runs;
pub mod stage;
pub mod sweep;
pub mod tune;

pub use document::{page_of, write};
pub use journal::{Journal, JournalError};
pub use runs::{Asked, Ended, OneRun, Runs, RunsError};
