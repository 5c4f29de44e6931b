//! A wall clock that can be stepped under a running process (Debian's package `faketime`), with the
//! monotonic clock left alone.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The wall clock of one process, or of several.
#[derive(Debug)]
pub struct WallClock {
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl WallClock {
    /// A clock that shows the right time so far.
    ///
    /// # Panics
    /// If libfaketime is not installed.
    #[must_use]
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a file");
        let clock = Self { folder, library: library() };
        clock.step(0);
        clock
    }

    /// Makes a process that is to be started with this command live by this clock.
    pub fn govern(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", self.file())
            // The file is looked at on every reading of the clock.
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("FAKETIME_DONT_RESET", "1");
    }

    /// Steps the clock to so many seconds off the right time; it goes on from there.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn step(&self, offset_s: i64) {
        // By rename, so that no reader sees half a number.
        let part = self.folder.path().join("part");
        std::fs::write(&part, format!("{offset_s:+}s\n")).expect("there is room for a number");
        std::fs::rename(&part, self.file()).expect("the folder is writable");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("offset")
    }
}

impl Default for WallClock {
    fn default() -> Self {
        Self::new()
    }
}

/// Lets all clocks of a process run so many times as fast, the monotonic one included.
///
/// # Panics
/// If libfaketime is not installed.
pub fn hasten(command: &mut Command, times: u32) {
    command.env("LD_PRELOAD", library()).env("FAKETIME", format!("+0 x{times}"));
}

/// The library that answers for the clock in programs with threads.
fn library() -> PathBuf {
    let architecture = std::env::consts::ARCH;
    let folders = [
        format!("/usr/lib/{architecture}-linux-gnu/faketime"),
        "/usr/lib/faketime".to_owned(),
        "/usr/lib64/faketime".to_owned(),
    ];
    let found = folders.iter().map(|folder| Path::new(folder).join("libfaketimeMT.so.1"));
    let mut found = found.filter(|path| path.exists());
    found.next().expect("libfaketime is installed (apt-get install faketime)")
}
