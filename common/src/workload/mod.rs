//! What runs: the three built-in scripts, weights on the command line, and which script is next.
//!
//! Knows texts and weights, not what is in a script; reading script files is the caller's.

mod builtin;
mod choice;
mod weight;

pub use builtin::{BUILTINS, Builtin, BuiltinError, builtin_list, find_builtin};
pub use choice::{MAX_SCRIPTS, ScriptChoice, WeightsError};
pub use weight::{WeightError, Weighted};
