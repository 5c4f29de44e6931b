//! What is tuned, by what, and for how long.

use serde::{Deserialize, Serialize};

use crate::experiment::compare::Metric;
use crate::experiment::stage::{Axis, Original, SystemBefore};

/// How the next point is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// All combinations in order.
    Grid,
    /// Combinations by chance, each at most once.
    Random,
    /// Tree-structured Parzen estimators: where good points have been found, of each parameter by itself.
    #[default]
    Model,
}

/// What is asked; the first line of the journal holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Parameters with their values.
    pub axes: Vec<Axis>,
    /// By the name of a metric.
    pub objective: String,
    /// How points are chosen.
    pub strategy: Strategy,
    /// Of what is left to chance.
    pub seed: u64,
    /// Points at most.
    pub trials: usize,
    /// The baseline is measured again after so many points.
    pub baseline_every: usize,
    /// Length of a run in seconds.
    pub seconds: u32,
    /// Length of the run that shows whether a point is hopeless, in seconds; 0 for none.
    pub probe_seconds: u32,
    /// A point is hopeless if its probe is worse than the baseline by so many percent.
    pub hopeless_percent: f64,
    /// Runs of the best point and of the baseline at the end, each.
    pub confirmations: usize,
}

/// The first line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// What is asked.
    pub question: Question,
    /// Values of the parameters before anything was changed: the baseline.
    pub baseline: Vec<String>,
    /// What ALTER SYSTEM had set before.
    pub originals: Vec<Original>,
    /// What the operating system had.
    pub system: SystemBefore,
}

impl Question {
    /// Checks it.
    ///
    /// # Errors
    /// There is nothing to choose from, or the objective is none.
    pub fn check(&self) -> Result<(), String> {
        self.metric()?;
        if self.axes.is_empty() {
            return Err("nothing is tuned: --setting says what".to_owned());
        }
        for (place, axis) in self.axes.iter().enumerate() {
            let name = axis.knob.name();
            if axis.knob.is_another_question() {
                return Err(format!("{name} is what the load is, not what is tuned"));
            }
            if axis.values.is_empty() {
                return Err(format!("{name} has no values"));
            }
            if self.axes[..place].iter().any(|other| other.knob.name() == name) {
                return Err(format!("{name} is there twice"));
            }
        }
        if self.strategy == Strategy::Grid && self.points() > self.trials {
            let (points, trials) = (self.points(), self.trials);
            return Err(format!("the grid has {points} points, --trials allows {trials}"));
        }
        Ok(())
    }

    /// By what points are judged.
    ///
    /// # Errors
    /// There is no such figure.
    pub fn metric(&self) -> Result<Metric, String> {
        self.objective
            .parse()
            .map_err(|expected| format!("objective {}: {expected}", self.objective))
    }

    /// All combinations there are.
    #[must_use]
    pub fn points(&self) -> usize {
        self.axes.iter().fold(1, |points, axis| points.saturating_mul(axis.values.len()))
    }
}
