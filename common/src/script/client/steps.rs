//! Commands that the caller takes part in: sleeping, shells, pipelines.

use super::{ClientState, EXECUTION, Step};
use crate::plan::Protocol;
use crate::script::command::{Command, Duration, Kind};
use crate::script::error::CommandError;
use crate::script::number::atoi;
use crate::script::program::Program;
use crate::script::statement::Store;

impl ClientState {
    /// What the caller has to do for a command that is neither SQL nor done here.
    pub(super) fn step<'p>(
        &mut self,
        program: &Program,
        command: &Command,
        kind: &Kind,
    ) -> Result<Step<'p>, CommandError> {
        match kind {
            Kind::Sleep { duration, unit_us } => {
                let count = self.sleep_count(program, command, duration)?;
                // pgbench multiplies 32-bit integers.
                Ok(Step::Sleep(i64::from(count.wrapping_mul(*unit_us))))
            }
            Kind::Shell { words } => Ok(Step::Shell(self.shell_line(program, words, "shell")?)),
            Kind::SetShell { words, .. } => {
                Ok(Step::SetShell(self.shell_line(program, words, "setshell")?))
            }
            Kind::StartPipeline if program.protocol == Protocol::Simple => {
                let message = "cannot use pipeline mode with the simple query protocol";
                Err(self.failed("startpipeline", None, message))
            }
            Kind::StartPipeline if self.pipeline => {
                Err(self.failed("startpipeline", None, "already in pipeline mode"))
            }
            Kind::StartPipeline => {
                self.pipeline = true;
                Ok(Step::StartPipeline)
            }
            Kind::SyncPipeline if self.pipeline => Ok(Step::SyncPipeline),
            Kind::SyncPipeline => Err(self.failed("syncpipeline", None, "not in pipeline mode")),
            Kind::EndPipeline if self.pipeline => {
                self.pipeline = false;
                Ok(Step::EndPipeline)
            }
            _ => Err(self.failed("endpipeline", None, "not in pipeline mode")),
        }
    }

    fn sleep_count(
        &self,
        program: &Program,
        command: &Command,
        duration: &Duration,
    ) -> Result<i32, CommandError> {
        let slot = match duration {
            Duration::Units(units) => return Ok(*units),
            Duration::Variable(slot) => *slot,
        };
        let typed = &command.name;
        let name = || String::from_utf8_lossy(&program.names().all()[slot.index()]);
        let mut text = Vec::new();
        if !self.variables.write(slot, &mut text) {
            let detail = format!("{typed}: undefined variable \"{}\"", name());
            return Err(self.failed("sleep", Some(detail), EXECUTION));
        }
        let count = atoi(&text);
        if count == 0 && !text.first().is_some_and(u8::is_ascii_digit) {
            let text = String::from_utf8_lossy(&text);
            let detail =
                format!("{typed}: invalid sleep time \"{text}\" for variable \"{}\"", name());
            return Err(self.failed("sleep", Some(detail), EXECUTION));
        }
        Ok(count)
    }

    pub(super) fn stores_in_pipeline(&self, store: &Store) -> CommandError {
        match store {
            Store::Aset { .. } => {
                self.failed("aset", None, "\\aset is not allowed in pipeline mode")
            }
            _ => self.failed("gset", None, "\\gset is not allowed in pipeline mode"),
        }
    }
}
