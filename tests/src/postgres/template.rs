//! A data directory made by `initdb` once a clone and copied for each server: initdb takes a second or two.
//!
//! Copies share their system identifier; servers still differ by their start time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::account::{self, Account};
use super::binaries::{Binaries, Version, copy_tree, target_dir};

/// Makes `data` a fresh data directory owned by the account.
pub fn copy(version: Version, account: Option<&Account>, data: &Path) -> io::Result<()> {
    copy_tree(&prepare(version, account)?, data)
}

fn prepare(version: Version, account: Option<&Account>) -> io::Result<PathBuf> {
    // Owners are kept by the copy, so each kind of caller has a template of its own.
    let owner = if account.is_some() { "lent" } else { "own" };
    let place = target_dir()?.join(format!("postgres-template-{}-{owner}", version.key()));
    if place.exists() {
        return Ok(place);
    }
    // Made where the account may write, then moved: several tests, in one process or in many, may get
    // here at once.
    let part = tempfile::Builder::new().prefix("pgsurge-pg-template-").tempdir()?;
    account::open_to_all(part.path())?;
    let made = part.path().join("data");
    let binaries = Binaries::find(version)?.for_account(account, part.path())?;
    initdb(&binaries, account, &made)?;
    let beside = tempfile::Builder::new().prefix("postgres-template-").tempdir_in(target_dir()?)?;
    let whole = beside.path().join("data");
    copy_tree(&made, &whole)?;
    match fs::rename(&whole, &place) {
        Err(_) if place.exists() => Ok(place),
        renamed => renamed.map(|()| place),
    }
}

fn initdb(binaries: &Binaries, account: Option<&Account>, data: &Path) -> io::Result<()> {
    let output = account::command(account, &binaries.program("initdb"))
        .args([
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--no-locale",
            "--no-sync",
        ])
        .arg("--pgdata")
        .arg(data)
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("initdb: {}", String::from_utf8_lossy(&output.stderr))))
}
