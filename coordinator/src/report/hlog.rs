//! `latency.hlog`: HdrHistogram's interval log, for the tools that read it.
//!
//! Holds the measured part: response time without a tag; under `-R` also service time and schedule
//! lag under the tags `service` and `lag`. All values are microseconds.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriterBuilder, IntervalLogWriterError, Tag,
};
use pgsurge_common::stats::{Histogram, Interval, Phase};

/// Writes histograms as they are merged.
pub struct HistogramLog<W: Write> {
    out: W,
    length: Duration,
    serializer: V2DeflateSerializer,
}

impl<W: Write> HistogramLog<W> {
    /// Writes the heading; `started` is the wall clock at the start of the measured part.
    ///
    /// # Errors
    /// The writer fails.
    pub fn begin(mut out: W, length: Duration, started: SystemTime) -> io::Result<Self> {
        let mut serializer = V2DeflateSerializer::new();
        IntervalLogWriterBuilder::new()
            .add_comment("[Histogram log format version 1.3]")
            .add_comment("response time; tags: service time, schedule lag; in microseconds")
            .with_start_time(started)
            .with_base_time(started)
            .begin_log_with(&mut out, &mut serializer)?;
        let columns =
            r#""StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram""#;
        writeln!(out, "{columns}")?;
        Ok(Self { out, length, serializer })
    }

    /// Writes the next interval; those of the warm-up are left out.
    ///
    /// # Errors
    /// The writer fails.
    pub fn record(&mut self, interval: &Interval) -> io::Result<()> {
        if interval.phase != Phase::Measure {
            return Ok(());
        }
        let start = self.length * interval.index;
        self.write(&interval.response, start, None)?;
        for (histogram, tag) in [(&interval.service, "service"), (&interval.lag, "lag")] {
            if let Some(histogram) = histogram {
                self.write(histogram, start, Tag::new(tag))?;
            }
        }
        self.out.flush()
    }

    /// The writer.
    pub fn finish(self) -> W {
        self.out
    }

    fn write(&mut self, h: &Histogram, start: Duration, tag: Option<Tag<'_>>) -> io::Result<()> {
        // A writer of the crate borrows its output, so each line gets one; without a heading of its
        // own it writes nothing but the line.
        let written = IntervalLogWriterBuilder::new()
            .begin_log_with(&mut self.out, &mut self.serializer)?
            .write_histogram(h.buckets(), start, self.length, tag);
        written.map_err(|error| match error {
            IntervalLogWriterError::IoError(error) => error,
            IntervalLogWriterError::SerializeError(error) => io::Error::other(error.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use hdrhistogram::Histogram as Buckets;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use pgsurge_common::stats::{Interval, Phase};

    use super::HistogramLog;

    #[test]
    fn what_was_written_reads_back_interval_by_interval() {
        let second = Duration::from_secs(1);
        let start = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_500);
        let mut log = HistogramLog::begin(Vec::new(), second, start).expect("a vector");
        log.record(&Interval::new(Phase::Warmup, 0, 0, true)).expect("a vector");
        for index in 0..2 {
            let mut interval = Interval::new(Phase::Measure, index, 0, true);
            interval.response.record(1000 * u64::from(index + 1));
            interval.lag.as_mut().expect("rate limited").record(7);
            log.record(&interval).expect("a vector");
        }
        let bytes = log.finish();
        let entries: Vec<LogEntry<'_>> =
            IntervalLogIterator::new(&bytes).map(|entry| entry.expect("it parses")).collect();
        let mut seen = Vec::new();
        for entry in &entries {
            if let LogEntry::Interval(line) = entry {
                let text = line.encoded_histogram();
                let raw = base64_decode(text);
                let buckets: Buckets<u64> =
                    Deserializer::new().deserialize(&mut raw.as_slice()).expect("it decodes");
                let tag = line.tag().map(|tag| tag.as_str().to_owned());
                seen.push((line.start_timestamp().as_secs(), tag, buckets.max()));
            }
        }
        let tag = |name: &str| Some(name.to_owned());
        assert_eq!(seen.len(), 6);
        assert_eq!(seen[0], (0, None, 1000));
        assert_eq!(seen[1], (0, tag("service"), 0));
        assert_eq!(seen[2], (0, tag("lag"), 7));
        assert_eq!(seen[3], (1, None, 2000));
        assert!(entries.contains(&LogEntry::StartTime(Duration::from_millis(1_700_000_000_500))));
    }

    /// The log's histograms are base64 text.
    fn base64_decode(text: &str) -> Vec<u8> {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digits = text.bytes().filter(|&b| b != b'=');
        let values = digits.map(|b| alphabet.iter().position(|&a| a == b).expect("a digit"));
        let mut bits = 0_usize;
        let mut held = 0;
        let mut bytes = Vec::new();
        for value in values {
            bits = (bits << 6) | value;
            held += 6;
            if held >= 8 {
                held -= 8;
                bytes.push(u8::try_from((bits >> held) & 0xff).expect("eight bits"));
                bits &= (1 << held) - 1;
            }
        }
        bytes
    }
}
