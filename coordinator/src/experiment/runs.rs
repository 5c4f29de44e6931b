//! Runs of an experiment, one at a time, with results in folders beside each other.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use pgsurge_common::outcome::ExitCode;

use crate::report::summary::Summary;
use crate::report::summary::read::{ReadError, read};

/// Carries out a run that is given as the arguments of `pgsurge run`.
pub trait OneRun {
    /// To its end; the report is not shown, messages are.
    ///
    /// # Errors
    /// What keeps a load from starting.
    fn run(&self, arguments: Vec<OsString>) -> impl Future<Output = anyhow::Result<ExitCode>>;

    /// Makes pgbench's tables of this scale on the target that arguments of `run` name.
    ///
    /// # Errors
    /// They cannot be made.
    fn init(
        &self,
        arguments: &[OsString],
        scale: &str,
    ) -> impl Future<Output = anyhow::Result<ExitCode>>;
}

/// How runs are made.
#[derive(Debug)]
pub struct Runs<R> {
    one: R,
    /// What all of them have in common: options of `run` and the target.
    common: Vec<OsString>,
    /// Where their results go.
    folder: PathBuf,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its folder's name; one that is taken is followed by a number.
    pub name: String,
    /// Options of its own, which none of the common ones may be.
    pub options: Vec<String>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its results.
    pub folder: PathBuf,
    /// What they say.
    pub summary: Summary,
}

/// Why there is nothing to go on with.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// It exists or cannot be made.
    #[error("cannot make the folder {}", folder.display())]
    Folder {
        /// Which.
        folder: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// The load did not start: an option is wrong, the target is not there.
    #[error("{}", .0.to_string())]
    NotStarted(#[source] anyhow::Error),
    /// Its results cannot be read.
    #[error(transparent)]
    Results(#[from] ReadError),
    /// The user wants to stop.
    #[error("interrupted")]
    Interrupted,
}

impl<R: OneRun> Runs<R> {
    /// Makes the folder.
    ///
    /// # Errors
    /// It exists, or cannot be made.
    pub fn new(one: R, common: Vec<OsString>, folder: &Path) -> Result<Self, RunsError> {
        let unmade = |error| RunsError::Folder { folder: folder.to_owned(), error };
        if let Some(parent) = folder.parent().filter(|parent| *parent != Path::new("")) {
            std::fs::create_dir_all(parent).map_err(unmade)?;
        }
        std::fs::create_dir(folder).map_err(unmade)?;
        Ok(Self { one, common, folder: folder.to_owned() })
    }

    /// Goes on in a folder that is there.
    #[must_use]
    pub fn again(one: R, common: Vec<OsString>, folder: &Path) -> Self {
        Self { one, common, folder: folder.to_owned() }
    }

    /// Makes pgbench's tables anew.
    ///
    /// # Errors
    /// See [`RunsError`].
    pub async fn init(&self, scale: &str) -> Result<(), RunsError> {
        match self.one.init(&self.common, scale).await {
            Ok(ExitCode::Interrupted) => Err(RunsError::Interrupted),
            Ok(_) => Ok(()),
            Err(error) => Err(RunsError::NotStarted(error)),
        }
    }

    /// Where everything goes.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A folder of this name that nobody has.
    fn free(&self, name: &str) -> PathBuf {
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let names = std::iter::once(name.to_owned()).chain(numbered);
        let mut folders = names.map(|name| self.folder.join(name));
        folders.find(|folder| !folder.exists()).expect("there are more numbers than folders")
    }

    /// Carries out a run to its end.
    ///
    /// # Errors
    /// See [`RunsError`].
    pub async fn run(&self, asked: &Asked) -> Result<Ended, RunsError> {
        let folder = self.free(&asked.name);
        let mut arguments = vec![OsString::from("--results"), folder.clone().into_os_string()];
        arguments.extend(asked.options.iter().map(OsString::from));
        arguments.extend(self.common.iter().cloned());
        match self.one.run(arguments).await {
            Ok(ExitCode::Interrupted) => Err(RunsError::Interrupted),
            Ok(_) => Ok(Ended { summary: read(&folder)?, folder }),
            Err(error) => Err(RunsError::NotStarted(error)),
        }
    }
}
