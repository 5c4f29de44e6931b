//! A run while it goes on, over HTTP: a page whose charts grow by the second, figures for Prometheus, and whether
//! the process is there. Read-only: no request changes anything.
//!
//! [`Board`] holds what is known so far and is told by the run; [`Web`] serves it, [`Several`] one after another. A viewer that is slow misses
//! points and then gets all of them again; the run never waits for one.

mod board;
mod figures;
mod findings;
mod message;
mod serve;
mod several;

pub use board::Board;
pub use message::Stage;
pub use serve::{Web, WebError};
pub use several::Several;

#[cfg(test)]
mod tests;
