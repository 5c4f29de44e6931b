//! What a user expects of the figures (`--fail-if`): a figure, a relation and a bound that together
//! describe a failure.
//!
//! Pure. A figure that a run did not yield cannot meet an expectation, so it counts as missed: a test
//! that measured nothing must not pass.

mod figure;
mod parse;

pub use figure::{Figure, Measured, Statistic, Time};
pub use parse::{NotAnExpectation, missed};

/// A condition under which a run has failed, as in `p99>20ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// As the user wrote it.
    text: String,
    figure: Figure,
    relation: Relation,
    /// In the figure's own unit: milliseconds, a share of 1, transactions per second.
    bound: f64,
}

/// How a figure stands to its bound in a run that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// What became of an expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The condition, as the user wrote it.
    pub expression: String,
    /// The figure in milliseconds, as a share of 1, or per second; absent if the run did not yield it.
    pub value: Option<f64>,
    /// The condition holds, so the run has failed.
    pub missed: bool,
    /// The figure with its unit, for people.
    pub shown: String,
}

impl Expectation {
    /// As the user wrote it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is about a figure that only a rate (`-R`) yields.
    #[must_use]
    pub fn needs_rate(&self) -> bool {
        matches!(self.figure, Figure::Latency(Time::Service | Time::Lag, _) | Figure::Skipped)
    }

    /// Whether it is about a figure that only a latency limit (`-L`) yields.
    #[must_use]
    pub fn needs_limit(&self) -> bool {
        matches!(self.figure, Figure::Late | Figure::Skipped)
    }

    /// Looks at the figures.
    #[must_use]
    pub fn check(&self, measured: &Measured) -> Checked {
        let value = self.figure.of(measured);
        Checked {
            expression: self.text.clone(),
            value,
            missed: value.is_none_or(|value| self.relation.holds(value, self.bound)),
            shown: value.map_or("not measured".into(), |value| self.figure.show(value)),
        }
    }
}

impl Relation {
    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
        }
    }
}

#[cfg(test)]
mod tests;
