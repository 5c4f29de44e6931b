//! The coordinator's library: one module a room.

pub mod certs;
pub mod cli;
pub mod experiment;
pub mod fleet;
pub mod init;
pub mod logs;
pub mod merge;
pub mod observe;
pub mod picture;
pub mod report;
pub mod run;
pub mod secrecy;
pub mod signals;
pub mod surroundings;
pub mod verdict;
pub mod web;
