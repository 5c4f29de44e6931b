//! What a plan must fulfil whoever made it: the command line says it with its own words before, the
//! fleet protocol relies on it.

use std::time::Duration;

use super::{End, Load, Log, LogKind, Plan, Workload};

/// Scripts in one plan, as in pgbench.
pub const MOST_SCRIPTS: usize = 128;

/// The longest warm-up or measured part: pgbench's greatest `-T`, and what intervals can count.
pub const LONGEST: Duration = Duration::from_secs(i32::MAX as u64);

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// No script.
    #[error("no script to run; name one with -b or -f")]
    NoScripts,
    /// More than [`MOST_SCRIPTS`].
    #[error("at most {MOST_SCRIPTS} SQL scripts are allowed, not {0}")]
    TooManyScripts(usize),
    /// No script would ever be chosen.
    #[error("total script weight must not be zero")]
    NoWeight,
    /// A number that must be at least 1.
    #[error("{0} must be at least 1")]
    Zero(&'static str),
    /// A rate that is not a positive number.
    #[error("{option} must be a positive number, not {value}")]
    Rate {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
    },
    /// A time that is too long.
    #[error("{option} must be at most {} s, not {} s", LONGEST.as_secs(), value.as_secs())]
    TooLong {
        /// The option.
        option: &'static str,
        /// Its value.
        value: Duration,
    },
    /// A run that might never end.
    #[error(
        "an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)"
    )]
    EndlessTries,
    /// A sampling rate that is no share.
    #[error("invalid sampling rate: \"{0}\"")]
    SamplingRate(f64),
    /// No server.
    #[error("no host to connect to")]
    NoHosts,
}

impl Plan {
    /// The plan itself, if it can be run.
    pub fn checked(self) -> Result<Self, PlanError> {
        check_workload(&self.workload)?;
        check_load(&self.load)?;
        self.log.as_ref().map_or(Ok(()), check_log)?;
        let bounded =
            self.load.latency_limit_us.is_some() || matches!(self.load.end, End::Duration(_));
        if self.workload.max_tries.is_none() && !bounded {
            return Err(PlanError::EndlessTries);
        }
        if self.target.hosts.is_empty() {
            return Err(PlanError::NoHosts);
        }
        Ok(self)
    }
}

fn check_workload(workload: &Workload) -> Result<(), PlanError> {
    match workload.scripts.len() {
        0 => return Err(PlanError::NoScripts),
        1..=MOST_SCRIPTS => {}
        more => return Err(PlanError::TooManyScripts(more)),
    }
    if workload.scripts.iter().all(|script| script.weight == 0) {
        return Err(PlanError::NoWeight);
    }
    at_least_one("--scale", workload.scale > 0)?;
    at_least_one("--max-tries", workload.max_tries != Some(0))
}

fn check_load(load: &Load) -> Result<(), PlanError> {
    at_least_one("--client", load.clients > 0)?;
    match load.end {
        End::Transactions(count) => at_least_one("--transactions", count > 0)?,
        End::Duration(length) => {
            at_least_one("--time", length >= Duration::from_secs(1))?;
            at_most("--time", length)?;
        }
    }
    at_most("--warmup", load.warmup)?;
    positive("--rate", load.rate_tps)?;
    at_least_one("--latency-limit (in microseconds)", load.latency_limit_us != Some(0))?;
    positive("--connect-rate", load.connect.rate_per_s)?;
    at_least_one("--connect-concurrency", load.connect.concurrency > 0)
}

fn check_log(log: &Log) -> Result<(), PlanError> {
    match log.kind {
        LogKind::Transactions { sampling_rate: Some(rate) } if !(rate > 0.0 && rate <= 1.0) => {
            Err(PlanError::SamplingRate(rate))
        }
        LogKind::Transactions { .. } => Ok(()),
        LogKind::Aggregates(seconds) => at_least_one("--aggregate-interval", seconds > 0),
    }
}

fn at_least_one(option: &'static str, is: bool) -> Result<(), PlanError> {
    if is { Ok(()) } else { Err(PlanError::Zero(option)) }
}

fn at_most(option: &'static str, value: Duration) -> Result<(), PlanError> {
    if value <= LONGEST { Ok(()) } else { Err(PlanError::TooLong { option, value }) }
}

fn positive(option: &'static str, rate: Option<f64>) -> Result<(), PlanError> {
    match rate {
        Some(value) if !(value.is_finite() && value > 0.0) => {
            Err(PlanError::Rate { option, value })
        }
        _ => Ok(()),
    }
}
