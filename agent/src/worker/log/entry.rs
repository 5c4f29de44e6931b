//! One transaction as a line of the log: client, number, time, script, time of day, and what options add.

use pgsurge_common::ids::ClientId;
use pgsurge_common::outcome::ErrorClass;
use pgsurge_common::plan::{Log, Plan};

use crate::worker::clock::RunTime;
use crate::worker::recorder::{Ended, Sample};

/// A transaction that has ended, or was skipped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Whose it was.
    pub(crate) client: ClientId,
    /// It was that client's so manieth, from 1.
    pub(crate) number: u64,
    /// Number of its script.
    pub(crate) script: usize,
    /// When it ended.
    pub(crate) at: RunTime,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// Tries beyond the first.
    pub(crate) retries: u32,
}

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// It is done.
    Done {
        /// From its due time to its end.
        latency_us: u64,
        /// From its due time to its beginning.
        lag_us: u64,
    },
    /// It failed for good.
    Failed(ErrorClass),
    /// It was never sent, since it would have been too late.
    Skipped,
}

/// The columns that depend on options.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a column of its own
pub(super) struct Columns {
    /// Schedule lag (`-R`).
    pub(super) lag: bool,
    /// Tries beyond the first, where there can be any.
    pub(super) retries: bool,
    /// Failures by their kind.
    pub(super) kinds: bool,
    /// Failures that only exist where errors do not end a client (`--continue-on-error`).
    pub(super) others: bool,
    /// Failures that only exist where a lost connection does not end a client (`--reconnect`).
    pub(super) connections: bool,
}

impl Columns {
    pub(super) fn of(plan: &Plan, log: &Log) -> Self {
        Self {
            lag: plan.load.rate_tps.is_some(),
            retries: plan.workload.max_tries != Some(1),
            kinds: log.failures_detailed,
            others: plan.workload.continue_on_error,
            connections: plan.load.reconnect,
        }
    }
}

impl Entry {
    /// A transaction as it was booked.
    pub(crate) fn of(client: ClientId, number: u64, sample: &Sample) -> Self {
        let outcome = match sample.ended {
            Ended::Success => Outcome::Done {
                latency_us: sample.end.us_since(sample.due),
                lag_us: sample.begun.us_since(sample.due),
            },
            Ended::Failed(class) => Outcome::Failed(class),
        };
        let &Sample { script, end: at, retries, .. } = sample;
        Self { client, number, script, at, outcome, retries }
    }

    /// Appends the line without its end; `now_us` is its time of day in microseconds since the epoch.
    pub(super) fn write(&self, line: &mut Vec<u8>, columns: Columns, now_us: u64) {
        number(line, u128::from(self.client.0));
        next(line, self.number);
        line.push(b' ');
        match self.outcome {
            Outcome::Done { latency_us, .. } => number(line, u128::from(latency_us)),
            Outcome::Skipped => line.extend_from_slice(b"skipped"),
            Outcome::Failed(class) => line.extend_from_slice(match class {
                _ if !columns.kinds => b"failed",
                ErrorClass::Serialization => b"serialization",
                ErrorClass::Deadlock => b"deadlock",
                ErrorClass::Other => b"other",
                ErrorClass::Connection => b"connection",
            }),
        }
        next(line, self.script as u64);
        next(line, now_us / 1_000_000);
        next(line, now_us % 1_000_000);
        if columns.lag {
            let lag_us = if let Outcome::Done { lag_us, .. } = self.outcome { lag_us } else { 0 };
            next(line, lag_us);
        }
        if columns.retries {
            next(line, self.retries);
        }
    }
}

/// A blank and a number.
pub(super) fn next(line: &mut Vec<u8>, value: impl Into<u128>) {
    line.push(b' ');
    number(line, value.into());
}

/// A number.
pub(super) fn number(line: &mut Vec<u8>, value: u128) {
    let mut digits = itoa::Buffer::new();
    // The narrow form is faster and nearly all there is.
    let text = match u64::try_from(value) {
        Ok(narrow) => digits.format(narrow),
        Err(_) => digits.format(value),
    };
    line.extend_from_slice(text.as_bytes());
}
