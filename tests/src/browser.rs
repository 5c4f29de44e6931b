//! A real browser without a window: loads a page as a user would and tells what became of it.
//!
//! It has a profile of its own that goes with it, and no page gets further than its own file: what it asks of a
//! network is an error on its console, since pages forbid it themselves (Content-Security-Policy).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{self, Running};

/// A page after all its scripts have run.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The document as the scripts left it.
    pub document: String,
    /// What came onto the console: errors of scripts, refused requests.
    pub console: Vec<String>,
}

/// Far beyond what a page takes on a starved machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time that passes for the page, not for us.
const PAGE_TIME_MS: u32 = 10_000;

/// Loads a page and reads it.
///
/// # Panics
/// If there is no browser, or it does not end.
#[must_use]
#[track_caller]
pub fn load(page: &Path) -> Loaded {
    load_address(&format!("file://{}", page.display()))
}

/// Loads a page of a server. One that gets a stream of events is read when the stream has ended.
///
/// # Panics
/// As [`load`].
#[must_use]
#[track_caller]
pub fn load_address(address: &str) -> Loaded {
    let profile = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = chromium(profile.path(), address);
    command.args(["--dump-dom", "--enable-logging=stderr"]);
    let finished = Running::run("chromium", &mut command, PATIENCE).expect_code(0);
    let console = finished.stderr.lines().filter(|line| line.contains(":CONSOLE"));
    Loaded { console: console.map(str::to_owned).collect(), document: finished.stdout }
}

/// Makes a picture of a page in a window of so many pixels; returns where it is.
///
/// # Panics
/// If there is no browser, or it does not end.
#[must_use]
#[track_caller]
pub fn screenshot(page: &Path, (width, height): (u32, u32), into: &Path) -> PathBuf {
    let profile = tempfile::tempdir().expect("a temporary folder can be made");
    let picture = into.join("page.png");
    let mut command = chromium(profile.path(), &format!("file://{}", page.display()));
    command.arg(format!("--window-size={width},{height}"));
    command.arg(format!("--screenshot={}", picture.display()));
    let _ = Running::run("chromium", &mut command, PATIENCE).expect_code(0);
    picture
}

/// Without what would call home or need a desktop.
fn chromium(profile: &Path, address: &str) -> Command {
    let mut command = process::command("chromium");
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-extensions",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("--virtual-time-budget={PAGE_TIME_MS}"));
    command.arg(address);
    command
}
