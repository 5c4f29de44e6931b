//! When a transaction is due: at once in a closed loop, or at the instants of a Poisson process (`-R`).
//!
//! Pure arithmetic in microseconds since the common start of the load: no clock, no generator of its
//! own (the caller passes both in). Invariant: under a rate the instants never depend on how fast
//! the target answers, with one exception that is counted: at the end of the warm-up what is overdue is
//! dropped, so that the measured part begins with an empty queue.

mod pacer;
mod window;

pub use pacer::{Due, Pacer, Rate, Turn, poisson_gap_us};
pub use window::Window;
