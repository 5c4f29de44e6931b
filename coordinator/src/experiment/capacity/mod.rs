//! `capacity`: the highest rate at which an objective holds, by runs under `-R`.

mod page;
mod search;
mod step;
mod table;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Asked, OneRun, Runs, RunsError};

pub use page::page;
pub use search::{Bounds, Found, Next, Search};
pub use step::Step;
pub use table::{HEADING, line, print, sentence};

/// Name and version of the form of `capacity.json`.
pub const SCHEMA: &str = "pgsurge.capacity/1";

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Question {
    /// What has to hold, as the user wrote it.
    pub objective: String,
    /// The conditions under which it does not, as `--fail-if` takes them.
    pub fail_if: String,
    /// Where to look.
    pub bounds: Bounds,
    /// Length of a run in seconds.
    pub seconds: u32,
}

/// What was found.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The answer of pgsurge capacity")]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: String,
    /// What had to hold.
    pub objective: String,
    /// The highest rate that was confirmed, in transactions per second; null if none holds.
    pub found_tps: Option<f64>,
    /// The lowest rate that did not hold, with the reason; null if none was tried.
    pub failed_tps: Option<f64>,
    /// Why it did not.
    pub failed_because: Option<String>,
    /// The search came to its end.
    pub complete: bool,
    /// The user ended it.
    pub interrupted: bool,
    /// All runs, in order.
    pub steps: Vec<Step>,
}

impl Answer {
    /// The document's schema, as committed.
    #[must_use]
    pub fn schema() -> String {
        crate::report::summary::schema_of::<Self>()
    }
}

/// Searches; tells each step as it ends. An interrupt ends the search with what is known.
///
/// # Errors
/// A run could not be made; an interrupt is none.
pub async fn search(
    question: &Question,
    runs: &Runs<impl OneRun>,
    mut told: impl FnMut(&Step),
) -> Result<Answer, RunsError> {
    let mut search = Search::new(question.bounds);
    let mut steps: Vec<Step> = Vec::new();
    loop {
        let rate = match search.next() {
            Next::Over(found) => return Ok(answer(question, Some(found), steps)),
            Next::Try(rate) | Next::Confirm(rate) => rate,
        };
        let step = match attempt(question, runs, (steps.len() + 1, rate)).await {
            Ok(step) => step,
            Err(RunsError::Interrupted) => return Ok(answer(question, None, steps)),
            Err(error) => return Err(error),
        };
        told(&step);
        search.tell(step.holds);
        steps.push(step);
    }
}

/// One run; one whose figures cannot be trusted is made once more.
async fn attempt(
    question: &Question,
    runs: &Runs<impl OneRun>,
    (number, rate): (usize, f64),
) -> Result<Step, RunsError> {
    let options = ["-R", &rate.to_string(), "-T", &question.seconds.to_string(), "--fail-if"];
    let mut options: Vec<String> = options.map(str::to_owned).to_vec();
    options.push(question.fail_if.clone());
    let asked = |name: String| Asked { name, options: options.clone() };
    let first = runs.run(&asked(format!("{number:02}-{rate:.0}"))).await?;
    if first.summary.verdict.valid {
        return Ok(Step::of(rate, &first));
    }
    let second = runs.run(&asked(format!("{number:02}-{rate:.0}-again"))).await?;
    Ok(Step::of(rate, &second))
}

fn answer(question: &Question, found: Option<Found>, steps: Vec<Step>) -> Answer {
    let (found_tps, failed_tps) = match found {
        Some(Found::AtLeast(held) | Found::Undecided(Some(held))) => (Some(held), None),
        Some(Found::Between(held, failed)) => (Some(held), Some(failed)),
        Some(Found::Nothing(failed)) => (None, Some(failed)),
        Some(Found::Undecided(None)) | None => (None, None),
    };
    let because = failed_tps.and_then(|failed| {
        steps.iter().rev().find(|step| step.rate_tps.total_cmp(&failed).is_eq() && !step.holds)
    });
    Answer {
        schema: SCHEMA.to_owned(),
        objective: question.objective.clone(),
        found_tps,
        failed_tps,
        failed_because: because.and_then(|step| step.because.clone()),
        interrupted: found.is_none(),
        complete: matches!(found, Some(Found::AtLeast(_) | Found::Between(..) | Found::Nothing(_))),
        steps,
    }
}
