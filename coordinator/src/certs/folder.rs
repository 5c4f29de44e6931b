//! Folders of certificates on disk: they appear whole, and their keys are never open to others.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::CertsError;

/// A file's name, its text, and whether it is private.
type Entry<'a> = (&'a str, &'a str, bool);

/// Makes a folder that is not there yet.
pub(super) fn create(folder: &Path, files: &[Entry<'_>]) -> Result<(), CertsError> {
    let parent =
        folder.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
    let draft = Draft(beside(folder));
    DirBuilder::new().mode(0o700).create(&draft.0).map_err(|error| failed(folder, error))?;
    for (name, text, private) in files {
        // Messages name the file as it would have been called.
        write(&draft.0.join(name), text, *private).map_err(|e| failed(&folder.join(name), e))?;
    }
    sync(&draft.0).map_err(|error| failed(folder, error))?;
    match fs::rename(&draft.0, folder) {
        Ok(()) => {}
        // Somebody else was faster.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::DirectoryNotEmpty
                    | io::ErrorKind::AlreadyExists
                    | io::ErrorKind::NotADirectory
            ) =>
        {
            return Err(CertsError::Exists(folder.to_owned()));
        }
        Err(error) => return Err(failed(folder, error)),
    }
    sync(parent).map_err(|error| failed(parent, error))
}

/// Replaces files of a folder one by one, each whole.
pub(super) fn replace(folder: &Path, files: &[Entry<'_>]) -> Result<(), CertsError> {
    // All are written before the first is replaced: a full disk leaves the old ones in place.
    let mut drafts = Vec::new();
    for (name, text, private) in files {
        let path = folder.join(name);
        let draft = Draft(beside(&path));
        write(&draft.0, text, *private).map_err(|error| failed(&path, error))?;
        drafts.push((draft, path));
    }
    for (draft, path) in &drafts {
        fs::rename(&draft.0, path).map_err(|error| failed(path, error))?;
    }
    sync(folder).map_err(|error| failed(folder, error))
}

/// Reads a text file.
pub(super) fn read(path: &Path) -> Result<String, CertsError> {
    fs::read_to_string(path).map_err(|error| CertsError::Read { path: path.to_owned(), error })
}

/// What is not in its place yet; it goes unless it gets there.
struct Draft(PathBuf);

impl Drop for Draft {
    fn drop(&mut self) {
        // One of the two fails, and both do once it has got to its place.
        let _ = fs::remove_dir_all(&self.0);
        let _ = fs::remove_file(&self.0);
    }
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.new", std::process::id()))
}

fn write(path: &Path, text: &str, private: bool) -> io::Result<()> {
    let mode = if private { 0o600 } else { 0o644 };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn failed(path: &Path, error: io::Error) -> CertsError {
    CertsError::Write { path: path.to_owned(), error }
}
