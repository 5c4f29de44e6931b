//! What a search comes to: the best point, whether it is better than the baseline, and how to have it.

use pgsurge_common::inference::{median, ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::question::{Head, Strategy};
use super::trial::{Purpose, Trial};
use crate::experiment::compare::{Metric, Word};
use crate::experiment::stage::{Knob, statement};

/// Name and version of the form of `tune.json`.
pub const SCHEMA: &str = "pgsurge.tune/1";

/// The whole of it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The answer of pgsurge tune")]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: String,
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// By what points are judged.
    pub objective: String,
    /// How points were chosen: `grid`, `random` or `model`.
    pub strategy: String,
    /// The search and the confirmation came to their end.
    pub complete: bool,
    /// Values before anything was changed.
    pub baseline: Vec<String>,
    /// The best point of the search; null if none could be measured.
    pub best: Option<Vec<String>>,
    /// The best point against the baseline, both measured again in turns.
    pub confirmation: Option<Confirmation>,
    /// Statements that bring the best point about; empty unless it is better than the baseline.
    pub alter_system: Vec<String>,
    /// The same as lines of `postgresql.conf`.
    pub conf: Vec<String>,
    /// All measurements in order.
    pub trials: Vec<Trial>,
}

/// Two sets of runs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The objective without changes: median, and its interval from 6 runs on.
    pub baseline: (f64, Option<(f64, f64)>),
    /// The same of the best point.
    pub best: (f64, Option<(f64, f64)>),
    /// Difference in percent of the baseline.
    pub percent: f64,
    /// With 95 % confidence; null for fewer than 4 runs each.
    pub interval: Option<(f64, f64)>,
    /// What it comes to.
    pub word: Word,
}

impl Answer {
    /// From all measurements so far; `needs_restart` says whether a setting does.
    #[must_use]
    pub fn of(head: &Head, trials: &[Trial], needs_restart: impl Fn(&str) -> bool) -> Self {
        let question = &head.question;
        let best = best(trials);
        let confirmation = confirmation(head, trials);
        let better = confirmation.as_ref().is_some_and(|found| found.word == Word::Better);
        let changed: Vec<(&str, &str)> = match &best {
            Some(best) if better => changed(head, best),
            _ => Vec::new(),
        };
        let restart = |name: &str| if needs_restart(name) { " # needs a restart" } else { "" };
        let conf = changed.iter().map(|(name, value)| {
            format!("{name} = '{}'{}", value.replace('\'', "''"), restart(name))
        });
        let alter =
            changed.iter().map(|(name, value)| format!("{};", statement(name, Some(value))));
        let confirmed = |purpose| trials.iter().filter(|trial| trial.purpose == purpose).count();
        Self {
            schema: SCHEMA.to_owned(),
            parameters: question.axes.iter().map(|axis| axis.knob.name().to_owned()).collect(),
            objective: question.objective.clone(),
            strategy: match question.strategy {
                Strategy::Grid => "grid",
                Strategy::Random => "random",
                Strategy::Model => "model",
            }
            .to_owned(),
            complete: best.is_none() || confirmed(Purpose::BesideBest) >= question.confirmations,
            baseline: head.baseline.clone(),
            alter_system: alter.collect(),
            conf: conf.collect(),
            best,
            confirmation,
            trials: trials.to_vec(),
        }
    }

    /// The document's schema, as committed.
    #[must_use]
    pub fn schema() -> String {
        crate::report::summary::schema_of::<Self>()
    }
}

/// The point that was least bad against its baseline.
#[must_use]
pub fn best(trials: &[Trial]) -> Option<Vec<String>> {
    let points = trials.iter().filter(|trial| trial.purpose == Purpose::Point);
    let measured = points.filter_map(|trial| Some((trial.worse?, &trial.values)));
    measured.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, values)| values.clone())
}

fn confirmation(head: &Head, trials: &[Trial]) -> Option<Confirmation> {
    let values = |purpose: Purpose| -> Vec<f64> {
        let of = trials.iter().filter(|trial| trial.purpose == purpose);
        of.filter_map(|trial| trial.value).collect()
    };
    let (baseline, best) = (values(Purpose::BesideBest), values(Purpose::Best));
    let found = ratio(&baseline, &best)?;
    let more_is_better = head.question.metric().is_ok_and(Metric::more_is_better);
    let shown = |values: &[f64]| median(values).map(|found| (found.value, found.interval));
    let percent = |factor: f64| 100.0 * (factor - 1.0);
    Some(Confirmation {
        baseline: shown(&baseline)?,
        best: shown(&best)?,
        percent: percent(found.value),
        interval: found.interval.map(|(low, high)| (percent(low), percent(high))),
        word: Word::of(&found, more_is_better),
    })
}

/// Settings of the server in which the best point differs from the baseline.
fn changed<'a>(head: &'a Head, best: &'a [String]) -> Vec<(&'a str, &'a str)> {
    let axes = head.question.axes.iter().zip(&head.baseline).zip(best);
    axes.filter_map(|((axis, before), after)| match &axis.knob {
        Knob::Setting(name) if before != after => Some((name.as_str(), after.as_str())),
        _ => None,
    })
    .collect()
}
