//! `\shell` and `\setshell`: commands on this host, in a thread of their own so that other clients go
//! on. Whether they may run at all was decided when the load was prepared.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::process::{Command, Stdio};

use pgsurge_common::script::Program;

use super::life::Client;
use super::trouble::Trouble;

impl Client<'_> {
    /// Runs a command line; its output goes where that of this process goes.
    pub(super) async fn shell(&mut self, program: &Program, line: Vec<u8>) -> Result<(), Trouble> {
        let run = move || shell_command(line).status().map(|status| status.success());
        let success = self.aside(run).await.unwrap_or(false);
        Ok(self.state.shell_done(program, success)?)
    }

    /// Runs a command line and stores what it prints.
    pub(super) async fn set_shell(
        &mut self,
        program: &Program,
        line: Vec<u8>,
    ) -> Result<(), Trouble> {
        let run = move || shell_command(line).stderr(Stdio::inherit()).output();
        let output = self.aside(run).await.map(|output| output.stdout).unwrap_or_default();
        Ok(self.state.setshell_done(program, &output)?)
    }

    async fn aside<T: Send + 'static>(
        &mut self,
        run: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        self.has_yielded = true;
        tokio::task::spawn_blocking(run).await.map_err(io::Error::other)?
    }
}

/// What C's `system()` runs.
fn shell_command(line: Vec<u8>) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(OsString::from_vec(line));
    command
}
