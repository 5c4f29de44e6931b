//! How far loading a table has come: pgbench's lines, or a bar on a terminal.

use std::io::Write;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

/// Rows between two lines.
const EACH: u64 = 100_000;
/// Seconds between two lines of the quiet kind.
const QUIET_S: f64 = 5.0;
/// The quiet kind looks at the clock, and may end, at multiples of this only.
const QUIET_EACH: u64 = 100;

/// Where progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Into a file or a pipe: a line each time.
    Lines,
    /// On a terminal: a bar, or with `-q` one line that is written over.
    Terminal,
}

/// Progress of one table.
pub(super) struct Progress {
    table: &'static str,
    total: u64,
    start: Instant,
    kind: Kind,
    /// Length of the last line, which the next one on a terminal must cover.
    shown: usize,
    end_of_line: char,
}

enum Kind {
    /// The next row number with a line.
    Each(u64),
    /// The time, in seconds, of the next line.
    Quiet(f64),
    Bar(ProgressBar),
}

impl Progress {
    pub(super) fn new(table: &'static str, total: u64, quiet: bool, style: Style) -> Self {
        let (kind, end_of_line) = match (quiet, style) {
            (true, Style::Lines) => (Kind::Quiet(QUIET_S), '\n'),
            (true, Style::Terminal) => (Kind::Quiet(QUIET_S), '\r'),
            (false, Style::Lines) => (Kind::Each(EACH), '\n'),
            (false, Style::Terminal) => (Kind::Bar(bar(table, total)), '\r'),
        };
        Self { table, total, start: Instant::now(), kind, shown: 0, end_of_line }
    }

    /// All rows up to `row` have been sent.
    pub(super) fn reached(&mut self, row: u64, err: &mut dyn Write) {
        let elapsed = self.start.elapsed().as_secs_f64();
        match &mut self.kind {
            Kind::Bar(bar) => bar.set_position(row),
            Kind::Each(next) => {
                let first = *next / EACH;
                *next = (row / EACH + 1) * EACH;
                for hundred_thousands in first..=row / EACH {
                    self.line(hundred_thousands * EACH, elapsed, err);
                }
            }
            Kind::Quiet(next) => {
                let row = row - row % QUIET_EACH;
                if row > 0 && (row == self.total || elapsed >= *next) {
                    *next = (elapsed / QUIET_S).ceil().max(1.0) * QUIET_S;
                    self.line(row, elapsed, err);
                }
            }
        }
    }

    fn line(&mut self, row: u64, elapsed: f64, err: &mut dyn Write) {
        let (table, total, eol) = (self.table, self.total, self.end_of_line);
        let percent = row * 100 / total;
        let remaining = (total - row) as f64 * elapsed / row as f64;
        let text = format!(
            "{row} of {total} tuples ({percent}%) of {table} done (elapsed {elapsed:.2} s, remaining {remaining:.2} s)"
        );
        let width = self.shown;
        self.shown = text.len();
        // Standard error that is gone is no reason to stop loading.
        let _ = write!(err, "{text:width$}{eol}");
    }

    /// The table is loaded; what was written over is wiped.
    pub(super) fn end(self, err: &mut dyn Write) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
        if self.shown > 0 && self.end_of_line == '\r' {
            let width = self.shown;
            let _ = write!(err, "{:width$}\r", "");
        }
    }
}

fn bar(table: &'static str, total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{msg} {wide_bar} {percent}% of {human_len} rows, {eta} remaining",
    )
    .expect("the template names keys of indicatif only");
    ProgressBar::new(total).with_style(style).with_message(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(total: u64, quiet: bool, rows: &[u64]) -> Vec<String> {
        let mut progress = Progress::new("t", total, quiet, Style::Lines);
        let mut written = Vec::new();
        for &row in rows {
            progress.reached(row, &mut written);
        }
        progress.end(&mut written);
        let text = String::from_utf8_lossy(&written).into_owned();
        // Times vary; what stands before them does not.
        text.lines()
            .filter_map(|line| Some(line.split(" done (").next()?.trim().to_owned()))
            .collect()
    }

    #[test]
    fn a_line_stands_for_each_hundred_thousand_rows() {
        let expected = ["100000 of 250000 tuples (40%) of t", "200000 of 250000 tuples (80%) of t"];
        assert_eq!(lines(250_000, false, &[99_999, 100_001, 150_000, 250_000]), expected);
        assert_eq!(lines(250_000, false, &[250_000]), expected);
        assert!(lines(10, false, &[10]).is_empty());
    }

    #[test]
    fn the_quiet_kind_tells_the_end_if_it_is_a_round_number() {
        assert_eq!(lines(1000, true, &[50, 120, 1000]), ["1000 of 1000 tuples (100%) of t"]);
        assert!(lines(1010, true, &[1010]).is_empty());
    }

    #[test]
    fn a_shorter_line_covers_the_one_below_and_the_end_wipes_it() {
        let mut progress = Progress::new("t", 300_000, true, Style::Terminal);
        progress.shown = 90;
        let mut written = Vec::new();
        progress.reached(300_000, &mut written);
        assert_eq!((written.len(), written.last()), (91, Some(&b'\r')));
        written.clear();
        let width = progress.shown;
        progress.end(&mut written);
        assert_eq!(written, format!("{:width$}\r", "").into_bytes());
    }
}
