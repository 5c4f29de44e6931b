//! `\shell` and `\setshell`: commands on this host, waited for in a thread of their own so that other
//! clients go on. Whether they may run at all was decided when the load was prepared.
//!
//! A command does not outlive its client: it is killed, with what it started, if the client is cut off.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};

use pgsurge_common::script::Program;
use rustix::process::{Pid, Signal, kill_process_group};

use super::life::Client;
use super::trouble::Trouble;

impl Client<'_> {
    /// Runs a command line; its output goes where that of this process goes.
    pub(super) async fn shell(&mut self, program: &Program, line: Vec<u8>) -> Result<(), Trouble> {
        let output = self.run_aside(shell_command(line).spawn()).await;
        let success = output.is_ok_and(|output| output.status.success());
        Ok(self.state.shell_done(program, success)?)
    }

    /// Runs a command line and stores what it prints.
    pub(super) async fn set_shell(
        &mut self,
        program: &Program,
        line: Vec<u8>,
    ) -> Result<(), Trouble> {
        let child = shell_command(line).stdout(Stdio::piped()).spawn();
        let output = self.run_aside(child).await.map(|output| output.stdout).unwrap_or_default();
        Ok(self.state.setshell_done(program, &output)?)
    }

    async fn run_aside(&mut self, child: io::Result<Child>) -> io::Result<Output> {
        self.has_yielded = true;
        let child = child?;
        let mut leash = Leash(i32::try_from(child.id()).ok().and_then(Pid::from_raw));
        let ended = tokio::task::spawn_blocking(move || child.wait_with_output()).await;
        leash.0 = None;
        ended.map_err(io::Error::other)?
    }
}

/// Kills a group of processes when it is dropped, unless the group's end was seen.
struct Leash(Option<Pid>);

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It may have ended at this very moment, which is as good.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// What C's `system()` runs, as a group of its own.
fn shell_command(line: Vec<u8>) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(OsString::from_vec(line)).process_group(0);
    command
}
