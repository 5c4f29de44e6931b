//! The options that name the target; what they mean is libpq's business (`pgsurge_common::target`).

use super::read::CommandLine;
use super::usage::UsageError;

/// `-d`/DBNAME, `-h`, `-p`, `-U` as given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionArgs {
    /// Database name, keyword string or URI.
    pub dbname: Option<String>,
    /// Host name, address or socket directory.
    pub host: Option<String>,
    /// Port.
    pub port: Option<String>,
    /// Role.
    pub user: Option<String>,
}

impl ConnectionArgs {
    /// Takes them from a command line; the last of each counts.
    pub fn of(line: &CommandLine) -> Result<Self, UsageError> {
        let mut operands = line.operands.iter();
        let last = |long: &str| {
            let given = line.given.iter().rev().find(|given| given.opt.long == long);
            given.map(|given| given.value.clone())
        };
        let dbname = last("dbname").or_else(|| operands.next().cloned());
        if let Some(extra) = operands.next() {
            return Err(UsageError::new(format!(
                "too many command-line arguments (first is \"{extra}\")"
            ))
            .try_help());
        }
        Ok(Self { dbname, host: last("host"), port: last("port"), user: last("username") })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(args: &[&str]) -> Result<ConnectionArgs, UsageError> {
        let args = args.iter().map(std::ffi::OsString::from);
        ConnectionArgs::of(&CommandLine::read(args, |_| None))
    }

    #[test]
    fn the_database_is_an_option_or_the_operand_but_not_both() {
        assert_eq!(of(&["-c", "3", "bench"]).unwrap().dbname.as_deref(), Some("bench"));
        assert_eq!(of(&["-d", "a", "-d", "b"]).unwrap().dbname.as_deref(), Some("b"));
        for args in [&["-d", "a", "b"][..], &["a", "b"]] {
            let error = of(args).unwrap_err().to_string();
            assert!(error.contains("(first is \"b\")"), "{error}");
        }
    }
}
