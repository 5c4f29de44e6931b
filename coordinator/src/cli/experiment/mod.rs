//! What subcommands that make several runs have in common: options of `run` that are passed on, and the runs (`varied`: what
//! is varied and how the server takes it; `space`: how users write it).

mod space;
mod varied;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use jiff::Timestamp;
use pgsurge_common::outcome::ExitCode;
use serde::Serialize;

use crate::cli::bench::{BenchArgs, Format};
use crate::cli::connection::ConnectionArgs;
use crate::cli::init::{InitArgs, init};
use crate::cli::invocation::Invocation;
use crate::cli::read::CommandLine;
use crate::cli::run::{self, Surroundings};
use crate::cli::tell;
use crate::cli::usage::UsageError;
use crate::experiment::{self, OneRun};
use crate::picture::Sheet;
use crate::report::DEFAULT_PARENT;
use crate::web::Several;

pub use varied::{Varied, VariedArgs};

/// Runs in this process. Each gets surroundings of its own, as the first one of a process would.
pub struct Here<F> {
    /// Makes them.
    pub surroundings: F,
    /// The live page of all runs.
    pub page: Option<Arc<Several>>,
}

impl<F: Fn() -> Result<Surroundings>> Here<F> {
    fn around(&self) -> Result<Surroundings> {
        Ok(Surroundings { page: self.page.clone(), ..(self.surroundings)()? })
    }
}

/// Serves the live page of all runs, if their options ask for one (`--web`).
///
/// # Errors
/// The options are wrong, or the address cannot be bound.
pub async fn page(arguments: Vec<OsString>) -> Result<Option<Arc<Several>>> {
    let Some(address) = a_run(arguments)?.0.cluster.web else { return Ok(None) };
    let page = Several::open(address).await?;
    tell::line(&format_args!("the runs can be watched on http://{}/", page.address()));
    Ok(Some(page))
}

/// Tells what came of a run, on standard error and on the page.
pub fn told(page: Option<&Several>, line: &str) {
    tell::line(&line);
    if let Some(page) = page {
        page.said(line);
    }
}

impl<F: Fn() -> Result<Surroundings>> OneRun for Here<F> {
    async fn run(&self, arguments: Vec<OsString>) -> Result<ExitCode> {
        match invocation(arguments)? {
            Invocation::Run(mut args, connection, _) => {
                args.cluster.format = Format::Nothing;
                run::run(*args, &connection, self.around()?).await
            }
            _ => Err(not_a_run().into()),
        }
    }

    async fn init(&self, arguments: &[OsString], scale: &str) -> Result<ExitCode> {
        let (_, connection) = a_run(arguments.to_vec())?;
        let scale =
            scale.parse().map_err(|_| UsageError::new(format!("invalid scale: {scale}")))?;
        let args = InitArgs { scale, quiet: true, ..InitArgs::default() };
        let outcome = init(args, &connection, (self.surroundings)()?.interrupts).await;
        outcome.context("cannot make pgbench's tables")
    }
}

/// Arguments of `run`, read.
pub fn a_run(arguments: Vec<OsString>) -> Result<(BenchArgs, ConnectionArgs), UsageError> {
    match invocation(arguments)? {
        Invocation::Run(args, connection, _) => Ok((*args, connection)),
        _ => Err(not_a_run()),
    }
}

/// Refuses options of `run` that an experiment sets itself, in any spelling.
pub fn refuse(arguments: &[OsString], owned: &[&'static str]) -> Result<(), UsageError> {
    let line = CommandLine::read(arguments.iter().cloned(), |_| None);
    let given = line.given.iter().find(|given| owned.contains(&given.opt.long));
    match given {
        Some(given) => {
            let option = given.opt.label();
            Err(UsageError::new(format!("{option} is for the experiment itself to set")))
        }
        None => Ok(()),
    }
}

/// Options of `run` by their long names that every experiment sets itself.
pub const OWNED: [&str; 3] = ["results", "no-results", "format"];

/// Reads options that are passed on, to know before the first run whether they are right.
pub fn check(arguments: &[OsString], own: &[&str]) -> Result<(), UsageError> {
    let own = own.iter().map(OsString::from);
    a_run(own.chain(arguments.iter().cloned()).collect()).map(drop)
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

/// Refuses keys of an experiment's file that it does not have.
pub fn known_keys(file: Option<&Path>, text: &str, keys: &[&str]) -> Result<(), UsageError> {
    let path = file.unwrap_or(Path::new("")).display();
    let table: toml::Table = toml::from_str(text)
        .map_err(|error| UsageError::new(format!("{path}: {}", error.to_string().trim_end())))?;
    match table.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => {
            let unknown = UsageError::new(format!("{path}: there is no key {key}"));
            Err(unknown.detail(format!("keys are {}", keys.join(", "))))
        }
        None => Ok(()),
    }
}

/// Puts an answer and its page into a folder.
///
/// # Errors
/// One of them cannot be written.
pub fn keep(path: &Path, answer: &impl Serialize, page: &Sheet) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let written = experiment::write(path, answer).and_then(|()| page.write(folder));
    written.map_err(|(path, error)| {
        anyhow::Error::new(error).context(format!("cannot write {}", path.display()))
    })
}
