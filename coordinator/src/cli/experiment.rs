//! What subcommands that make several runs have in common: options of `run` that are passed on, and the runs.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;
use jiff::Timestamp;
use pgsurge_common::outcome::ExitCode;

use super::bench::Format;
use super::invocation::Invocation;
use super::run::{self, Surroundings};
use super::usage::UsageError;
use crate::experiment::OneRun;
use crate::report::DEFAULT_PARENT;

/// Runs in this process. Each gets surroundings of its own, as the first one of a process would.
pub struct Here<F> {
    /// Makes them.
    pub surroundings: F,
}

impl<F: Fn() -> Result<Surroundings>> OneRun for Here<F> {
    async fn run(&self, arguments: Vec<OsString>) -> Result<ExitCode> {
        match invocation(arguments)? {
            Invocation::Run(mut args, connection, _) => {
                args.cluster.format = Format::Nothing;
                run::run(*args, &connection, (self.surroundings)()?).await
            }
            _ => Err(not_a_run().into()),
        }
    }
}

/// Reads options that are passed on, to know before the first run whether they are right.
pub fn check(arguments: &[OsString], own: &[&str]) -> Result<(), UsageError> {
    let own = own.iter().map(OsString::from);
    match invocation(own.chain(arguments.iter().cloned()).collect())? {
        Invocation::Run(..) => Ok(()),
        _ => Err(not_a_run()),
    }
}

fn invocation(mut arguments: Vec<OsString>) -> Result<Invocation, UsageError> {
    arguments.insert(0, "run".into());
    Invocation::read(arguments, |name| std::env::var(name).ok())
}

fn not_a_run() -> UsageError {
    UsageError::new("only options of \"pgsurge run\" can be passed on")
}

/// Where results go if nobody says so.
#[must_use]
pub fn default_folder(kind: &str) -> PathBuf {
    let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    PathBuf::from(DEFAULT_PARENT).join(format!("{kind}-{now}"))
}
