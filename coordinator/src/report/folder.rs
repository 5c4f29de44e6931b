//! The results folder of a run: complete, or named as partial (I5).
//!
//! Everything is written into `DIR.partial`, which becomes `DIR` by one rename when the run is whole;
//! what a crash, a signal or a full disk leaves behind keeps the telling name. Writing never stops a
//! run: the first error is kept and reported at the end, when the report is on stdout already.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pgsurge_common::plan::Plan;

use super::hlog::HistogramLog;
use super::intervals::IntervalTable;
use super::summary::Summary;
use super::{RunResult, plan_file};
use crate::merge::ClusterInterval;

/// Parent of the results that nobody named a folder for.
pub const DEFAULT_PARENT: &str = "pgsurge-results";

/// Names tried for the folder while it is partial.
const NAMES: u32 = 100;

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
    partial: PathBuf,
    length: Duration,
    files: Option<Files>,
    failed: Option<(PathBuf, io::Error)>,
    begun: bool,
}

/// The files that grow with the run.
struct Files {
    intervals: IntervalTable<File>,
    latency: HistogramLog<BufWriter<File>>,
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
        let partial = make_partial(place)?;
        let folder = Self {
            place: place.to_owned(),
            partial,
            length: interval,
            files: None,
            failed: None,
            begun: false,
        };
        // The split is not known yet; the plan is written once more when it is.
        plan_file::write_scripts(&folder.partial, plan)
            .and_then(|()| plan_file::write_plan(&folder.partial, plan, &[]))
            .map_err(|(path, error)| ResultsError::Unwritable { path, error })?;
        Ok(folder)
    }

    /// Where the results will be.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The load begins; `started` is the wall clock at the start of the measured part.
    pub fn begin(&mut self, started: SystemTime) {
        self.begun = true;
        let (csv, hlog) = (self.partial.join("intervals.csv"), self.partial.join("latency.hlog"));
        let opened = File::create(&csv).map_err(|error| (csv, error)).and_then(|csv| {
            let begin = |file| HistogramLog::begin(BufWriter::new(file), self.length, started);
            let latency = File::create(&hlog).and_then(begin).map_err(|error| (hlog, error))?;
            Ok(Files { intervals: IntervalTable::new(csv, self.length), latency })
        });
        match opened {
            Ok(files) => self.files = Some(files),
            Err(failed) => self.failed = Some(failed),
        }
    }

    /// Writes the next interval of the cluster.
    pub fn record(&mut self, ready: &ClusterInterval) {
        let Some(files) = &mut self.files else { return };
        let written = match files.intervals.record(ready) {
            Ok(()) => {
                files.latency.record(&ready.interval).map_err(|error| ("latency.hlog", error))
            }
            Err(error) => Err(("intervals.csv", error)),
        };
        if let Err((name, error)) = written {
            self.failed = Some((self.partial.join(name), error));
            self.files = None;
        }
    }

    /// Writes the summary and gives the folder its name, which it returns.
    ///
    /// # Errors
    /// Something could not be written, then or earlier; the partial folder stays.
    pub fn finish(mut self, run: &RunResult) -> Result<PathBuf, ResultsError> {
        self.begun = true;
        let written = match self.failed.take() {
            Some(failed) => Err(failed),
            None => self.write_rest(run),
        };
        written.map_err(|(path, error)| ResultsError::Incomplete {
            path,
            error,
            folder: self.partial.clone(),
        })?;
        Ok(self.place.clone())
    }

    fn write_rest(&mut self, run: &RunResult) -> Result<(), (PathBuf, io::Error)> {
        if let Some(Files { intervals, latency }) = self.files.take() {
            let end = |name: &str, end: io::Result<()>| {
                end.map_err(|error| (self.partial.join(name), error))
            };
            end("intervals.csv", intervals.finish().and_then(|file| file.sync_all()))?;
            let latency = latency.finish().into_inner().map_err(io::IntoInnerError::into_error);
            end("latency.hlog", latency.and_then(|file| file.sync_all()))?;
        }
        let shares: Vec<_> = run.agents.iter().map(|agent| agent.share.clone()).collect();
        plan_file::write_plan(&self.partial, &run.plan, &shares)?;
        let path = self.partial.join("summary.json");
        write_summary(&path, &Summary::from(run)).map_err(|error| (path, error))?;
        self.rename().map_err(|error| (self.place.clone(), error))
    }

    /// A rename would replace an empty folder, so look once more.
    fn rename(&self) -> io::Result<()> {
        if self.place.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(&self.partial, &self.place)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.begun {
            return;
        }
        // Nothing was measured, so nothing is to be kept; if removing fails, the name says it all.
        let _ = fs::remove_dir_all(&self.partial);
        if self.place.parent() == Some(Path::new(DEFAULT_PARENT)) {
            let _ = fs::remove_dir(DEFAULT_PARENT);
        }
    }
}

/// Makes `DIR.partial`, or `DIR.partial-2` and so on beside the remains of earlier runs.
fn make_partial(place: &Path) -> Result<PathBuf, ResultsError> {
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        move |error| ResultsError::Unwritable { path, error }
    };
    let Some(name) = place.file_name() else {
        return Err(unwritable(place)(io::ErrorKind::InvalidInput.into()));
    };
    if let Some(parent) = place.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent).map_err(unwritable(parent))?;
    }
    for number in 1..=NAMES {
        let mut name = name.to_owned();
        name.push(if number == 1 { ".partial".into() } else { format!(".partial-{number}") });
        let partial = place.with_file_name(name);
        match fs::create_dir(&partial) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| partial.clone()).map_err(unwritable(&partial)),
        }
    }
    Err(unwritable(place)(io::Error::other("too many partial results of that name are there")))
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
