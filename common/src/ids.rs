//! Names of the parts of a run. Numbers count from 0 over the whole cluster, never per host.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A part of one run, and the agent that has it: those of the beginning come first, in the order of
/// admission. The clients of a lost agent become new parts of the agents that take them over, so an agent
/// may have several; the first one's number is the agent's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AgentId(pub u32);

/// A worker thread, numbered over all agents (pgbench's thread number).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerId(pub u32);

/// A database session executing scripts; a script sees it as `:client_id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u32);

/// One execution of one plan. Safe as a file name: letters, digits, `-` and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId(String);

impl RunId {
    /// Takes a name of 1 to 64 letters, digits, `-` or `_`; `None` for anything else.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Option<Self> {
        let name = name.into();
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        ((1..=64).contains(&name.len()) && name.chars().all(allowed)).then_some(Self(name))
    }

    /// The name itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! display_number {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}
display_number!(AgentId, WorkerId, ClientId, RunId);
