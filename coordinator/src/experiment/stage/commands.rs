//! Commands of the user's, run by the shell of this host.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

/// How much of what a command prints is of interest.
const PRINTED_MOST: u64 = 65_536;

/// Runs a command to its end; what it prints goes to the log. It has a process group of its own, so that an interrupt from
/// the terminal does not stop a server halfway.
///
/// # Errors
/// It could not be run, failed, or took longer than `within`; then its whole group is ended.
pub(super) async fn run(command: &mut Command, log: &Path, within: Duration) -> Result<(), String> {
    let open = || OpenOptions::new().create(true).append(true).open(log);
    let (out, err) = open()
        .and_then(|out| Ok((out.try_clone()?, out)))
        .map_err(|error| format!("cannot write {}: {error}", log.display()))?;
    finish(command.stdout(out).stderr(err), within).await
}

/// The shell with a command, and variables for it.
pub(super) fn shell(text: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(text).envs(variables.iter().copied());
    command
}

/// Runs a command for what it prints, without blanks at the ends.
///
/// # Errors
/// As [`run`].
pub(super) async fn printed(command: &mut Command, within: Duration) -> Result<String, String> {
    let unusable = |error: io::Error| format!("cannot keep what it prints: {error}");
    // A file and no pipe: somebody that it leaves behind may hold the other end for ever. It has no name, so nobody can put
    // another in its place.
    let out = memfd_create("printed", MemfdFlags::CLOEXEC).map_err(io::Error::from);
    let mut kept = out.map(File::from).map_err(unusable)?;
    finish(command.stdout(kept.try_clone().map_err(unusable)?), within).await?;
    let mut text = String::new();
    kept.rewind().map_err(unusable)?;
    kept.take(PRINTED_MOST).read_to_string(&mut text).map_err(unusable)?;
    Ok(text.trim().to_owned())
}

async fn finish(command: &mut Command, within: Duration) -> Result<(), String> {
    command.stdin(Stdio::null()).process_group(0);
    let mut child = command.spawn().map_err(|error| format!("cannot be run: {error}"))?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    match tokio::time::timeout(within, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("ended with {status}")),
        Ok(Err(error)) => Err(format!("cannot be waited for: {error}")),
        Err(_) => {
            if let Some(group) = group {
                // It may have ended just now.
                let _ = kill_process_group(group, Signal::KILL);
            }
            Err(format!("took longer than {} s", within.as_secs()))
        }
    }
}
