//! Reads expectations as a user writes them.
//!
//! `FIGURE RELATION BOUND[UNIT]`, several joined by commas; blanks do not matter. Figures: `tps`,
//! `failed`, `skipped`, `late`, and of the response time `mean`, `stddev`, `min`, `max` and `pNN` with
//! any number of digits behind a point; `service.` or `lag.` before one of these is about that time.

use std::str::FromStr;

use super::{Expectation, Figure, Relation, Statistic, Time};

/// Why a text is no expectation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAnExpectation {
    /// No relation in it.
    #[error("expected a figure, one of > >= < <=, and a bound, as in p99>20ms")]
    Shape,
    /// The figure is not known.
    #[error(
        "unknown figure \"{0}\": expected tps, failed, skipped, late, or mean, stddev, min, max, p50, p99.9 and \
         the like, with service. or lag. before it for another time than the response time"
    )]
    Figure(String),
    /// The bound is no number of the right unit.
    #[error("invalid bound \"{bound}\" for {figure}: expected {expected}")]
    Bound {
        /// As written.
        bound: String,
        /// The figure.
        figure: String,
        /// What would have been right.
        expected: &'static str,
    },
}

impl Expectation {
    /// Reads one or several, joined by commas.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn list(text: &str) -> Result<Vec<Self>, NotAnExpectation> {
        text.split(',').map(str::parse).collect()
    }
}

/// The conditions under which objectives are missed: each of them the other way round.
///
/// # Errors
/// One of them cannot be read.
pub fn missed(objectives: &str) -> Result<String, NotAnExpectation> {
    let missed = |objective: &str| {
        let _: Expectation = objective.parse()?;
        let (figure, relation, bound) = split(objective).ok_or(NotAnExpectation::Shape)?;
        let other = match relation {
            Relation::Above => "<=",
            Relation::AtLeast => "<",
            Relation::Below => ">=",
            Relation::AtMost => ">",
        };
        Ok(format!("{figure}{other}{bound}"))
    };
    let all = objectives.split(',').map(missed).collect::<Result<Vec<_>, NotAnExpectation>>();
    all.map(|all| all.join(","))
}

impl FromStr for Expectation {
    type Err = NotAnExpectation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, relation, bound) = split(text).ok_or(NotAnExpectation::Shape)?;
        let figure = figure(name).ok_or_else(|| NotAnExpectation::Figure(name.to_owned()))?;
        let bound = figure.read(bound).ok_or_else(|| NotAnExpectation::Bound {
            bound: bound.to_owned(),
            figure: name.to_owned(),
            expected: figure.unit(),
        })?;
        Ok(Self { text: text.trim().to_owned(), figure, relation, bound })
    }
}

fn split(text: &str) -> Option<(&str, Relation, &str)> {
    let at = text.find(['<', '>'])?;
    let (name, rest) = text.split_at(at);
    let (relation, bound) = match (rest.strip_prefix(">="), rest.strip_prefix("<=")) {
        (Some(bound), _) => (Relation::AtLeast, bound),
        (_, Some(bound)) => (Relation::AtMost, bound),
        _ if rest.starts_with('>') => (Relation::Above, &rest[1..]),
        _ => (Relation::Below, &rest[1..]),
    };
    Some((name.trim(), relation, bound.trim()))
}

fn figure(name: &str) -> Option<Figure> {
    let (time, statistic) = match name.split_once('.') {
        Some(("service", rest)) => (Time::Service, rest),
        Some(("lag", rest)) => (Time::Lag, rest),
        Some(("response", rest)) => (Time::Response, rest),
        _ => (Time::Response, name),
    };
    match name {
        "tps" => Some(Figure::Tps),
        "failed" => Some(Figure::Failed),
        "skipped" => Some(Figure::Skipped),
        "late" => Some(Figure::Late),
        _ => Some(Figure::Latency(time, self::statistic(statistic)?)),
    }
}

fn statistic(name: &str) -> Option<Statistic> {
    Some(match name {
        "mean" => Statistic::Mean,
        "stddev" => Statistic::StdDev,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        _ => {
            let percent = unsigned(name.strip_prefix('p')?)?;
            Statistic::Quantile(Some(percent / 100.0).filter(|q| *q > 0.0 && *q < 1.0)?)
        }
    })
}

/// A plain decimal number: no sign, exponent, `inf` or `NaN`.
fn unsigned(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|_| plain)
}

impl Figure {
    /// Reads a bound in its own unit.
    fn read(self, text: &str) -> Option<f64> {
        let (number, unit) = match text.find(|c: char| !c.is_ascii_digit() && c != '.') {
            Some(at) => (&text[..at], text[at..].trim()),
            None => (text, ""),
        };
        let number = unsigned(number)?;
        match (self, unit) {
            (Self::Tps, "") | (Self::Latency(..), "" | "ms") => Some(number),
            (Self::Latency(..), "us" | "µs") => Some(number / 1000.0),
            (Self::Latency(..), "s") => Some(number * 1000.0),
            (Self::Failed | Self::Skipped | Self::Late, "%") => Some(number / 100.0),
            // Without a unit 1 could mean all of them or one in a hundred.
            (Self::Failed | Self::Skipped | Self::Late, "") if number == 0.0 => Some(0.0),
            _ => None,
        }
    }

    /// What a bound looks like.
    fn unit(self) -> &'static str {
        match self {
            Self::Tps => "transactions per second, as in tps<1000",
            Self::Failed | Self::Skipped | Self::Late => "a percentage, as in 0.1%",
            Self::Latency(..) => "a time, as in 20ms, 500us or 1.5s",
        }
    }
}
