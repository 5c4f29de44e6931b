//! Which of the program's roles a command line asks for, with its checked arguments. Pure: an
//! argument vector in, a value out; nothing is printed or started here.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use pgsurge_common::workload::{builtin_list, find_builtin};

use super::agent::AgentArgs;
use super::bench::BenchArgs;
use super::capacity::CapacityArgs;
use super::certs::CertsArgs;
use super::compare::CompareArgs;
use super::completions::{self, CompletionsArgs};
use super::connection::ConnectionArgs;
use super::help::{self, Mode};
use super::init::InitArgs;
use super::man::ManArgs;
use super::read::CommandLine;
use super::report::ReportArgs;
use super::sweep::SweepArgs;
use super::tune::TuneArgs;
use super::usage::UsageError;
use super::version;

/// What the program is to do.
#[derive(Clone, Debug)]
pub enum Invocation {
    /// Print this on stdout and leave.
    Show(String),
    /// Print this on stderr and leave, as pgbench does with its scripts.
    Tell(String),
    /// Run a benchmark.
    Run(Box<BenchArgs>, ConnectionArgs, Verbosity),
    /// Create pgbench's tables.
    Init(InitArgs, ConnectionArgs, Verbosity),
    /// Serve a coordinator.
    Agent(AgentArgs),
    /// Make certificates.
    Certs(CertsArgs),
    /// Search for the highest rate.
    Capacity(CapacityArgs),
    /// Compare results.
    Compare(CompareArgs),
    /// Make pages of results.
    Report(ReportArgs),
    /// Measure a grid of values.
    Sweep(SweepArgs),
    /// Search for better values.
    Tune(TuneArgs),
    /// Write the manual pages.
    Man(ManArgs),
}

/// How much the program says about itself on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbosity {
    /// Warnings and errors.
    Normal,
    /// `--debug`.
    Debug,
}

impl Invocation {
    /// Reads the arguments after the program's name; `variable` looks up the environment.
    pub fn read(
        args: impl IntoIterator<Item = OsString>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, UsageError> {
        let mut args = args.into_iter().collect::<Vec<_>>();
        let word = args.first().and_then(|arg| arg.to_str()).unwrap_or_default();
        match word {
            "agent" => parsed::<AgentArgs>(args, "agent")?.and_then(|args| {
                args.tls().complete()?;
                Ok(Self::Agent(args))
            }),
            "capacity" => parsed::<CapacityArgs>(args, "capacity")?.and_then(|args| {
                args.check()?;
                Ok(Self::Capacity(args))
            }),
            "certs" => parsed::<CertsArgs>(args, "certs")?.and_then(|args| {
                args.check()?;
                Ok(Self::Certs(args))
            }),
            "compare" => {
                parsed::<CompareArgs>(args, "compare")?.and_then(|args| Ok(Self::Compare(args)))
            }
            "report" => {
                parsed::<ReportArgs>(args, "report")?.and_then(|args| Ok(Self::Report(args)))
            }
            "sweep" => parsed::<SweepArgs>(args, "sweep")?.and_then(|args| {
                args.check()?;
                Ok(Self::Sweep(args))
            }),
            "tune" => parsed::<TuneArgs>(args, "tune")?.and_then(|args| {
                args.check()?;
                Ok(Self::Tune(args))
            }),
            "completions" => parsed::<CompletionsArgs>(args, "completions")?
                .and_then(|args| Ok(Self::Show(completions::script(&args)))),
            "man" => parsed::<ManArgs>(args, "man")?.and_then(|args| Ok(Self::Man(args))),
            "run" => pgbench(args.split_off(1), Some(Mode::Run), variable),
            "init" => pgbench(args.split_off(1), Some(Mode::Init), variable),
            _ => pgbench(args, None, variable),
        }
    }
}

fn pgbench(
    args: Vec<OsString>,
    mode: Option<Mode>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Invocation, UsageError> {
    let initialize = (mode == Some(Mode::Init)).then(|| OsString::from("--initialize"));
    let line = CommandLine::read(initialize.into_iter().chain(args), &variable);
    if line.help {
        let mut command = mode.map_or_else(help::program, help::subcommand);
        return Ok(Invocation::Show(command.render_help().to_string()));
    }
    if line.version {
        return Ok(Invocation::Show(version::line()));
    }
    if let Some(text) = script_text(&line)? {
        return Ok(Invocation::Tell(text));
    }
    let verbosity = if line.has("debug") { Verbosity::Debug } else { Verbosity::Normal };
    if line.has("initialize") {
        let args = InitArgs::fold(&line, BenchArgs::checker())?;
        return Ok(Invocation::Init(args, ConnectionArgs::of(&line)?, verbosity));
    }
    let args = BenchArgs::fold(&line, variable)?;
    Ok(Invocation::Run(Box::new(args), ConnectionArgs::of(&line)?, verbosity))
}

/// `-b list` and `--show-script` end the program where they stand.
fn script_text(line: &CommandLine) -> Result<Option<String>, UsageError> {
    for given in &line.given {
        match (given.opt.long, given.value.as_str()) {
            ("builtin", "list") => return Ok(Some(builtin_list())),
            ("show-script", name) => {
                let script = find_builtin(name).map_err(|e| UsageError::new(e.to_string()))?;
                return Ok(Some(script.shown()));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// What clap reads: arguments, or the text of a help.
enum Parsed<T> {
    Args(T),
    Text(String),
}

impl<T> Parsed<T> {
    fn and_then(
        self,
        invocation: impl FnOnce(T) -> Result<Invocation, UsageError>,
    ) -> Result<Invocation, UsageError> {
        match self {
            Self::Args(args) => invocation(args),
            Self::Text(text) => Ok(Invocation::Show(text)),
        }
    }
}

/// Reads a subcommand of our own, whose name is the first argument.
fn parsed<T: Parser>(args: Vec<OsString>, name: &str) -> Result<Parsed<T>, UsageError> {
    let given = args.clone();
    let error = match T::try_parse_from(args) {
        Ok(args) => return Ok(Parsed::Args(args)),
        Err(error) => error,
    };
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Ok(Parsed::Text(error.to_string()));
    }
    // clap's first paragraph says what is wrong; usage and tips follow it.
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut wrong = UsageError::new(line.trim_start_matches("error: "));
    if let Some(variable) = variable_behind::<T>(&error, &given) {
        wrong = wrong.detail(format!("the value is that of the variable {variable}"));
    }
    Err(wrong.hint(format!("Try \"pgsurge {name} --help\" for more information.")))
}

/// The variable that gave the value which clap refuses, if it was not an argument.
fn variable_behind<T: CommandFactory>(error: &clap::Error, given: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(refused)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let mut command = T::command();
    // Its options print only then.
    command.build();
    let option = command.get_arguments().find(|option| option.to_string() == *refused)?;
    let long = format!("--{}", option.get_long()?);
    let is_it =
        |arg: &OsString| arg.to_str().is_some_and(|arg| arg.split('=').next() == Some(&long));
    if given.iter().any(is_it) {
        return None;
    }
    Some(option.get_env()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(args: &str) -> Result<Invocation, UsageError> {
        Invocation::read(args.split_whitespace().map(OsString::from), |_| None)
    }

    #[test]
    fn without_a_subcommand_the_arguments_are_those_of_pgbench() {
        assert!(matches!(
            read("-i -s 10 db"),
            Ok(Invocation::Init(InitArgs { scale: 10, .. }, ..))
        ));
        assert!(matches!(read("-qis10"), Ok(Invocation::Init(InitArgs { quiet: true, .. }, ..))));
        assert!(matches!(read("-c 10 -T 30 db"), Ok(Invocation::Run(..))));
        assert!(matches!(read(""), Ok(Invocation::Run(..))));
    }

    #[test]
    fn subcommands_choose_the_mode() {
        assert!(matches!(read("init -s 10 db"), Ok(Invocation::Init(..))));
        assert!(matches!(read("run -S db"), Ok(Invocation::Run(..))));
        assert!(matches!(read("agent --coordinator a:1"), Ok(Invocation::Agent(_))));
        assert!(read("run -i -S").unwrap_err().to_string().contains("initialization (-i) mode"));
        assert!(read("init -S").unwrap_err().to_string().contains("initialization (-i) mode"));
    }

    #[test]
    fn scripts_help_and_version_are_shown() {
        assert!(matches!(read("-b list"), Ok(Invocation::Tell(t)) if t.contains("select-only")));
        assert!(
            matches!(read("--show-script se"), Ok(Invocation::Tell(t)) if t.contains("SELECT"))
        );
        assert!(matches!(read("--version"), Ok(Invocation::Show(t)) if t.starts_with("pgsurge ")));
        assert!(matches!(read("run -?"), Ok(Invocation::Show(t)) if t.contains("--agents")));
        assert!(matches!(read("agent --help"), Ok(Invocation::Show(t)) if t.contains("--once")));
    }

    #[test]
    fn the_variable_behind_a_value_is_found_unless_an_argument_came_before_it() {
        let error = |given: &[&str]| {
            let args = ["agent", "--coordinator", "x"].iter().chain(given);
            AgentArgs::try_parse_from(args).unwrap_err()
        };
        let error = error(&["--give-up-after", "soon"]);
        let given = |args: &[&str]| args.iter().map(OsString::from).collect::<Vec<_>>();
        let name = Some("PGSURGE_GIVE_UP_AFTER".to_owned());
        assert_eq!(variable_behind::<AgentArgs>(&error, &given(&["agent", "--once"])), name);
        for args in [&["--give-up-after", "soon"][..], &["--give-up-after=soon"]] {
            assert_eq!(variable_behind::<AgentArgs>(&error, &given(args)), None);
        }
    }

    #[test]
    fn a_wrong_line_of_a_subcommand_gives_one_line_and_a_hint() {
        for (args, message) in [
            ("agent", "required arguments were not provided: --coordinator <HOST:PORT>"),
            ("agent --nosuch", "unexpected argument '--nosuch' found"),
            ("agent --coordinator x --give-up-after soon", "invalid value 'soon'"),
            ("agent --coordinator x --tls-ca y", "must be given together"),
            ("agent --coordinator x --allow-target :5", "expected HOST[:PORT][/DATABASE]"),
            ("agent --coordinator x --max-clients 0", "0 is not in"),
            ("certs d", "nothing to make"),
            ("certs d --coordinator a:7432", "without a port"),
            ("certs d --agents 1 --days 0", "0 is not in"),
        ] {
            let error = read(args).unwrap_err().to_string();
            assert!(error.lines().next().unwrap().contains(message), "{args}: {error}");
        }
    }
}
