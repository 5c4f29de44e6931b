//! What comes back to a client from outside: the ends of shell commands, the columns of results.
//!
//! A complaint about it has pgbench's text; counting rows is the caller's.

use super::{ClientState, EXECUTION};
use crate::script::command::Kind;
use crate::script::error::CommandError;
use crate::script::packed::Packed;
use crate::script::program::Program;
use crate::script::shell::{ShellWord, parse_shell_output};
use crate::script::statement::{Sql, Store};
use crate::script::variables::is_valid_name;

impl ClientState {
    /// The command line of `\shell` and `\setshell`.
    pub(super) fn shell_line(
        &self,
        program: &Program,
        words: &[ShellWord],
        name: &str,
    ) -> Result<Vec<u8>, CommandError> {
        ShellWord::join(words, &self.variables, program.names()).map_err(|wrong| {
            let detail = format!("{}: {wrong}", ShellWord::command_name(words, program.names()));
            self.failed(name, Some(detail), EXECUTION)
        })
    }

    /// The shell command of the last step has ended; `success` is exit status 0.
    pub fn shell_done(&self, program: &Program, success: bool) -> Result<(), CommandError> {
        match &self.current(program).kind {
            Kind::Shell { words } if !success => {
                let name = ShellWord::command_name(words, program.names());
                let detail = format!("{name}: could not launch shell command");
                Err(self.failed("shell", Some(detail), EXECUTION))
            }
            _ => Ok(()),
        }
    }

    /// The shell command of the last step has printed this; its first line becomes the variable.
    pub fn setshell_done(&mut self, program: &Program, output: &[u8]) -> Result<(), CommandError> {
        let Kind::SetShell { target, words } = &self.current(program).kind else {
            return Ok(());
        };
        let value = parse_shell_output(output).map_err(|wrong| {
            let detail = format!("{}: {wrong}", ShellWord::command_name(words, program.names()));
            self.failed("setshell", Some(detail), EXECUTION)
        })?;
        self.assign(target, Packed::int(value))
            .map_err(|slot| self.invalid_name(program, "setshell", slot, EXECUTION))
    }

    /// Stores one column of a result for `\gset` and `\aset`; NULL becomes an empty string. Fails
    /// with the complaint, without prefix, if the name is no variable's.
    pub fn store_column(
        &mut self,
        program: &Program,
        sql: &Sql,
        column: &[u8],
        value: Option<&[u8]>,
    ) -> Result<(), String> {
        let (command, prefix) = match sql.store() {
            Store::Nothing => return Ok(()),
            Store::Gset { prefix } => ("gset", prefix),
            Store::Aset { prefix } => ("aset", prefix),
        };
        self.scratch.clear();
        self.scratch.extend_from_slice(prefix);
        self.scratch.extend_from_slice(column);
        if !is_valid_name(&self.scratch) {
            let name = String::from_utf8_lossy(&self.scratch);
            return Err(format!("{command}: invalid variable name: \"{name}\""));
        }
        // A name that no script mentions can never be read.
        if let Some(slot) = program.names().find(&self.scratch) {
            self.variables.set_text(slot, value.unwrap_or_default());
        }
        Ok(())
    }
}
