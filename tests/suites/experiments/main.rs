//! Questions that take several runs, asked as a user asks them.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod capacity;
mod compare;
mod sweep;
mod tune;
mod tuners;
