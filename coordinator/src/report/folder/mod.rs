//! The results folder of a run: complete, or named as partial (I5).
//!
//! Everything is written into `DIR.partial`, which becomes `DIR` by one rename when the run is whole;
//! what a crash, a signal or a full disk leaves behind keeps the telling name. Writing never stops a
//! run: the first error is told at once, kept and reported at the end, when the report is on stdout already.

mod partial;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pgsurge_common::plan::Plan;

use partial::Partial;

use super::hlog::HistogramLog;
use super::intervals::{IntervalTable, Lasted};
use super::parts::PartTable;
use super::summary::Summary;
use super::{RunResult, plan_file};
use crate::merge::ClusterInterval;

/// Parent of the results that nobody named a folder for.
pub const DEFAULT_PARENT: &str = "pgsurge-results";

/// What the command line says about results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// `--no-results`.
    Nowhere,
    /// `pgsurge-results/<run-id>` below the working directory.
    Default,
    /// `--results DIR`.
    Folder(PathBuf),
}

/// Why results are not where they were to be.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// Somebody else's results are there.
    #[error("results folder {} exists already; name another one with --results", .0.display())]
    Exists(PathBuf),
    /// A run in course will put its results there.
    #[error(
        "another run is writing its results to {} (as {}), name another folder with --results",
        place.display(), partial.display()
    )]
    Busy {
        /// Where they will be.
        place: PathBuf,
        /// Where they are.
        partial: PathBuf,
    },
    /// Somebody put something there during the run.
    #[error(
        "results are complete but stay in {}: {} was made by somebody else during the run",
        folder.display(), place.display()
    )]
    Taken {
        /// Where they were to be.
        place: PathBuf,
        /// Where they are.
        folder: PathBuf,
    },
    /// It cannot be made or written to.
    #[error("cannot write results to {}", path.display())]
    Unwritable {
        /// Which file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// It was written to for a while.
    #[error(
        "results are incomplete, what there is stays in {}: cannot write {}",
        folder.display(), path.display()
    )]
    Incomplete {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
        /// The partial folder.
        folder: PathBuf,
    },
}

/// Results being written. Dropped before [`Folder::begin`], it leaves nothing behind.
#[derive(Debug)]
pub struct Folder {
    place: PathBuf,
    partial: Partial,
    length: Duration,
    several_scripts: bool,
    files: Option<Files>,
    failed: Option<(PathBuf, io::Error)>,
    begun: bool,
}

/// The files that grow with the run.
struct Files {
    intervals: IntervalTable<File>,
    agents: PartTable<File>,
    /// Only where there are several.
    scripts: Option<PartTable<File>>,
    latency: HistogramLog<BufWriter<File>>,
}

impl Files {
    /// Gives the name of the file that cannot be written.
    fn record(&mut self, ready: &ClusterInterval) -> Result<(), (&'static str, io::Error)> {
        self.intervals.record(ready).map_err(|error| ("intervals.csv", error))?;
        self.agents.agents(ready).map_err(|error| ("agents.csv", error))?;
        if let Some(scripts) = &mut self.scripts {
            scripts.scripts(ready).map_err(|error| ("scripts.csv", error))?;
        }
        self.latency.record(&ready.interval).map_err(|error| ("latency.hlog", error))
    }

    /// Ends each file and sees it on disk.
    fn finish(self, lasted: Lasted) -> Result<(), (&'static str, io::Error)> {
        let sync = |end: io::Result<File>| end.and_then(|file| file.sync_all());
        let intervals = sync(self.intervals.finish(lasted));
        intervals.map_err(|error| ("intervals.csv", error))?;
        sync(self.agents.finish()).map_err(|error| ("agents.csv", error))?;
        if let Some(scripts) = self.scripts {
            sync(scripts.finish()).map_err(|error| ("scripts.csv", error))?;
        }
        let latency = self.latency.finish().into_inner().map_err(io::IntoInnerError::into_error);
        sync(latency).map_err(|error| ("latency.hlog", error))
    }
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Files")
    }
}

impl Folder {
    /// Makes the folder and writes plan and scripts into it, before anything is started. A default
    /// folder that cannot be written is a matter for `warn` and no folder, one that was named is an
    /// error.
    ///
    /// # Errors
    /// The named folder exists or cannot be written to.
    pub fn open(
        choice: &Choice,
        plan: &Plan,
        interval: Duration,
        warn: impl FnOnce(ResultsError),
    ) -> Result<Option<Self>, ResultsError> {
        match choice {
            Choice::Nowhere => Ok(None),
            Choice::Folder(place) => Self::create(place, plan, interval).map(Some),
            Choice::Default => {
                let place = Path::new(DEFAULT_PARENT).join(plan.run_id.as_str());
                let folder = Self::create(&place, plan, interval);
                Ok(folder.map_err(warn).ok())
            }
        }
    }

    /// Makes the folder at this place.
    ///
    /// # Errors
    /// It exists or cannot be written to.
    pub fn create(place: &Path, plan: &Plan, interval: Duration) -> Result<Self, ResultsError> {
        if place.symlink_metadata().is_ok() {
            return Err(ResultsError::Exists(place.to_owned()));
        }
        let mut folder = Self {
            place: place.to_owned(),
            partial: Partial::make(place)?,
            length: interval,
            several_scripts: plan.workload.scripts.len() > 1,
            files: None,
            failed: None,
            begun: false,
        };
        // The split is not known yet; the plan is written once more when it is.
        plan_file::write_scripts(folder.path(), plan)
            .and_then(|()| plan_file::write_plan(folder.path(), plan, &[]))
            .map_err(|(path, error)| ResultsError::Unwritable { path, error })?;
        folder.partial.name(place)?;
        Ok(folder)
    }

    /// Where the results will be.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Where they are until then.
    fn path(&self) -> &Path {
        self.partial.path()
    }

    /// Where collected logs go, as long as the results are partial.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.path().join("logs")
    }

    /// Where readings of the server go, as long as the results are partial.
    #[must_use]
    pub fn server(&self) -> PathBuf {
        self.path().join("server.csv")
    }

    /// The load begins; `started` is the wall clock at the start of the measured part. Returns what is to be
    /// told if nothing can be written from now on.
    pub fn begin(&mut self, started: SystemTime) -> Option<String> {
        self.begun = true;
        match self.open_files(started) {
            Ok(files) => {
                self.files = Some(files);
                None
            }
            Err((path, error)) => Some(self.fail(path, error)),
        }
    }

    fn open_files(&self, started: SystemTime) -> Result<Files, (PathBuf, io::Error)> {
        let create = |name: &str| {
            let path = self.path().join(name);
            File::create(&path).map_err(|error| (path, error))
        };
        let parts = |name: &str| create(name).map(|file| PartTable::new(file, self.length));
        let latency = BufWriter::new(create("latency.hlog")?);
        let latency = HistogramLog::begin(latency, self.length, started);
        Ok(Files {
            intervals: IntervalTable::new(create("intervals.csv")?, self.length),
            agents: parts("agents.csv")?,
            scripts: self.several_scripts.then(|| parts("scripts.csv")).transpose()?,
            latency: latency.map_err(|error| (self.path().join("latency.hlog"), error))?,
        })
    }

    /// The first error.
    fn fail(&mut self, path: PathBuf, error: io::Error) -> String {
        self.files = None;
        let news = format!("cannot write {}: {error}; the run goes on without", path.display());
        self.failed = Some((path, error));
        news
    }

    /// Writes the next interval of the cluster. Returns what is to be told if it was the last one that can be
    /// written.
    pub fn record(&mut self, ready: &ClusterInterval) -> Option<String> {
        let written = self.files.as_mut()?.record(ready);
        let (name, error) = written.err()?;
        Some(self.fail(self.path().join(name), error))
    }

    /// Writes the summary and, by `more`, what is made of the files in the folder; then gives the folder its
    /// name, which it returns.
    ///
    /// # Errors
    /// Something could not be written, then or earlier; the partial folder stays.
    pub fn finish(
        mut self,
        run: &RunResult,
        more: impl FnOnce(&Path) -> Result<(), (PathBuf, io::Error)>,
    ) -> Result<PathBuf, ResultsError> {
        self.begun = true;
        let written = match self.failed.take() {
            Some(failed) => Err(failed),
            None => self.write_rest(run, more),
        };
        let folder = self.path().to_owned();
        let place = self.place.clone();
        written.map_err(|(path, error)| match () {
            () if path == place && partial::is_taken(&error) => {
                ResultsError::Taken { place: path, folder }
            }
            () => ResultsError::Incomplete { path, error, folder },
        })?;
        Ok(place)
    }

    fn write_rest(
        &mut self,
        run: &RunResult,
        more: impl FnOnce(&Path) -> Result<(), (PathBuf, io::Error)>,
    ) -> Result<(), (PathBuf, io::Error)> {
        if let Some(files) = self.files.take() {
            let ended = files.finish(run.lasted());
            ended.map_err(|(name, error)| (self.path().join(name), error))?;
        }
        let shares: Vec<_> = run.agents.iter().map(|agent| agent.share.clone()).collect();
        plan_file::write_plan(self.path(), &run.plan, &shares)?;
        let path = self.path().join("summary.json");
        write_summary(&path, &Summary::from(run)).map_err(|error| (path, error))?;
        more(self.path())?;
        partial::rename(self.path(), &self.place).map_err(|error| (self.place.clone(), error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.begun {
            return;
        }
        // Nothing was measured, so nothing is to be kept; if removing fails, the name says it all.
        let _ = fs::remove_dir_all(self.path());
        if self.place.parent() == Some(Path::new(DEFAULT_PARENT)) {
            let _ = fs::remove_dir(DEFAULT_PARENT);
        }
    }
}

fn write_summary(path: &Path, summary: &Summary) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    json(&mut out, summary)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// Prints the summary document, as `--format json` does.
///
/// # Errors
/// The writer fails.
pub fn json(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, summary)?;
    writeln!(out)
}
