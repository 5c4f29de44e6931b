//! The folder while it is partial: `DIR.partial`, or `DIR.partial-2` and so on beside the remains of earlier
//! runs.
//!
//! Its run holds a lock on it, which the system takes away with the process, so that remains and a run in
//! course can be told apart. Invariant: under a partial name a folder is locked from the first moment on,
//! since it is made and locked under a name of its own before.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::ResultsError;

/// Names tried for the folder while it is partial.
const NAMES: u32 = 100;

/// A folder that only this process writes to.
#[derive(Debug)]
pub(super) struct Partial {
    path: PathBuf,
    /// Absent where the file system knows no locks.
    _lock: Option<File>,
}

impl Partial {
    /// Makes a folder beside `place`, under a name that nobody looks for.
    pub(super) fn make(place: &Path) -> Result<Self, ResultsError> {
        let unwritable = |path: &Path| {
            let path = path.to_owned();
            move |error| ResultsError::Unwritable { path, error }
        };
        if place.file_name().is_none() {
            return Err(unwritable(place)(io::ErrorKind::InvalidInput.into()));
        }
        if let Some(parent) = place.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).map_err(unwritable(parent))?;
        }
        let path = with_end(place, &format!(".new-{}", std::process::id()));
        fs::create_dir(&path).map_err(unwritable(&path))?;
        let lock = File::open(&path).and_then(|folder| {
            folder.try_lock()?;
            Ok(folder)
        });
        Ok(Self { path, _lock: lock.ok() })
    }

    /// Gives it the first partial name of `place` that is free.
    pub(super) fn name(&mut self, place: &Path) -> Result<(), ResultsError> {
        for number in 1..=NAMES {
            let end = if number == 1 { ".partial".into() } else { format!(".partial-{number}") };
            let name = with_end(place, &end);
            if is_held(&name) {
                return Err(ResultsError::Busy { place: place.to_owned(), partial: name });
            }
            match rename(&self.path, &name) {
                Ok(()) => {
                    self.path = name;
                    return Ok(());
                }
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(ResultsError::Unwritable { path: name, error }),
            }
        }
        let error = io::Error::other("too many partial results of that name are there");
        Err(ResultsError::Unwritable { path: place.to_owned(), error })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// Renames, but never over something; a rename by itself would replace an empty folder.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

/// Something of that name is there.
pub(super) fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), AlreadyExists | DirectoryNotEmpty | NotADirectory)
}

/// Its run is still in course. Shared, so that several who look do not take each other for it.
fn is_held(folder: &Path) -> bool {
    File::open(folder)
        .is_ok_and(|folder| matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn with_end(place: &Path, end: &str) -> PathBuf {
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(end);
    place.with_file_name(name)
}
