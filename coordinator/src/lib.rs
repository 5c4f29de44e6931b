//! The coordinator's library: one module a room.

pub mod observe;
pub mod report;
pub mod verdict;
