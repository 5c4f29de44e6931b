//! One measurement of a search, as the journal keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// How the server is without any change, now.
    Baseline,
    /// A point of the search.
    Point,
    /// The best point once more, at the end.
    Best,
    /// The baseline beside it.
    BesideBest,
}

/// A measurement.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// What it was made for.
    pub purpose: Purpose,
    /// Values of the parameters.
    pub values: Vec<String>,
    /// The objective; null where there is none.
    pub value: Option<f64>,
    /// Of a baseline: the objective of its probe.
    pub probe: Option<f64>,
    /// Of a point: how much worse it is than the baseline before it, as a factor; below 1 it is better.
    pub worse: Option<f64>,
    /// Why there is no value.
    pub because: Option<String>,
    /// Its results, by the name of their folder.
    pub folder: Option<String>,
}

impl Trial {
    /// One that was not measured yet.
    #[must_use]
    pub fn new(purpose: Purpose, values: &[String]) -> Self {
        Self {
            purpose,
            values: values.to_vec(),
            value: None,
            probe: None,
            worse: None,
            because: None,
            folder: None,
        }
    }
}

/// How much worse a value is than another, as a factor.
#[must_use]
pub(super) fn worse(value: f64, than: f64, more_is_better: bool) -> f64 {
    if more_is_better { than / value } else { value / than }
}
