//! The server's own counters over time, from `server.csv`: what they grew by between readings, thinned out.
//!
//! A counter that went backwards was set to zero, or belongs to another life of the server; what it grew by then is a gap.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::series::{Join, Points, Thinned};

/// More points make a page slow and show nothing more.
const POINTS_MOST: usize = 1200;
/// Kinds of waits that are kept.
const WAITS_MOST: usize = 200;

/// A counter that pages show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
    /// Transactions committed.
    Commits,
    /// Transactions rolled back.
    Rollbacks,
    /// Blocks found in the server's cache.
    Hit,
    /// Blocks that were not.
    Read,
    /// Bytes of WAL.
    Wal,
    /// Checkpoints begun.
    Checkpoints,
    /// Bytes of temporary files.
    Temporary,
    /// Deadlocks.
    Deadlocks,
}

const COUNTERS: usize = 8;

/// Sources that a reading may lack: a statement was refused, or took too long. Rows of zero are left out of the file, so
/// only a row of the same source tells a zero from what was not read.
const SOURCES: [&str; 5] = ["database", "wal_position", "bgwriter", "checkpointer", "wait"];

const WAIT: &str = "wait";

/// Where each counter is found; what stands in several places is added up.
const PLACES: [(&str, &str, Counter); 11] = [
    ("database", "xact_commit", Counter::Commits),
    ("database", "xact_rollback", Counter::Rollbacks),
    ("database", "blks_hit", Counter::Hit),
    ("database", "blks_read", Counter::Read),
    ("wal_position", "position_bytes", Counter::Wal),
    ("bgwriter", "checkpoints_timed", Counter::Checkpoints),
    ("bgwriter", "checkpoints_req", Counter::Checkpoints),
    ("checkpointer", "num_timed", Counter::Checkpoints),
    ("checkpointer", "num_requested", Counter::Checkpoints),
    ("database", "temp_bytes", Counter::Temporary),
    ("database", "deadlocks", Counter::Deadlocks),
];

/// A row of `server.csv`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ServerRow {
    t_s: f64,
    source: String,
    object: String,
    figure: String,
    value: f64,
}

/// One reading, or several of them joined.
#[derive(Clone, Debug)]
struct Reading {
    t_s: f64,
    counters: [f64; COUNTERS],
    /// Which of [`SOURCES`] it has.
    read: [bool; SOURCES.len()],
    /// Sessions by what they waited for, summed over the readings that have any.
    waits: BTreeMap<String, f64>,
    /// How many do.
    readings: f64,
}

impl Reading {
    fn at(t_s: f64) -> Self {
        let (counters, read) = ([0.0; COUNTERS], [false; SOURCES.len()]);
        Self { t_s, counters, read, waits: BTreeMap::new(), readings: 0.0 }
    }
}

impl Join for Reading {
    /// Counters are those of the last one, for they only grow.
    fn join(&mut self, next: &Self) {
        self.t_s = next.t_s;
        self.counters = next.counters;
        self.read = next.read;
        self.readings += next.readings;
        for (event, sessions) in &next.waits {
            if self.waits.len() < WAITS_MOST || self.waits.contains_key(event) {
                *self.waits.entry(event.clone()).or_default() += sessions;
            }
        }
    }
}

/// All readings of a run.
#[derive(Debug)]
pub(super) struct ServerRecord {
    readings: Thinned<Reading>,
    /// The reading whose rows are coming in.
    open: Option<Reading>,
}

impl ServerRecord {
    pub(super) fn new() -> Self {
        Self { readings: Thinned::new(POINTS_MOST), open: None }
    }

    /// Takes the next row; those of one reading follow each other.
    pub(super) fn push(&mut self, row: &ServerRow) {
        let Some(source) = SOURCES.iter().position(|source| *source == row.source) else { return };
        if self.open.as_ref().is_none_or(|open| open.t_s.to_bits() != row.t_s.to_bits()) {
            self.close();
            self.open = Some(Reading::at(row.t_s));
        }
        let Some(open) = &mut self.open else { return };
        open.read[source] = true;
        if row.source == WAIT {
            *open.waits.entry(row.object.clone()).or_default() += row.value;
            open.readings = 1.0;
        }
        let place = |(source, figure, _): &&(&str, &str, Counter)| {
            *source == row.source && *figure == row.figure
        };
        if let Some((.., counter)) = PLACES.iter().find(place) {
            open.counters[*counter as usize] += row.value;
        }
    }

    /// The last reading is whole.
    pub(super) fn close(&mut self) {
        if let Some(reading) = self.open.take() {
            self.readings.push(reading);
        }
    }

    /// By how much a counter grew a second, at the end of each time between readings.
    pub(super) fn rate(&self, counter: Counter) -> Points {
        let grown = self.grown(counter);
        grown.map(|(from, until, grew)| (until, grew.map(|grew| grew / (until - from)))).collect()
    }

    /// Between which readings a counter grew.
    pub(super) fn growths(&self, counter: Counter) -> Vec<(f64, f64)> {
        let grown = self.grown(counter).filter(|(.., grew)| grew.is_some_and(|grew| grew > 0.0));
        grown.map(|(from, until, _)| (from, until)).collect()
    }

    fn grown(&self, counter: Counter) -> impl Iterator<Item = (f64, f64, Option<f64>)> {
        let pairs = self.readings.rows().windows(2).filter(|pair| pair[1].t_s > pair[0].t_s);
        pairs.map(move |pair| {
            let known = pair.iter().all(|reading| self.knows(reading, counter));
            let grew = pair[1].counters[counter as usize] - pair[0].counters[counter as usize];
            (pair[0].t_s, pair[1].t_s, (known && grew >= 0.0).then_some(grew))
        })
    }

    /// Whether a reading has the source of a counter. Checkpoints have one of their own from version 17 on.
    fn knows(&self, reading: &Reading, counter: Counter) -> bool {
        let has = |reading: &Reading, name: &str| {
            SOURCES.iter().zip(reading.read).any(|(source, read)| *source == name && read)
        };
        match counter {
            Counter::Wal => has(reading, "wal_position"),
            Counter::Checkpoints => {
                let apart = self.readings.rows().iter().any(|reading| has(reading, "checkpointer"));
                has(reading, if apart { "checkpointer" } else { "bgwriter" })
            }
            _ => has(reading, "database"),
        }
    }

    /// How many readings each point stands for.
    pub(super) fn group(&self) -> usize {
        self.readings.group()
    }

    /// Sessions by what they waited for, the most frequent first and at most so many; then all others.
    pub(super) fn waits(&self, most: usize) -> Vec<(String, Points)> {
        let rows = self.readings.rows();
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for (event, sessions) in rows.iter().flat_map(|row| &row.waits) {
            *sums.entry(event).or_default() += sessions;
        }
        let mut events: Vec<(&str, f64)> = sums.into_iter().collect();
        events.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (named, others) = events.split_at(events.len().min(most));
        let points = |of: &dyn Fn(&Reading) -> f64| -> Points {
            let mean = |row: &Reading| (row.readings > 0.0).then(|| of(row) / row.readings);
            rows.iter().map(|row| (row.t_s, mean(row))).collect()
        };
        let seen = |row: &Reading, event: &str| row.waits.get(event).copied().unwrap_or(0.0);
        let mut lines: Vec<(String, Points)> = named
            .iter()
            .map(|(event, _)| ((*event).to_owned(), points(&|row| seen(row, event))))
            .collect();
        if !others.is_empty() {
            let sum = |row: &Reading| others.iter().map(|(event, _)| seen(row, event)).sum();
            lines.push(("others".to_owned(), points(&sum)));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rows: &[(f64, &str, &str, &str, f64)]) -> ServerRecord {
        let mut record = ServerRecord::new();
        for &(t_s, source, object, figure, value) in rows {
            let [source, object, figure] = [source, object, figure].map(str::to_owned);
            record.push(&ServerRow { t_s, source, object, figure, value });
        }
        record.close();
        record
    }

    #[test]
    fn counters_show_what_they_grew_by_and_a_reset_is_a_gap() {
        let record = record(&[
            (0.0, "database", "", "xact_commit", 100.0),
            (2.0, "database", "", "xact_commit", 150.0),
            (4.0, "database", "", "xact_commit", 10.0),
            (5.0, "database", "", "xact_commit", 40.0),
        ]);
        let expected = [(2.0, Some(25.0)), (4.0, None), (5.0, Some(30.0))];
        assert_eq!(record.rate(Counter::Commits), expected);
        assert_eq!(record.growths(Counter::Commits), [(0.0, 2.0), (4.0, 5.0)]);
    }

    #[test]
    fn what_a_reading_lacks_is_a_gap_and_no_zero() {
        let record = record(&[
            (0.0, "database", "", "xact_commit", 1000.0),
            (0.0, "wait", "idle", "sessions", 2.0),
            (1.0, "wal_position", "", "position_bytes", 5.0),
            (2.0, "database", "", "xact_commit", 1300.0),
            (3.0, "database", "", "xact_commit", 1400.0),
        ]);
        let expected = [(1.0, None), (2.0, None), (3.0, Some(100.0))];
        assert_eq!(record.rate(Counter::Commits), expected);
        assert_eq!(record.waits(1)[0].1[1], (1.0, None));
        // A zero is no row, but the source has others.
        let expected = [(1.0, None), (2.0, None), (3.0, Some(0.0))];
        assert_eq!(record.rate(Counter::Rollbacks), expected);
    }

    #[test]
    fn checkpoints_of_either_kind_are_added_up() {
        let record = record(&[
            (0.0, "bgwriter", "", "checkpoints_timed", 1.0),
            (0.0, "bgwriter", "", "checkpoints_req", 5.0),
            (1.0, "bgwriter", "", "checkpoints_timed", 1.0),
            (1.0, "bgwriter", "", "checkpoints_req", 6.0),
            (2.0, "bgwriter", "", "checkpoints_timed", 1.0),
            (2.0, "bgwriter", "", "checkpoints_req", 6.0),
        ]);
        assert_eq!(record.growths(Counter::Checkpoints), [(0.0, 1.0)]);
    }

    #[test]
    fn the_most_frequent_waits_have_lines_of_their_own() {
        let record = record(&[
            (0.0, "wait", "running", "sessions", 5.0),
            (0.0, "wait", "IO:DataFileRead", "sessions", 1.0),
            (1.0, "wait", "running", "sessions", 3.0),
            (1.0, "wait", "Lock:tuple", "sessions", 2.0),
        ]);
        let waits = record.waits(2);
        let names: Vec<&str> = waits.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["running", "Lock:tuple", "others"]);
        assert_eq!(waits[0].1, [(0.0, Some(5.0)), (1.0, Some(3.0))]);
        assert_eq!(waits[2].1, [(0.0, Some(1.0)), (1.0, Some(0.0))]);
    }
}
