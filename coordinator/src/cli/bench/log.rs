//! What the command line says about logs of transactions; conflicts have pgbench's words.

use pgsurge_common::plan::{End, Log, LogKind};

use crate::cli::read::Given;
use crate::cli::usage::UsageError;
use crate::cli::values::{atof, count};
use crate::report::Choice;

/// `-l` and the options that go with it, as given.
#[derive(Clone, Debug, Default)]
pub(super) struct LogArgs {
    wanted: bool,
    prefix: Option<String>,
    sampling_rate: Option<f64>,
    aggregate_interval_s: Option<u32>,
    collect: bool,
}

/// What other options say that matters here.
pub(super) struct Beside<'a> {
    pub(super) end: End,
    pub(super) failures_detailed: bool,
    /// Agents on other hosts write the files.
    pub(super) agents: bool,
    pub(super) results: &'a Choice,
}

impl LogArgs {
    /// Takes one option; `false` if it is not one of these.
    pub(super) fn option(&mut self, given: &Given) -> Result<bool, UsageError> {
        let (opt, value) = (given.opt, given.value.as_str());
        match opt.long {
            "log" => self.wanted = true,
            "log-prefix" => self.prefix = Some(value.to_owned()),
            "sampling-rate" => {
                let rate = atof(value);
                if !(rate > 0.0 && rate <= 1.0) {
                    return Err(UsageError::new(format!("invalid sampling rate: \"{value}\"")));
                }
                self.sampling_rate = Some(rate);
            }
            "aggregate-interval" => self.aggregate_interval_s = Some(count(opt, value)?),
            "collect-logs" => self.collect = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The log, if one is wanted.
    pub(super) fn finish(self, beside: &Beside) -> Result<Option<Log>, UsageError> {
        self.check()?;
        self.check_length(beside.end)?;
        if !self.wanted {
            return Ok(None);
        }
        if self.collect && *beside.results == Choice::Nowhere {
            return Err(UsageError::new(
                "--collect-logs needs a results folder and cannot be used with --no-results",
            ));
        }
        let kind = match self.aggregate_interval_s {
            Some(seconds) => LogKind::Aggregates(seconds),
            None => LogKind::Transactions { sampling_rate: self.sampling_rate },
        };
        let log = Log {
            prefix: self.prefix.unwrap_or_else(|| Log::DEFAULT_PREFIX.to_owned()),
            kind,
            failures_detailed: beside.failures_detailed,
            collect: self.collect,
        };
        if beside.agents && !log.stays_below() {
            let prefix = &log.prefix;
            return Err(UsageError::new(format!(
                "log prefix \"{prefix}\" leads out of the agents' working folders"
            ))
            .hint("name a place below them with --log-prefix"));
        }
        Ok(Some(log))
    }

    fn check(&self) -> Result<(), UsageError> {
        let (sampled, aggregated) =
            (self.sampling_rate.is_some(), self.aggregate_interval_s.is_some());
        let conflicts = [
            (
                sampled && !self.wanted,
                "log sampling (--sampling-rate) is allowed only when logging transactions (-l)",
            ),
            (
                sampled && aggregated,
                "log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be used at the same time",
            ),
            (
                aggregated && !self.wanted,
                "log aggregation is allowed only when actually logging transactions",
            ),
            (
                self.prefix.is_some() && !self.wanted,
                "log file prefix (--log-prefix) is allowed only when logging transactions (-l)",
            ),
            (
                self.collect && !self.wanted,
                "--collect-logs is allowed only when logging transactions (-l)",
            ),
        ];
        match conflicts.into_iter().find(|(is, _)| *is) {
            Some((_, message)) => Err(UsageError::new(message)),
            None => Ok(()),
        }
    }

    fn check_length(&self, end: End) -> Result<(), UsageError> {
        let (Some(interval), End::Duration(length)) = (self.aggregate_interval_s, end) else {
            return Ok(());
        };
        let (interval, length) = (u64::from(interval), length.as_secs());
        if interval > length {
            return Err(UsageError::new(format!(
                "number of seconds for aggregation ({interval}) must not be higher than test duration ({length})"
            )));
        }
        if !length.is_multiple_of(interval) {
            return Err(UsageError::new(format!(
                "duration ({length}) must be a multiple of aggregation interval ({interval})"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cli::bench::BenchArgs;
    use crate::cli::read::CommandLine;

    fn fold(args: &str) -> Result<Option<Log>, String> {
        let args = args.split(' ').map(std::ffi::OsString::from);
        let line = CommandLine::read(args, |_| None);
        let folded = BenchArgs::fold(&line, |_| None).map_err(|error| error.to_string());
        Ok(folded?.log)
    }

    #[test]
    fn a_log_is_what_the_options_say() {
        let log = |prefix: &str, kind, failures_detailed, collect| {
            Some(Log { prefix: prefix.to_owned(), kind, failures_detailed, collect })
        };
        let lines = |sampling_rate| LogKind::Transactions { sampling_rate };
        for (args, expected) in [
            ("-n", None),
            ("-l", log("pgbench_log", lines(None), false, false)),
            (
                "-l --sampling-rate=0.5x --log-prefix=/a/b --failures-detailed",
                log("/a/b", lines(Some(0.5)), true, false),
            ),
            (
                "-l --aggregate-interval 5 -T 10 --collect-logs --agents 1",
                log("pgbench_log", LogKind::Aggregates(5), false, true),
            ),
        ] {
            assert_eq!(fold(args).unwrap(), expected, "{args}");
        }
    }

    /// The words are those of pgbench 18, where it has the option.
    #[test]
    fn options_that_do_not_go_together_are_named() {
        for (args, message) in [
            ("--sampling-rate=0.5", "is allowed only when logging transactions (-l)"),
            ("-l --sampling-rate=0.5 --aggregate-interval=1", "cannot be used at the same time"),
            ("--aggregate-interval=1", "allowed only when actually logging transactions"),
            ("--log-prefix=x", "log file prefix (--log-prefix) is allowed only when logging"),
            ("--collect-logs", "--collect-logs is allowed only when logging transactions (-l)"),
            ("-l --collect-logs --no-results", "needs a results folder and cannot be used with"),
            ("-l --sampling-rate=0", "invalid sampling rate: \"0\""),
            ("-l --sampling-rate=1.5", "invalid sampling rate: \"1.5\""),
            ("-l --aggregate-interval=-3", "--aggregate-interval must be in range 1..2147483647"),
            (
                "-l --aggregate-interval=10 -T 5",
                "number of seconds for aggregation (10) must not be higher than test duration (5)",
            ),
            (
                "-l --aggregate-interval=3 -T 10",
                "duration (10) must be a multiple of aggregation interval (3)",
            ),
            (
                "-c 2 --agents 2 -l --log-prefix=../x",
                "log prefix \"../x\" leads out of the agents' working folders",
            ),
        ] {
            let error = fold(args).unwrap_err();
            assert!(error.contains(message), "{args}: {error}");
        }
    }
}
