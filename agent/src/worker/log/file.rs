//! A log file: opened before the load, written by one worker in large pieces.
//!
//! Invariant: every line is in the file or counted as lost. After the first failure nothing more is written,
//! so that a file has no holes, and it ends with a whole line.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use pgsurge_common::ids::{RunId, WorkerId};
use pgsurge_common::plan::Log;
use pgsurge_common::stats::LogTotals;

use super::Written;
use crate::wire::errno_name;

/// Lines are collected up to so many bytes.
const CAPACITY: usize = 64 * 1024;

/// No line is longer.
const LONGEST_LINE: usize = 1024;

/// Where a host lets log files be.
#[derive(Clone, Copy, Debug)]
pub(in crate::worker) struct Place<'a> {
    pub(in crate::worker) log: &'a Log,
    pub(in crate::worker) run: &'a RunId,
    /// Wherever the prefix leads; files of the same name are overwritten, as pgbench does.
    pub(in crate::worker) anywhere: bool,
}

/// See the module.
#[derive(Debug)]
pub(in crate::worker) struct File {
    path: PathBuf,
    worker: WorkerId,
    /// Absent after a failure.
    open: Option<std::fs::File>,
    buffer: Vec<u8>,
    totals: LogTotals,
    kept: bool,
}

/// A file that took no more.
#[derive(Debug, thiserror::Error)]
#[error("could not write to logfile \"{}\", it ends here: {error}", path.display())]
pub(in crate::worker) struct Failure {
    path: PathBuf,
    pub(in crate::worker) error: io::Error,
}

impl Place<'_> {
    /// Makes a worker's file.
    ///
    /// # Errors
    /// The system refuses.
    pub(in crate::worker) fn open(&self, worker: WorkerId) -> Result<File, Failure> {
        let process = std::process::id();
        let mut options = std::fs::OpenOptions::new();
        let name = if self.anywhere {
            options.write(true).create(true).truncate(true);
            Log::file_name(&self.log.prefix, process, worker)
        } else {
            // An agent serves many runs, and what others left in its folder is none of its business.
            options.write(true).create_new(true);
            Log::file_name(&format!("{}-{}", self.log.prefix, self.run), process, worker)
        };
        let path = PathBuf::from(name);
        match options.open(&path) {
            Ok(file) => Ok(File::new(path, worker, file)),
            Err(error) => Err(Failure { path, error }),
        }
    }
}

impl Failure {
    pub(in crate::worker) fn path(&self) -> &Path {
        &self.path
    }

    /// The short name to count it by.
    pub(in crate::worker) fn kind(&self) -> Cow<'static, str> {
        errno_name(&self.error)
    }
}

impl File {
    fn new(path: PathBuf, worker: WorkerId, file: std::fs::File) -> Self {
        Self {
            path,
            worker,
            open: Some(file),
            buffer: Vec::with_capacity(CAPACITY),
            totals: LogTotals { files: 1, ..LogTotals::default() },
            kept: false,
        }
    }

    /// Which file this is.
    pub(in crate::worker) fn written(&self) -> Written {
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        Written { path, worker: self.worker }
    }

    /// The load begins; a file that was made in vain goes with its value.
    pub(super) fn keep(&mut self) {
        self.kept = true;
    }

    /// Takes a line; `write` appends it without its end.
    pub(super) fn line(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Failure> {
        if self.open.is_none() {
            self.totals.lost_lines += 1;
            return Ok(());
        }
        write(&mut self.buffer);
        self.buffer.push(b'\n');
        self.totals.lines += 1;
        if self.buffer.len() > CAPACITY - LONGEST_LINE { self.flush() } else { Ok(()) }
    }

    /// Writes what was collected.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let Some(file) = &mut self.open else { return Ok(()) };
        let written = write(file, &self.buffer);
        let whole = match written {
            Ok(()) => self.buffer.len(),
            Err((some, _)) => whole_lines(&self.buffer[..some]),
        };
        self.totals.bytes += whole as u64;
        let lost = self.buffer[whole..].split_inclusive(|byte| *byte == b'\n').count() as u64;
        self.buffer.clear();
        let Err((_, error)) = written else { return Ok(()) };
        self.totals.lines -= lost;
        self.totals.lost_lines += lost;
        // Half a line would mislead whoever reads the file; a device has none to take back.
        let _ = file.set_len(self.totals.bytes);
        self.open = None;
        Err(Failure { path: self.path.clone(), error })
    }

    /// What became of it; nothing, if the load never began.
    pub(super) fn totals(&self) -> LogTotals {
        if self.kept { self.totals } else { LogTotals::default() }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if !self.kept {
            // It is empty and no run will fill it; if it stays, it misleads nobody.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes everything, or says how much of it arrived.
fn write(file: &mut std::fs::File, mut bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let wanted = bytes.len();
    while !bytes.is_empty() {
        let so_far = wanted - bytes.len();
        match file.write(bytes) {
            Ok(0) => return Err((so_far, io::ErrorKind::WriteZero.into())),
            Ok(some) => bytes = &bytes[some..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((so_far, error)),
        }
    }
    Ok(())
}

/// Length of the whole lines at the beginning.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1)
}
