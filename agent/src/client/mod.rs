//! One client: a database session executing scripts, one transaction after the other.
//!
//! In reading order: the rules ([`rules`]), one client's life ([`life`]), one transaction with its
//! tries ([`transaction`]), one command ([`command`]), and below them the session ([`session`]), its
//! answers ([`reply`], [`capture`]), what goes wrong ([`trouble`]), how a client comes back from it
//! ([`recover`]), and what can be said of it ([`identity`], [`predict`]).
//!
//! Knows nothing of coordinator, plan splitting or threads. The policies are values, so there is one
//! loop for all of them. No allocation, lock or log line per transaction, and the clock is read once
//! at the beginning and once at the end of what is measured.

mod capture;
mod command;
mod identity;
mod life;
mod pooler;
mod predict;
mod recover;
mod reply;
mod rules;
mod session;
mod shell;
mod transaction;
mod trouble;

pub(crate) use identity::{Identity, identify};
pub(crate) use life::run;
pub(crate) use predict::unpredictable_commits;
pub(crate) use rules::Rules;
pub(crate) use session::Session;
