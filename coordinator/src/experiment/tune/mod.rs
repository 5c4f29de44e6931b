//! `tune`: a search for better values, against a baseline that is measured again and again, with a confirmation at the end.

mod answer;
mod page;
mod question;
mod strategy;
mod table;
mod trial;

use std::path::Path;

use super::compare::Metric;
use super::stage::{Axis, Knob, Stage, StageError};
use super::sweep::{reason, unusable};
use super::{Ended, Journal, JournalError, OneRun, RunsError};

pub use answer::{Answer, Confirmation, SCHEMA};
pub use page::page;
pub use question::{Head, Question, Strategy};
pub use table::print;
pub use trial::{Purpose, Trial};

use strategy::{Tried, next};
use trial::worse;

/// Name of the journal in the folder of a search.
pub const JOURNAL: &str = "tune.jsonl";

/// Name and version of its form.
const JOURNAL_SCHEMA: &str = "pgsurge.tune-journal/1";

/// A search in course.
#[derive(Debug)]
pub struct Tuning {
    head: Head,
    journal: Journal,
    trials: Vec<Trial>,
}

/// Why a search ends early; what is known by then is in its journal.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The journal fails.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The runs or the server do.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Without a baseline nothing can be judged.
    #[error("the baseline could not be measured: {0}")]
    Baseline(String),
}

impl TuneError {
    /// The user wanted it.
    #[must_use]
    pub fn is_interrupt(&self) -> bool {
        matches!(self, Self::Stage(StageError::Runs(RunsError::Interrupted)))
    }
}

/// What a run is for, as its folder's name has it.
struct Run<'a> {
    values: &'a [String],
    name: &'a str,
    seconds: u32,
}

/// What came of a run.
enum Attempt {
    /// The objective, and the name of its folder.
    Measured(f64, String),
    /// Its figures cannot be used.
    Unusable(String),
    /// It did not come about.
    NotMade(String),
}

impl Tuning {
    /// Begins one.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn begin(folder: &Path, head: Head) -> Result<Self, JournalError> {
        let journal = Journal::begin(&folder.join(JOURNAL), JOURNAL_SCHEMA, &head)?;
        Ok(Self { head, journal, trials: Vec::new() })
    }

    /// Goes on with one.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn resume(folder: &Path) -> Result<Self, JournalError> {
        let (journal, head, trials) = Journal::resume(&folder.join(JOURNAL), JOURNAL_SCHEMA)?;
        Ok(Self { head, journal, trials })
    }

    /// What is asked, and what was there before.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What is known so far.
    #[must_use]
    pub fn answer(&self, needs_restart: impl Fn(&str) -> bool) -> Answer {
        Answer::of(&self.head, &self.trials, needs_restart)
    }

    /// Searches to the end; tells of each measurement.
    ///
    /// # Errors
    /// See [`TuneError`].
    pub async fn go_on<R: OneRun>(
        &mut self,
        stage: &mut Stage<R>,
        mut told: impl FnMut(&Head, &Trial),
    ) -> Result<(), TuneError> {
        while let Some(point) = next(&self.head.question, &self.tried()) {
            if self.baseline_is_due() {
                let trial = self.baseline(stage).await?;
                told(&self.head, &trial);
                self.keep(trial)?;
            }
            let trial = self.point(stage, &point).await?;
            told(&self.head, &trial);
            self.keep(trial)?;
        }
        self.confirm(stage, told).await
    }

    fn keep(&mut self, trial: Trial) -> Result<(), TuneError> {
        self.journal.add(&trial)?;
        self.trials.push(trial);
        Ok(())
    }

    /// Points so far, by the places of their values.
    fn tried(&self) -> Vec<Tried> {
        let axes = &self.head.question.axes;
        let place = |(axis, value): (&Axis, &String)| {
            axis.values.iter().position(|known| known == value).unwrap_or(0)
        };
        let points = self.trials.iter().filter(|trial| trial.purpose == Purpose::Point);
        points
            .map(|trial| (axes.iter().zip(&trial.values).map(place).collect(), trial.worse))
            .collect()
    }

    fn baseline_is_due(&self) -> bool {
        let since = self.trials.iter().rev().position(|trial| trial.purpose == Purpose::Baseline);
        since.is_none_or(|points| points >= self.head.question.baseline_every)
    }

    async fn baseline<R: OneRun>(&self, stage: &mut Stage<R>) -> Result<Trial, TuneError> {
        let values = &self.head.baseline;
        let mut trial = Trial::new(Purpose::Baseline, values);
        let question = &self.head.question;
        if question.probe_seconds > 0 {
            let run = Run { values, name: "baseline-probe", seconds: question.probe_seconds };
            trial.probe = Some(self.run(stage, run).await?.map_err(TuneError::Baseline)?.0);
        }
        let run = Run { values, name: "baseline", seconds: question.seconds };
        let (value, folder) = self.run(stage, run).await?.map_err(TuneError::Baseline)?;
        (trial.value, trial.folder) = (Some(value), Some(folder));
        Ok(trial)
    }

    async fn point<R: OneRun>(
        &self,
        stage: &mut Stage<R>,
        point: &[usize],
    ) -> Result<Trial, TuneError> {
        let question = &self.head.question;
        let values =
            question.axes.iter().zip(point).map(|(axis, place)| axis.values[*place].clone());
        let values: Vec<String> = values.collect();
        let mut trial = Trial::new(Purpose::Point, &values);
        let before = self.trials.iter().rev().find(|trial| trial.purpose == Purpose::Baseline);
        let number = self.tried().len() + 1;
        if let Some(than) = before.and_then(|baseline| baseline.probe) {
            let name = format!("{number:03}-probe");
            let run = Run { values: &values, name: &name, seconds: question.probe_seconds };
            match self.run(stage, run).await? {
                Ok((value, folder)) => {
                    let worse = worse(value, than, self.more_is_better());
                    if worse > 1.0 + question.hopeless_percent / 100.0 {
                        let percent = 100.0 * (worse - 1.0);
                        (trial.worse, trial.folder) = (Some(worse), Some(folder));
                        trial.because =
                            Some(format!("hopeless: {percent:.0} % worse in its probe"));
                        return Ok(trial);
                    }
                }
                Err(why) => {
                    trial.because = Some(why);
                    return Ok(trial);
                }
            }
        }
        let name = format!("{number:03}");
        let run = Run { values: &values, name: &name, seconds: question.seconds };
        match self.run(stage, run).await? {
            Ok((value, folder)) => {
                (trial.value, trial.folder) = (Some(value), Some(folder));
                let than = before.and_then(|baseline| baseline.value);
                trial.worse = than.map(|than| worse(value, than, self.more_is_better()));
            }
            Err(why) => trial.because = Some(why),
        }
        Ok(trial)
    }

    /// The best point and the baseline in turns, so that a drift hits both.
    async fn confirm<R: OneRun>(
        &mut self,
        stage: &mut Stage<R>,
        mut told: impl FnMut(&Head, &Trial),
    ) -> Result<(), TuneError> {
        let Some(best) = answer::best(&self.trials) else { return Ok(()) };
        let baseline = self.head.baseline.clone();
        for turn in 0..self.head.question.confirmations {
            let mut pair =
                [(Purpose::Best, &best, "best"), (Purpose::BesideBest, &baseline, "beside-best")];
            if turn % 2 == 1 {
                pair.reverse();
            }
            for (purpose, values, name) in pair {
                let made = self.trials.iter().filter(|trial| trial.purpose == purpose).count();
                if made > turn {
                    continue;
                }
                let mut trial = Trial::new(purpose, values);
                let run = Run { values, name, seconds: self.head.question.seconds };
                match self.run(stage, run).await? {
                    Ok((value, folder)) => {
                        (trial.value, trial.folder) = (Some(value), Some(folder));
                    }
                    Err(why) => trial.because = Some(why),
                }
                told(&self.head, &trial);
                self.keep(trial)?;
            }
        }
        Ok(())
    }

    fn more_is_better(&self) -> bool {
        self.head.question.metric().is_ok_and(Metric::more_is_better)
    }

    /// A run's objective and folder, or why there is none; one whose figures cannot be used is made once more.
    async fn run<R: OneRun>(
        &self,
        stage: &mut Stage<R>,
        run: Run<'_>,
    ) -> Result<Result<(f64, String), String>, TuneError> {
        let attempt = match self.attempt(stage, &run).await? {
            Attempt::Unusable(_) => self.attempt(stage, &run).await?,
            first => first,
        };
        Ok(match attempt {
            Attempt::Measured(value, folder) => Ok((value, folder)),
            Attempt::Unusable(why) | Attempt::NotMade(why) => Err(why),
        })
    }

    async fn attempt<R: OneRun>(
        &self,
        stage: &mut Stage<R>,
        run: &Run<'_>,
    ) -> Result<Attempt, TuneError> {
        let axes = self.head.question.axes.iter().zip(run.values);
        let point: Vec<(Knob, String)> =
            axes.map(|(axis, value)| (axis.knob.clone(), value.clone())).collect();
        let length = ["-T".to_owned(), run.seconds.to_string()];
        match stage.run(&point, run.name.to_owned(), &length).await {
            Ok(ended) => Ok(self.objective(&ended)),
            Err(StageError::Point(why)) => Ok(Attempt::NotMade(why)),
            Err(StageError::Runs(RunsError::NotStarted(error))) => {
                Ok(Attempt::NotMade(reason(&error)))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn objective(&self, run: &Ended) -> Attempt {
        let value = self.head.question.metric().ok().and_then(|metric| metric.of(&run.summary));
        match (unusable(&run.summary), value) {
            (Some(why), _) => Attempt::Unusable(why),
            (None, None) => {
                Attempt::Unusable(format!("it has no {}", self.head.question.objective))
            }
            (None, Some(value)) => {
                let folder = run.folder.file_name().unwrap_or_default();
                Attempt::Measured(value, folder.to_string_lossy().into_owned())
            }
        }
    }
}
