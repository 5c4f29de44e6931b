//! A search as a page: what each point came to, and the confirmation.

use super::answer::Answer;
use super::table::sentence;
use super::trial::{Purpose, Trial};
use crate::experiment::compare::Word;
use crate::picture::{Curve, Curves, Sheet};

/// Draws it.
#[must_use]
pub fn page(answer: &Answer) -> Sheet {
    let mut heading = vec!["measurement".to_owned(), "purpose".to_owned()];
    heading.extend(answer.parameters.iter().cloned());
    heading.extend([&answer.objective, "against the baseline", "", "results"].map(str::to_owned));
    let rows = answer.trials.iter().enumerate().map(|(n, trial)| row(n, trial));
    Sheet {
        title: format!("Tuning of {}", answer.parameters.join(", ")),
        found: sentence(answer),
        good: answer.confirmation.as_ref().is_some_and(|found| found.word != Word::TooFewRuns),
        curves: vec![course(answer), confirmation(answer)],
        heading,
        rows: rows.collect(),
    }
}

/// The objective over the search.
fn course(answer: &Answer) -> Curves {
    let points = |purpose: Purpose| {
        let trials = answer.trials.iter().enumerate();
        let of = trials.filter(|(_, trial)| trial.purpose == purpose);
        of.map(|(n, trial)| ((n + 1) as f64, trial.value)).collect()
    };
    Curves {
        id: "course",
        title: format!("{} over the search", answer.objective),
        note: "How the baseline moves is how much the server drifts by itself.".to_owned(),
        axes: ["measurement", &answer.objective].map(str::to_owned),
        lines: vec![
            Curve::new("points", points(Purpose::Point)),
            Curve::new("baseline", points(Purpose::Baseline)),
        ],
        ..Curves::default()
    }
}

fn confirmation(answer: &Answer) -> Curves {
    let found = answer.confirmation.as_ref().map(|found| [found.baseline, found.best]);
    let of = found.into_iter().flatten();
    let (points, bars) =
        of.enumerate().map(|(n, (median, interval))| ((n as f64, Some(median)), interval)).unzip();
    Curves {
        id: "confirmation",
        title: "Confirmation".to_owned(),
        note: "Both measured again in turns: medians, with intervals of 95 % confidence from 6 runs on."
            .to_owned(),
        axes: ["", &answer.objective].map(str::to_owned),
        places: ["baseline", "best"].map(str::to_owned).to_vec(),
        lines: vec![Curve { name: answer.objective.clone(), points, bars }],
        ..Curves::default()
    }
}

fn row(n: usize, trial: &Trial) -> Vec<String> {
    let purpose = match trial.purpose {
        Purpose::Baseline => "baseline",
        Purpose::Point => "point",
        Purpose::Best => "best again",
        Purpose::BesideBest => "baseline again",
    };
    let mut cells = vec![(n + 1).to_string(), purpose.to_owned()];
    cells.extend(trial.values.iter().cloned());
    cells.push(trial.value.map_or_else(String::new, |value| format!("{value:.3}")));
    cells.push(trial.worse.map_or_else(String::new, |worse| {
        if worse <= 1.0 {
            format!("{:.1} % better", 100.0 * (1.0 / worse - 1.0))
        } else {
            format!("{:.1} % worse", 100.0 * (worse - 1.0))
        }
    }));
    cells.push(trial.because.clone().unwrap_or_default());
    cells.push(trial.folder.clone().unwrap_or_default());
    cells
}
