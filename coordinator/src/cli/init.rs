//! `pgsurge init` and `pgsurge -i`: arguments, and the call.

use std::io::{self, IsTerminal};

use anyhow::Result;
use pgsurge_common::outcome::ExitCode;

use super::connection::ConnectionArgs;
use super::read::{CommandLine, Given};
use super::table::Group;
use super::tell;
use super::usage::UsageError;
use super::values::{count, integer};
use crate::init::{Console, Options, PartitionMethod, Partitioning, Step, Style};
use crate::run::Interrupts;

/// What to create.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // pgbench's flags are independent of each other
pub struct InitArgs {
    /// `-I`, with `-n` and `--foreign-keys` already applied.
    pub steps: String,
    /// `-s`.
    pub scale: u32,
    /// `-F`.
    pub fillfactor: u32,
    /// `-q`.
    pub quiet: bool,
    /// `--unlogged-tables`.
    pub unlogged: bool,
    /// `--partitions`, 0 for none.
    pub partitions: u32,
    /// `--partition-method hash`.
    pub hash: bool,
    /// `--tablespace`.
    pub tablespace: Option<String>,
    /// `--index-tablespace`.
    pub index_tablespace: Option<String>,
}

const STEPS: &str = "dtgGvpf";

/// Creates the tables.
///
/// # Errors
/// The target cannot be reached, refuses a statement, or the user interrupted.
pub async fn init(
    args: InitArgs,
    connection: &ConnectionArgs,
    interrupts: Interrupts,
) -> Result<ExitCode> {
    let target = super::target::resolve_target(connection)?;
    let style = if io::stderr().is_terminal() { Style::Terminal } else { Style::Lines };
    let interrupted = interrupts.drain.clone();
    let console = Console { err: &mut io::stderr(), style, cancel: interrupts.drain };
    match crate::init::init(&target, &args.into(), console).await {
        Err(error) if interrupted.is_cancelled() => {
            tell::error(&error.into());
            Ok(ExitCode::Interrupted)
        }
        outcome => Ok(outcome.map(|()| ExitCode::Done)?),
    }
}

impl From<InitArgs> for Options {
    fn from(args: InitArgs) -> Self {
        let method = if args.hash { PartitionMethod::Hash } else { PartitionMethod::Range };
        Self {
            steps: args.steps.chars().filter_map(Step::of_letter).collect(),
            scale: args.scale,
            fillfactor: args.fillfactor,
            quiet: args.quiet,
            unlogged: args.unlogged,
            partitioning: (args.partitions > 0)
                .then_some(Partitioning { method, count: args.partitions }),
            tablespace: args.tablespace,
            index_tablespace: args.index_tablespace,
        }
    }
}

impl Default for InitArgs {
    fn default() -> Self {
        Self {
            steps: "dtgvp".to_owned(),
            scale: 1,
            fillfactor: 100,
            quiet: false,
            unlogged: false,
            partitions: 0,
            hash: false,
            tablespace: None,
            index_tablespace: None,
        }
    }
}

impl InitArgs {
    /// Folds a command line that asks for initialization. `bench` checks the values of options of the other
    /// mode: a wrong one is told before the option is said to be misplaced, as in pgbench.
    pub fn fold(
        line: &CommandLine,
        mut bench: impl FnMut(&Given) -> Result<(), UsageError>,
    ) -> Result<Self, UsageError> {
        let mut args = Self::default();
        let (mut no_vacuum, mut foreign_keys, mut method_given) = (false, false, false);
        for given in &line.given {
            match given.opt.long {
                "no-vacuum" => no_vacuum = true,
                "foreign-keys" => foreign_keys = true,
                "partition-method" => {
                    method_given = true;
                    args.option(given).map_err(|error| given.blame(error))?;
                }
                _ if given.opt.group == Group::Bench => {
                    bench(given).map_err(|error| given.blame(error))?;
                }
                _ => args.option(given).map_err(|error| given.blame(error))?,
            }
        }
        line.readable()?;
        let misplaced = |given: &&Given| matches!(given.opt.group, Group::Bench | Group::Cluster);
        if line.given.iter().any(|given| misplaced(&given)) {
            return Err(UsageError::new(
                "some of the specified options cannot be used in initialization (-i) mode",
            ));
        }
        if method_given && args.partitions == 0 {
            return Err(UsageError::new(
                "--partition-method requires greater than zero --partitions",
            ));
        }
        if no_vacuum {
            args.steps.retain(|step| step != 'v');
        }
        if foreign_keys && !args.steps.contains('f') {
            args.steps.push('f');
        }
        Ok(args)
    }

    /// Takes one option in, if it is one of initialization.
    pub fn option(&mut self, given: &Given) -> Result<(), UsageError> {
        let (opt, value) = (given.opt, given.value.as_str());
        let within = |low, high| {
            integer(opt, value, low..=high)
                .map(|n| u32::try_from(n).expect("the range was checked"))
        };
        match opt.long {
            "init-steps" => self.steps = steps(value)?,
            "scale" => self.scale = count(opt, value)?,
            "fillfactor" => self.fillfactor = within(10, 100)?,
            "partitions" => self.partitions = within(0, i64::from(i32::MAX))?,
            "quiet" => self.quiet = true,
            "partition-method" => self.hash = is_hash(value)?,
            "unlogged-tables" => self.unlogged = true,
            "tablespace" => self.tablespace = Some(value.to_owned()),
            "index-tablespace" => self.index_tablespace = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }
}

fn steps(value: &str) -> Result<String, UsageError> {
    if value.is_empty() {
        return Err(UsageError::new("no initialization steps specified"));
    }
    if let Some(wrong) = value.chars().find(|c| *c != ' ' && !STEPS.contains(*c)) {
        return Err(UsageError::new(format!("unrecognized initialization step \"{wrong}\""))
            .detail(format!("Allowed step characters are: \"{STEPS}\".")));
    }
    Ok(value.replace(' ', ""))
}

fn is_hash(value: &str) -> Result<bool, UsageError> {
    match value.to_ascii_lowercase().as_str() {
        "range" => Ok(false),
        "hash" => Ok(true),
        _ => Err(UsageError::new(format!(
            "invalid partition method, expecting \"range\" or \"hash\", got: \"{value}\""
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn fold(args: &str) -> Result<InitArgs, String> {
        let args = args.split_terminator(' ').map(std::ffi::OsString::from);
        InitArgs::fold(&CommandLine::read(args, |_| None), |_| Ok(())).map_err(|e| e.to_string())
    }

    #[test]
    fn steps_lose_vacuum_and_gain_foreign_keys() {
        for (args, steps) in [
            ("-i", "dtgvp"),
            ("-i -n", "dtgp"),
            ("-i -I vdtvgv -n", "dtg"),
            ("-i --foreign-keys", "dtgvpf"),
            ("-i --foreign-keys -I fdt", "fdt"),
            ("-i -I dtG", "dtG"),
        ] {
            assert_eq!(fold(args).unwrap().steps, steps, "{args}");
        }
    }

    #[test]
    fn mistakes_have_the_messages_of_pgbench() {
        for (args, message) in [
            ("-i -S", "cannot be used in initialization (-i) mode"),
            ("-i -I dta", "unrecognized initialization step \"a\""),
            ("-i -F 1", "-F/--fillfactor must be in range 10..100"),
            ("-i --partitions -1", "--partitions must be in range 0..2147483647"),
            ("-i --partition-method=BAD", "expecting \"range\" or \"hash\", got: \"BAD\""),
            ("-i --partition-method=hash", "requires greater than zero --partitions"),
            ("-i -s two", "invalid value \"two\" for option -s/--scale"),
        ] {
            let error = fold(args).unwrap_err();
            assert!(error.contains(message), "{args}: {error}");
        }
    }
}
