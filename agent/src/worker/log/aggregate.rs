//! Transactions of some seconds as one line: pgbench's aggregated log.
//!
//! A span begins at a whole second of the clock and is written when something ends behind it, empty ones
//! too; the last one, which is never over, is not.

use pgsurge_common::outcome::ErrorClass;
use pgsurge_common::stats::Moments;

use super::entry::{Columns, Entry, Outcome, next, number};
use super::file::{Failure, File};

const SECOND_US: u64 = 1_000_000;

/// See the module.
#[derive(Debug)]
pub(super) struct Aggregates {
    length_us: u64,
    /// In microseconds since the epoch.
    begin_us: u64,
    sums: Sums,
}

#[derive(Debug, Default)]
struct Sums {
    latency: Moments,
    lag: Moments,
    skipped: u64,
    retried: u64,
    retries: u64,
    serialization: u64,
    deadlock: u64,
    other: u64,
    connection: u64,
}

impl Aggregates {
    pub(super) fn new(seconds: u32) -> Self {
        Self { length_us: u64::from(seconds) * SECOND_US, begin_us: 0, sums: Sums::default() }
    }

    /// The first span begins at the second of this time of day.
    pub(super) fn begin(&mut self, at_us: u64) {
        self.begin_us = at_us / SECOND_US * SECOND_US;
    }

    /// Writes the spans that are over at a time of day.
    pub(super) fn close(
        &mut self,
        now_us: u64,
        columns: Columns,
        file: &mut File,
    ) -> Result<(), Failure> {
        let mut written = Ok(());
        loop {
            let end_us = self.begin_us.saturating_add(self.length_us);
            if end_us > now_us {
                return written;
            }
            let line = file.line(|line| self.sums.write(line, self.begin_us, columns));
            written = written.and(line);
            (self.begin_us, self.sums) = (end_us, Sums::default());
        }
    }

    /// Adds a transaction to the span in course.
    pub(super) fn add(&mut self, entry: &Entry) {
        let sums = &mut self.sums;
        sums.retried += u64::from(entry.retries > 0);
        sums.retries += u64::from(entry.retries);
        match entry.outcome {
            Outcome::Skipped => sums.skipped += 1,
            Outcome::Done { latency_us, lag_us } => {
                sums.latency.record(latency_us);
                sums.lag.record(lag_us);
            }
            Outcome::Failed(ErrorClass::Serialization) => sums.serialization += 1,
            Outcome::Failed(ErrorClass::Deadlock) => sums.deadlock += 1,
            Outcome::Failed(ErrorClass::Other) => sums.other += 1,
            Outcome::Failed(ErrorClass::Connection) => sums.connection += 1,
        }
    }
}

impl Sums {
    fn write(&self, line: &mut Vec<u8>, begin_us: u64, columns: Columns) {
        let nothing = Moments::default();
        number(line, u128::from(begin_us / SECOND_US));
        next(line, self.latency.count);
        for moments in [&self.latency, if columns.lag { &self.lag } else { &nothing }] {
            next(line, moments.sum);
            next(line, moments.sum_of_squares);
            next(line, moments.min);
            next(line, moments.max);
        }
        for count in [self.skipped, self.retried, self.retries] {
            next(line, count);
        }
        let kinds = [
            (true, self.serialization),
            (true, self.deadlock),
            // pgbench has this column since it can go on after such errors.
            (columns.others || columns.connections, self.other),
            (columns.connections, self.connection),
        ];
        for (_, count) in kinds.into_iter().filter(|(there, _)| *there) {
            next(line, if columns.kinds { count } else { 0 });
        }
    }
}
