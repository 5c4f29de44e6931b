//! A sweep for people.

use std::io::{self, Write};

use super::answer::{Answer, Estimate, Point};
use crate::experiment::compare::Word;

/// Prints the table.
///
/// # Errors
/// The writer fails.
pub fn print(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let mut rows = vec![heading(answer)];
    rows.extend(answer.points.iter().map(row));
    let columns = rows[0].len();
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match column {
            // Names from the left, figures from the right.
            c if c < answer.axes.len() || c + 1 == columns => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    let few = |point: &Point| point.gain.is_some_and(|gain| gain.word == Word::TooFewRuns);
    if answer.points.iter().any(few) {
        writeln!(
            out,
            "whether a gain is more than chance takes 4 repeats, the interval of a median 6"
        )?;
    }
    for point in &answer.points {
        for why in &point.left_out {
            writeln!(out, "left out of {}: {why}", point.values.join(" "))?;
        }
    }
    if !answer.complete {
        writeln!(out, "the sweep did not come to its end; --resume goes on with it")?;
    }
    Ok(())
}

/// Names of the columns.
#[must_use]
pub fn heading(answer: &Answer) -> Vec<String> {
    let figures = ["runs", "tps", "95 %", "gain", "p50 ms", "p95 ms", "p99 ms", ""];
    answer.axes.iter().cloned().chain(figures.map(str::to_owned)).collect()
}

/// A point.
#[must_use]
pub fn row(point: &Point) -> Vec<String> {
    let shown = |estimate: Option<Estimate>, digits: usize| {
        estimate.map_or_else(|| "-".to_owned(), |found| format!("{:.digits$}", found.median))
    };
    let interval = point.tps.and_then(|tps| tps.interval);
    let mut cells = point.values.clone();
    cells.push(point.runs.to_string());
    cells.push(shown(point.tps, 1));
    cells.push(interval.map_or_else(String::new, |(low, high)| format!("{low:.1} to {high:.1}")));
    cells.push(match point.gain {
        Some(gain) => format!("{:+.1} %", gain.percent),
        None if point.values == point.baseline => "baseline".to_owned(),
        None => "-".to_owned(),
    });
    cells.extend([point.p50_ms, point.p95_ms, point.p99_ms].map(|ms| shown(ms, 3)));
    cells.push(word(point).to_owned());
    cells
}

fn word(point: &Point) -> &'static str {
    match (point.runs, point.gain.map(|gain| gain.word)) {
        (0, _) if point.left_out.is_empty() => "not measured",
        (0, _) => "invalid",
        (_, Some(Word::Better)) => "better",
        (_, Some(Word::Worse)) => "worse",
        (_, Some(Word::NoDifferenceShown)) => "no difference shown",
        (_, Some(Word::TooFewRuns) | None) => "",
    }
}
