//! The log of one worker's transactions (`-l`), in the form that pgbench gives it.
//!
//! In reading order: what is told of a transaction ([`entry`]), sums over some seconds ([`aggregate`]), and the
//! file that takes the lines ([`file`]). Only the measured part is logged. Times of day come from the clock of the
//! run, set once at its start, so that no line costs a look at a clock. Nothing here allocates or waits for anything
//! but the disk, once per full buffer.

mod aggregate;
mod entry;
mod file;

use pgsurge_common::ids::WorkerId;
use pgsurge_common::plan::{Log as LogPlan, LogKind, Plan};
use pgsurge_common::random::Generator;
use pgsurge_common::stats::LogTotals;

use super::clock::RunTime;
use aggregate::Aggregates;
use entry::Columns;

pub(crate) use entry::{Entry, Outcome};
pub(super) use file::{Failure, File, Place};

/// See the module.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    form: Form,
    columns: Columns,
    /// The beginning of the load in microseconds since the epoch.
    origin_us: u64,
}

#[derive(Debug)]
enum Form {
    /// One line a transaction, if chance wants it.
    Lines(Option<Sampling>),
    /// One line for some seconds.
    Aggregates(Box<Aggregates>),
}

#[derive(Debug)]
struct Sampling {
    rate: f64,
    chance: Generator,
}

impl Log {
    /// The log of a worker into its file; `chance` is the worker's own stream for samples.
    pub(super) fn new(plan: &Plan, log: &LogPlan, file: File, chance: Generator) -> Self {
        let form = match log.kind {
            LogKind::Transactions { sampling_rate } => {
                Form::Lines(sampling_rate.map(|rate| Sampling { rate, chance }))
            }
            LogKind::Aggregates(seconds) => Form::Aggregates(Box::new(Aggregates::new(seconds))),
        };
        Self { file, form, columns: Columns::of(plan, log), origin_us: 0 }
    }

    /// The load began at `origin_us` since the epoch; nothing is logged before `first_us` after that.
    pub(super) fn begin(&mut self, origin_us: u64, first_us: u64) {
        self.file.keep();
        self.origin_us = origin_us;
        if let Form::Aggregates(aggregates) = &mut self.form {
            aggregates.begin(origin_us.saturating_add(first_us));
        }
    }

    /// Tells of a transaction.
    ///
    /// # Errors
    /// The file took nothing more, which is said once; what comes after that is only counted.
    pub(super) fn record(&mut self, entry: &Entry) -> Result<(), Failure> {
        let now_us = self.origin_us.saturating_add(entry.at.us());
        match &mut self.form {
            Form::Lines(sampling) => {
                if sampling.as_mut().is_some_and(|sampling| !sampling.takes()) {
                    return Ok(());
                }
                self.file.line(|line| entry.write(line, self.columns, now_us))
            }
            Form::Aggregates(aggregates) => {
                let written = aggregates.close(now_us, self.columns, &mut self.file);
                aggregates.add(entry);
                written
            }
        }
    }

    /// The load has ended: everything goes to the file, except sums over a time that is not over.
    pub(super) fn finish(mut self, now: RunTime) -> (LogTotals, Result<(), Failure>) {
        let now_us = self.origin_us.saturating_add(now.us());
        let closed = match &mut self.form {
            Form::Lines(_) => Ok(()),
            Form::Aggregates(aggregates) => aggregates.close(now_us, self.columns, &mut self.file),
        };
        let flushed = self.file.flush();
        (self.file.totals(), closed.and(flushed))
    }
}

impl Sampling {
    /// pgbench's draw: what exceeds the rate is left out.
    fn takes(&mut self) -> bool {
        self.chance.unit() <= self.rate
    }
}

/// A log file and who writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where it is.
    pub path: std::path::PathBuf,
    /// Its writer.
    pub worker: WorkerId,
}

#[cfg(test)]
mod tests;
