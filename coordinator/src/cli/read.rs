//! Reads a command line as getopt does for pgbench: options and operands in any order, bundled
//! letters, unique prefixes of long names, values attached or following. Keeps the order, since the
//! order of scripts numbers them and the first wrong value is the one reported.

use std::ffi::OsString;

use lexopt::{Arg, Parser};

use super::table::{self, Group, OPTIONS, Opt};
use super::usage::UsageError;

/// An option as it was given.
#[derive(Clone, Debug)]
pub struct Given {
    /// Which.
    pub opt: &'static Opt,
    /// Its value; empty for a flag.
    pub value: String,
    /// It came from the option's variable.
    pub from_variable: bool,
}

impl Given {
    /// The error of a value, with the name of the variable that it came from.
    #[must_use]
    pub fn blame(&self, error: UsageError) -> UsageError {
        match self.opt.env().filter(|_| self.from_variable) {
            Some(name) => error.detail(format!("the value is that of the variable {name}")),
            None => error,
        }
    }
}

/// What a command line says.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    /// Options: those from variables first, then those of the command line, each in order.
    pub given: Vec<Given>,
    /// Everything else.
    pub operands: Vec<String>,
    /// `--help` or `-?` was there.
    pub help: bool,
    /// `--version` or `-V` was there.
    pub version: bool,
    trouble: Option<UsageError>,
}

impl CommandLine {
    /// Reads arguments (without the program's name) and then `PGSURGE_*` variables for the options of
    /// the mode that the arguments choose. What cannot be read ends the reading and is kept for
    /// [`CommandLine::readable`]: what stands before it counts first, as in pgbench.
    pub fn read(
        args: impl IntoIterator<Item = OsString>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let mut line = Self::default();
        line.trouble = line.read_arguments(args).err();
        let init = line.has("initialize");
        let from_environment = OPTIONS
            .iter()
            .filter(|opt| match opt.group {
                Group::Both => true,
                Group::Init => init,
                Group::Bench | Group::Cluster => !init,
            })
            .filter_map(|opt| Some((opt, variable(&opt.env()?)?)))
            .filter(|(opt, value)| opt.value.is_some() || is_set(value))
            .filter(|(opt, _)| !line.given.iter().any(|given| overrides(given.opt, opt)))
            .map(|(opt, value)| Given { opt, value, from_variable: true })
            .collect::<Vec<_>>();
        line.given.splice(0..0, from_environment);
        line
    }

    /// Fails with what could not be read, if anything.
    pub fn readable(&self) -> Result<(), UsageError> {
        self.trouble.clone().map_or(Ok(()), Err)
    }

    /// Whether an option was given, by its long name.
    #[must_use]
    pub fn has(&self, long: &str) -> bool {
        self.given.iter().any(|given| given.opt.long == long)
    }

    /// An error of several options together, with the variables that may have a part in it.
    #[must_use]
    pub fn blame(&self, error: UsageError) -> UsageError {
        let from_variables = self.given.iter().filter(|given| given.from_variable);
        let names = from_variables.filter_map(|given| given.opt.env()).collect::<Vec<_>>();
        if names.is_empty() {
            return error;
        }
        error.detail(format!("values of variables took part: {}", names.join(", ")))
    }

    fn read_arguments(
        &mut self,
        args: impl IntoIterator<Item = OsString>,
    ) -> Result<(), UsageError> {
        let mut parser = Parser::from_args(args);
        while let Some(arg) = parser.next().map_err(|e| unexpected(&e))? {
            let mut long = false;
            let opt = match arg {
                Arg::Value(value) => {
                    self.operands.push(utf8(value)?);
                    continue;
                }
                Arg::Short('?') | Arg::Long("help") => {
                    self.help = true;
                    continue;
                }
                Arg::Short('V') | Arg::Long("version") => {
                    self.version = true;
                    continue;
                }
                Arg::Short(letter) => table::by_short(letter).ok_or_else(|| {
                    UsageError::new(format!("invalid option -- '{letter}'")).try_help()
                })?,
                Arg::Long(name) => {
                    long = true;
                    one_of(name)?
                }
            };
            let value = match opt.value {
                Some(_) => utf8(parser.value().map_err(|_| without_value(opt, long))?)?,
                None => String::new(),
            };
            self.given.push(Given { opt, value, from_variable: false });
        }
        Ok(())
    }
}

/// Whether an option of the command line makes the variable of another one void: because it is the same, or
/// because only one of the two can count. Scripts add up among themselves, but not with those of variables.
fn overrides(given: &Opt, of_variable: &Opt) -> bool {
    const RIVALS: [&[&str]; 3] = [
        &["transactions", "time"],
        &["builtin", "file", "skip-some-updates", "select-only"],
        &["results", "no-results"],
    ];
    let rivals = |names: &&[&str]| names.contains(&given.long) && names.contains(&of_variable.long);
    (given.long == of_variable.long && given.long != "define") || RIVALS.iter().any(rivals)
}

/// A flag's variable counts unless it plainly says no, so that a manifest can switch it off.
fn is_set(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "" | "0" | "false" | "no" | "off")
}

fn one_of(name: &str) -> Result<&'static Opt, UsageError> {
    match table::by_prefix(name).as_slice() {
        [one] => Ok(one),
        [] => Err(UsageError::new(format!("unrecognized option '--{name}'")).try_help()),
        several => {
            let names = several.iter().map(|opt| format!("'--{}'", opt.long)).collect::<Vec<_>>();
            Err(UsageError::new(format!(
                "option '--{name}' is ambiguous; possibilities: {}",
                names.join(" ")
            ))
            .try_help())
        }
    }
}

/// getopt's words: one form for long names, another for letters.
fn without_value(opt: &Opt, long: bool) -> UsageError {
    let text = match opt.short {
        Some(letter) if !long => format!("option requires an argument -- '{letter}'"),
        _ => format!("option '--{}' requires an argument", opt.long),
    };
    UsageError::new(text).try_help()
}

fn unexpected(error: &lexopt::Error) -> UsageError {
    match error {
        lexopt::Error::UnexpectedValue { option, .. } => {
            UsageError::new(format!("option '{option}' doesn't allow an argument")).try_help()
        }
        other => UsageError::new(other.to_string()).try_help(),
    }
}

fn utf8(value: OsString) -> Result<String, UsageError> {
    value.into_string().map_err(|raw| {
        UsageError::new(format!("argument is not valid UTF-8: {}", raw.to_string_lossy()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(args: &[&str]) -> CommandLine {
        CommandLine::read(args.iter().map(OsString::from), |_| None)
    }

    fn shown(line: &CommandLine) -> Vec<String> {
        line.given.iter().map(|g| format!("{}={}", g.opt.long, g.value)).collect()
    }

    #[test]
    fn options_keep_their_order_among_operands() {
        let line = read(&["-nSc10", "db", "--time=5", "--cl", "3", "-b", "-x", "more"]);
        assert_eq!(
            shown(&line),
            ["no-vacuum=", "select-only=", "client=10", "time=5", "client=3", "builtin=-x"]
        );
        assert_eq!(line.operands, ["db", "more"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (args, message) in [
            (&["--nosuch"][..], "unrecognized option '--nosuch'"),
            (&["-y"], "invalid option -- 'y'"),
            (&["-c"], "option requires an argument -- 'c'"),
            (&["--cl"], "option '--client' requires an argument"),
            (&["--quiet=1"], "option '--quiet' doesn't allow an argument"),
            (&["--pro", "1"], "option '--pro' is ambiguous"),
        ] {
            let error = read(args).readable().unwrap_err().to_string();
            assert!(error.contains(message), "{args:?}: {error}");
            assert!(error.contains("--help"), "{args:?}: {error}");
        }
    }

    #[test]
    fn an_argument_beats_the_variable_of_its_rival() {
        let variable = |name: &str| match name {
            "PGSURGE_TIME" | "PGSURGE_CLIENT" => Some("7".to_owned()),
            "PGSURGE_BUILTIN" => Some("simple".to_owned()),
            "PGSURGE_DEFINE" => Some("a=1".to_owned()),
            _ => None,
        };
        let args = ["-S", "-t", "1", "-D", "b=2"].map(OsString::from);
        let line = CommandLine::read(args, variable);
        assert_eq!(
            shown(&line),
            ["client=7", "define=a=1", "select-only=", "transactions=1", "define=b=2"]
        );
    }

    #[test]
    fn variables_come_before_arguments_and_only_for_the_mode() {
        let variable = |name: &str| match name {
            "PGSURGE_CLIENT" => Some("7".to_owned()),
            "PGSURGE_QUIET" => Some("1".to_owned()),
            "PGSURGE_INSECURE" => Some("off".to_owned()),
            _ => None,
        };
        let line = CommandLine::read(["-c", "9"].map(OsString::from), variable);
        assert_eq!(shown(&line), ["client=9"]);
        let line = CommandLine::read(["-i"].map(OsString::from), variable);
        assert_eq!(shown(&line), ["quiet=", "initialize="].map(|s| s.replace("quiet=", "quiet=1")));
    }
}
