//! `sweep`: runs over a grid of values, repeated, in an order that drift does not favour any point by.

mod answer;
mod measured;
mod order;
mod page;
mod plan;
mod table;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::stage::{Original, Stage, StageError, SystemBefore};
use super::{Journal, JournalError, OneRun, RunsError};

pub use answer::{Answer, Estimate, Gain, Point, SCHEMA};
pub use measured::{Measured, unusable};
pub use order::Order;
pub use page::page;
pub use plan::Plan;
pub use table::print;

/// Name of the journal in the folder of a sweep.
pub const JOURNAL: &str = "sweep.jsonl";
/// Name and version of its form.
const JOURNAL_SCHEMA: &str = "pgsurge.sweep-journal/1";
/// So many points that cannot be measured before any could mean that something else is wrong.
const FAILURES_MOST: usize = 3;

/// The first line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Head {
    /// What is to be done.
    pub plan: Plan,
    /// What ALTER SYSTEM had set of the server before.
    pub originals: Vec<Original>,
    /// What the operating system had.
    pub system: SystemBefore,
}

/// A sweep in course.
#[derive(Debug)]
pub struct Sweep {
    plan: Plan,
    journal: Journal,
    done: Vec<Measured>,
}

/// Why a sweep ends early; what is known by then is in its journal.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The journal fails.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The runs or the server do.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Nothing can be measured any more, or nothing could at all.
    #[error("there is nothing to go on with: {0}")]
    Failing(String),
}

impl SweepError {
    /// The user wanted it.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Stage(StageError::Runs(RunsError::Interrupted)))
    }
}

impl Sweep {
    /// Begins one.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn begin(folder: &Path, head: &Head) -> Result<Self, JournalError> {
        let journal = Journal::begin(&folder.join(JOURNAL), JOURNAL_SCHEMA, head)?;
        Ok(Self { plan: head.plan.clone(), journal, done: Vec::new() })
    }

    /// Goes on with one.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn resume(folder: &Path) -> Result<(Self, Head), JournalError> {
        let (journal, head, mut done) =
            Journal::resume::<Head, Measured>(&folder.join(JOURNAL), JOURNAL_SCHEMA)?;
        // What could not be measured may be this time.
        done.retain(|run| run.folder.is_some());
        Ok((Self { plan: head.plan.clone(), journal, done }, head))
    }

    /// What is known so far.
    #[must_use]
    pub fn answer(&self) -> Answer {
        Answer::of(&self.plan, &self.done)
    }

    /// How many runs there are to make, and how many are made.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        (self.plan.turns().len(), self.done.len())
    }

    /// Makes all runs that are still to be made; tells of each.
    ///
    /// # Errors
    /// See [`SweepError`].
    pub async fn go_on<R: OneRun>(
        &mut self,
        stage: &mut Stage<R>,
        mut told: impl FnMut(&Plan, &Measured),
    ) -> Result<(), SweepError> {
        let points = self.plan.points();
        let mut unstarted = 0;
        for (place, repeat) in self.plan.turns() {
            let point = &points[place];
            if self.done.iter().any(|run| run.point == *point && run.repeat == repeat) {
                continue;
            }
            let measured = self.measure(stage, point, repeat).await?;
            told(&self.plan, &measured);
            if measured.not_started {
                unstarted += 1;
                self.worth_going_on(stage, unstarted, &measured).await?;
            }
            self.journal.add(&measured)?;
            self.done.push(measured);
        }
        Ok(())
    }

    /// A point that cannot be measured is shown as such, unless no other one could be either.
    async fn worth_going_on<R: OneRun>(
        &self,
        stage: &Stage<R>,
        unstarted: usize,
        last: &Measured,
    ) -> Result<(), SweepError> {
        let because = || last.because.clone().unwrap_or_default();
        let some = self.done.iter().any(|run| run.folder.is_some());
        if !some && unstarted >= FAILURES_MOST {
            return Err(SweepError::Failing(because()));
        }
        stage.answers().await.map_err(|_| SweepError::Failing(because()))
    }

    /// One run; one whose figures cannot be used is made once more.
    async fn measure<R: OneRun>(
        &self,
        stage: &mut Stage<R>,
        point: &[String],
        repeat: usize,
    ) -> Result<Measured, SweepError> {
        let first = self.attempt(stage, point, repeat).await?;
        if first.valid || first.folder.is_none() {
            return Ok(first);
        }
        self.attempt(stage, point, repeat).await
    }

    async fn attempt<R: OneRun>(
        &self,
        stage: &mut Stage<R>,
        point: &[String],
        repeat: usize,
    ) -> Result<Measured, SweepError> {
        let name = format!("{}-{}", file_name(&self.plan.shown(point)), repeat + 1);
        match stage.run(&self.plan.state(point), name, &[]).await {
            Ok(run) => {
                let mut measured = Measured::of(point, repeat, &run);
                self.same_workload(&mut measured);
                Ok(measured)
            }
            Err(StageError::Point(why)) => Ok(Measured::not(point, repeat, why)),
            Err(StageError::Runs(RunsError::NotStarted(error))) => {
                let run = Measured::not(point, repeat, reason(&error));
                Ok(Measured { not_started: true, ..run })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Repeats of a point that ran something else, because options changed in between, are none.
    fn same_workload(&self, run: &mut Measured) {
        let earlier = self.done.iter().find(|done| done.point == run.point && done.valid);
        if earlier.is_some_and(|earlier| earlier.workload_digest != run.workload_digest) {
            run.valid = false;
            run.because = Some("another workload than in earlier repeats".to_owned());
        }
    }
}

/// Why a run did not come about, without the hints that follow.
pub(super) fn reason(error: &anyhow::Error) -> String {
    format!("{error:#}").lines().next().unwrap_or_default().to_owned()
}

/// A point as the name of a folder.
fn file_name(point: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "=._+-".contains(c) { c } else { '_' };
    let mut name: String = point.chars().map(plain).collect();
    name.truncate(150);
    name
}
