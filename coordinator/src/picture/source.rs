//! What a page of a run is made of: the files of its results folder.

use std::fs::File;
use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde::de::DeserializeOwned;

use super::record::{IntervalRow, Part, PartRow, Record, Shows};
use super::server::{ServerRecord, ServerRow};
use crate::report::summary::Summary;
use crate::report::summary::read::{ReadError, read};

/// The phase that pages are about.
const MEASURED: &str = "measure";

/// The files of a run's results folder, thinned out to what a page can show.
#[derive(Debug)]
pub struct RunFiles {
    /// `summary.json`.
    pub(super) summary: Summary,
    /// `intervals.csv`, `agents.csv` and `scripts.csv`, the measured part.
    pub(super) record: Record,
    /// `server.csv`, without readings where the server was not observed.
    pub(super) server: ServerRecord,
    /// Response time of the measured part, from `latency.hlog`, in microseconds.
    pub(super) response: Option<Histogram<u64>>,
    /// Service time; only under `-R`.
    pub(super) service: Option<Histogram<u64>>,
}

impl RunFiles {
    /// Reads a results folder, complete or partial.
    ///
    /// # Errors
    /// There is no summary in it, or a file is not what pgsurge writes.
    pub fn read(folder: &Path) -> Result<Self, ReadError> {
        let summary = read(folder)?;
        let mut record = Record::new(Shows::of(&summary.totals));
        each_row(&folder.join("intervals.csv"), |row: IntervalRow| {
            if row.phase == MEASURED {
                record.intervals.push(row);
            }
        })?;
        let agents = summary.agents.iter().map(|agent| agent.name.as_str());
        record.agents = parts(&folder.join("agents.csv"), &summary, agents)?;
        let scripts = summary.scripts.iter().map(|script| script.name.as_str());
        record.scripts = parts(&folder.join("scripts.csv"), &summary, scripts)?;
        record.leave_out_tail(summary.config.interval_s);
        let mut server = ServerRecord::new();
        each_row(&folder.join("server.csv"), |row: ServerRow| server.push(&row))?;
        server.close();
        let [response, service] = histograms(&folder.join("latency.hlog"))?;
        Ok(Self { summary, record, server, response, service })
    }
}

/// Reads a table row by row; none where the file is not there.
fn each_row<T: DeserializeOwned>(path: &Path, mut take: impl FnMut(T)) -> Result<(), ReadError> {
    let malformed =
        |error: csv::Error| ReadError::Malformed { path: path.to_owned(), what: error.to_string() };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(malformed(error.into())),
    };
    let mut reader = csv::Reader::from_reader(file);
    reader.deserialize().try_for_each(|row| row.map(&mut take)).map_err(malformed)
}

/// The rows of each of these parts, which the table names by their places.
fn parts<'a>(
    path: &Path,
    run: &Summary,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<Part>, ReadError> {
    let mut parts: Vec<Part> = names.map(Part::new).collect();
    let (interval_s, end_s) = (run.config.interval_s, run.totals.duration_s);
    each_row(path, |mut row: PartRow| {
        // The last one ends with the measured part.
        let left_s = end_s - row.t_s;
        row.width_s = if left_s > 0.0 { interval_s.min(left_s) } else { interval_s };
        if let Some(part) = parts.get_mut(row.part).filter(|_| row.phase == MEASURED) {
            part.rows.push(row);
        }
    })?;
    parts.retain(|part| !part.rows.rows().is_empty());
    Ok(parts)
}

/// Sums of the log's histograms without a tag, and of those of service time.
fn histograms(path: &Path) -> Result<[Option<Histogram<u64>>; 2], ReadError> {
    let malformed = |what: String| ReadError::Malformed { path: path.to_owned(), what };
    let log = match std::fs::read(path) {
        Ok(log) => log,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok([None, None]),
        Err(error) => return Err(malformed(error.to_string())),
    };
    let (mut sums, mut deserializer) = ([None, None], Deserializer::new());
    for entry in IntervalLogIterator::new(&log) {
        let LogEntry::Interval(line) = entry.map_err(|error| malformed(format!("{error:?}")))?
        else {
            continue;
        };
        let sum = match line.tag().map(|tag| tag.as_str()) {
            None => &mut sums[0],
            Some("service") => &mut sums[1],
            Some(_) => continue,
        };
        let bytes = STANDARD.decode(line.encoded_histogram());
        let bytes = bytes.map_err(|error| malformed(error.to_string()))?;
        let part: Histogram<u64> = deserializer
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| malformed(error.to_string()))?;
        match sum {
            None => *sum = Some(part),
            Some(sum) => sum.add(&part).map_err(|error| malformed(error.to_string()))?,
        }
    }
    Ok(sums)
}
