//! A sweep as a page: ladders of throughput and response time, and the table.

use super::answer::{Answer, Estimate, Point};
use super::table::{heading, row};
use crate::picture::{Curve, Curves, Sheet};

/// Draws it.
#[must_use]
pub fn page(answer: &Answer) -> Sheet {
    let ladder = Ladder::of(answer);
    let throughput = Curves {
        id: "tps",
        title: "Throughput".to_owned(),
        note: "Medians of the repeats, with intervals of 95 % confidence from 6 repeats on."
            .to_owned(),
        lines: ladder.curves("", |point| point.tps),
        ..ladder.frame("transactions per second")
    };
    let mut lines = ladder.curves("p50", |point| point.p50_ms);
    lines.extend(ladder.curves("p99", |point| point.p99_ms));
    let latency = Curves {
        id: "latency",
        title: "Response time".to_owned(),
        note: "Medians of the repeats' percentiles.".to_owned(),
        log_y: true,
        lines,
        ..ladder.frame("ms, logarithmic")
    };
    let invalid = answer.points.iter().filter(|point| point.runs == 0).count();
    let found = match (answer.complete, invalid) {
        (false, _) => "The sweep did not come to its end.".to_owned(),
        (true, 0) => format!("{} points, {} runs each", answer.points.len(), answer.repeats),
        (true, _) => format!("{invalid} of {} points have no valid run", answer.points.len()),
    };
    Sheet {
        title: format!("Sweep over {}", answer.axes.join(", ")),
        found,
        good: answer.is_whole(),
        curves: vec![throughput, latency],
        heading: heading(answer),
        rows: answer.points.iter().map(row).collect(),
    }
}

/// One axis from left to right, a line for each combination of the others.
struct Ladder<'a> {
    answer: &'a Answer,
    axis: usize,
    steps: Vec<String>,
    /// Values of the other axes.
    lines: Vec<Vec<String>>,
}

impl<'a> Ladder<'a> {
    fn of(answer: &'a Answer) -> Self {
        let values =
            |axis: usize| distinct(answer.points.iter().map(|point| point.values[axis].clone()));
        let axis = (0..answer.axes.len()).max_by_key(|axis| values(*axis).len()).unwrap_or(0);
        let lines = distinct(answer.points.iter().map(|point| others(point, axis)));
        Self { answer, axis, steps: values(axis), lines }
    }

    /// Numbers stand where they are, words one after the other.
    fn places(&self) -> Option<Vec<f64>> {
        self.steps.iter().map(|step| step.parse().ok()).collect()
    }

    fn frame(&self, unit: &'static str) -> Curves {
        let names = if self.places().is_some() { Vec::new() } else { self.steps.clone() };
        Curves { axes: [self.name(), unit.to_owned()], places: names, ..Curves::default() }
    }

    fn name(&self) -> String {
        self.answer.axes.get(self.axis).cloned().unwrap_or_default()
    }

    fn curves(&self, of: &str, figure: fn(&Point) -> Option<Estimate>) -> Vec<Curve> {
        self.lines.iter().map(|line| self.curve(line, of, figure)).collect()
    }

    fn curve(&self, line: &[String], of: &str, figure: fn(&Point) -> Option<Estimate>) -> Curve {
        let places = self.places();
        let step = |(n, step): (usize, &String)| {
            let x = places.as_ref().map_or(n as f64, |places| places[n]);
            let here = |point: &&Point| {
                point.values[self.axis] == *step && others(point, self.axis) == line
            };
            (x, self.answer.points.iter().find(here).and_then(figure))
        };
        let found: Vec<(f64, Option<Estimate>)> = self.steps.iter().enumerate().map(step).collect();
        let name = format!("{of} {}", line.join(" ")).trim().to_owned();
        Curve {
            name: if name.is_empty() { "tps".to_owned() } else { name },
            points: found.iter().map(|(x, found)| (*x, found.map(|found| found.median))).collect(),
            bars: found.iter().map(|(_, found)| found.and_then(|found| found.interval)).collect(),
        }
    }
}

fn others(point: &Point, axis: usize) -> Vec<String> {
    let values = point.values.iter().enumerate();
    values.filter(|(n, _)| *n != axis).map(|(_, value)| value.clone()).collect()
}

fn distinct<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.fold(Vec::new(), |mut seen, value| {
        if !seen.contains(&value) {
            seen.push(value);
        }
        seen
    })
}
