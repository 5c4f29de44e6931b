//! All scripts of a run, compiled together: variables have slots, SQL commands have numbers, jumps
//! of conditionals have targets.
//!
//! Compiled by the coordinator to find static errors and by every agent to run it. Invariant: a
//! program that exists can be executed by any number of clients without another lookup by name.

use super::command::{Command, Kind, Line, LineError, read_line, trim_line_break};
use super::conditional::link_conditionals;
use super::error::{MAX_PARAMETERS, ScriptError, SyntaxError};
use super::sql::{Cutter, Stop};
use super::statement::{Sql, Store};
use super::variables::{Names, Slot};
use crate::plan::{Protocol, ScriptSource, Workload};
use crate::workload::ScriptChoice;

/// The compiled scripts of a run.
#[derive(Clone, Debug)]
pub struct Program {
    scripts: Box<[Script]>,
    names: Names,
    choice: ScriptChoice,
    pub(crate) protocol: Protocol,
    pub(crate) scale: i64,
    pub(crate) defines: Box<[(Slot, Vec<u8>)]>,
    pub(crate) times_meta_commands: bool,
    statements: u32,
}

/// One compiled script.
#[derive(Clone, Debug)]
pub struct Script {
    name: String,
    commands: Box<[Command]>,
}

/// Longest first line of SQL that is kept for reports.
const FIRST_LINE: usize = 127;

impl Program {
    /// Compiles the scripts of a workload.
    pub fn compile(workload: &Workload) -> Result<Self, ScriptError> {
        let mut names = Names::default();
        let mut statements = 0;
        let mut scripts = Vec::with_capacity(workload.scripts.len());
        for source in &workload.scripts {
            scripts
                .push(Compiler { names: &mut names, statements: &mut statements }.script(source)?);
        }
        let choice = ScriptChoice::new(workload.scripts.iter().map(|script| script.weight))?;
        if workload.protocol != Protocol::Simple {
            check_parameters(&scripts)?;
        }
        let define = |(name, value): &(String, String)| {
            (names.intern(name.as_bytes()), value.as_bytes().to_vec())
        };
        Ok(Self {
            defines: workload.defines.iter().map(define).collect(),
            scripts: scripts.into(),
            names,
            choice,
            protocol: workload.protocol,
            scale: workload.scale,
            times_meta_commands: workload.report_per_command,
            statements,
        })
    }

    /// The scripts, in the order of the command line.
    #[must_use]
    pub fn scripts(&self) -> &[Script] {
        &self.scripts
    }

    /// The weights, for drawing scripts.
    #[must_use]
    pub fn choice(&self) -> &ScriptChoice {
        &self.choice
    }

    /// The names of all variables that the scripts mention.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// How many SQL commands there are; their numbers are below this.
    #[must_use]
    pub fn statements(&self) -> u32 {
        self.statements
    }

    /// Whether a `-D` sets `default_seed`, which then takes no draw of the base stream.
    #[must_use]
    pub fn presets_default_seed(workload: &Workload) -> bool {
        workload.defines.iter().any(|(name, _)| name == "default_seed")
    }
}

impl Script {
    /// Fails where one script, whatever it is combined with, is no script.
    pub fn check(source: &ScriptSource) -> Result<(), ScriptError> {
        let mut names = Names::default();
        Compiler { names: &mut names, statements: &mut 0 }.script(source).map(drop)
    }

    /// As reports name it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its commands, SQL and others.
    #[must_use]
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }
}

impl Command {
    /// What per-command reports show: the first line of SQL (at most 127 bytes), or the backslash
    /// command as written.
    #[must_use]
    pub fn first_line(&self) -> &[u8] {
        &self.first_line
    }

    /// A backslash command's name as the script writes it; empty for SQL.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The SQL command, unless it is a backslash command.
    #[must_use]
    pub fn sql(&self) -> Option<&Sql> {
        match &self.kind {
            Kind::Sql(sql) => Some(sql),
            _ => None,
        }
    }

    /// Whether it is `\endpipeline`.
    #[must_use]
    pub fn ends_pipeline(&self) -> bool {
        matches!(self.kind, Kind::EndPipeline)
    }
}

struct Compiler<'c> {
    names: &'c mut Names,
    statements: &'c mut u32,
}

impl Compiler<'_> {
    fn script(&mut self, source: &ScriptSource) -> Result<Script, ScriptError> {
        // Statements travel as zero-terminated strings, and pgbench reads scripts as such.
        let end = source.text.iter().position(|&byte| byte == 0).unwrap_or(source.text.len());
        let text = &source.text[..end];
        let mut cutter = Cutter::new(text);
        let mut commands = Vec::new();
        loop {
            let (sql, stop) = cutter.sql();
            if !sql.is_empty() {
                commands.push(self.sql(sql));
            }
            match stop {
                Stop::Semicolon => {}
                Stop::Backslash => {
                    let backslash = cutter.at() - 1;
                    let end = self
                        .backslash(text, backslash, &mut commands)
                        .map_err(|error| located(error, source, text, backslash))?;
                    cutter.go_on_at(end);
                }
                Stop::End => break,
            }
        }
        if commands.is_empty() {
            return Err(ScriptError::Empty(source.name.clone()));
        }
        link_conditionals(&mut commands).map_err(|(command, message)| ScriptError::Condition {
            script: source.name.clone(),
            command,
            message,
        })?;
        Ok(Script { name: source.name.clone(), commands: commands.into() })
    }

    fn sql(&mut self, text: Vec<u8>) -> Command {
        let limit = text.len().min(FIRST_LINE);
        let end = text[..limit].iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(limit);
        let first_line = text[..end].into();
        let number = *self.statements;
        *self.statements += 1;
        Command { kind: Kind::Sql(Sql::new(text, number, self.names)), name: "".into(), first_line }
    }

    /// Reads a backslash command; gives the offset behind it.
    fn backslash(
        &mut self,
        text: &[u8],
        backslash: usize,
        commands: &mut Vec<Command>,
    ) -> Result<usize, LineError> {
        let (line, end) = read_line(text, backslash, self.names)?;
        match line {
            Line::Nothing => {}
            Line::Command(command) => commands.push(*command),
            Line::Store { aset, prefix } => attach(commands.last_mut(), aset, prefix)?,
        }
        Ok(end)
    }
}

fn attach(command: Option<&mut Command>, aset: bool, prefix: Vec<u8>) -> Result<(), LineError> {
    let more = match command {
        Some(Command { kind: Kind::Sql(sql), .. }) if sql.store == Store::Nothing => {
            sql.store = if aset { Store::Aset { prefix } } else { Store::Gset { prefix } };
            return Ok(());
        }
        Some(Command { kind: Kind::Sql(_), .. }) | None => None,
        Some(other) => Some(other.first_line.to_vec()),
    };
    let message = "\\gset must follow an SQL command";
    Err(LineError { message, more, command: String::new(), line_end: None, at: None })
}

fn located(error: LineError, source: &ScriptSource, text: &[u8], backslash: usize) -> ScriptError {
    let lossy = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
    SyntaxError {
        script: source.name.clone(),
        line_number: text[..=backslash].split(|&byte| byte == b'\n').count(),
        message: error.message,
        more: error.more.as_deref().map(lossy),
        command: (!error.command.is_empty()).then_some(error.command),
        line: error.line_end.map(|end| lossy(trim_line_break(&text[backslash..end]))),
        column: error.at.map(|at| at - backslash),
    }
    .into()
}

fn check_parameters(scripts: &[Script]) -> Result<(), ScriptError> {
    let commands = scripts.iter().flat_map(|script| &script.commands);
    match commands.filter_map(Command::sql).find(|sql| sql.parameters().len() > MAX_PARAMETERS) {
        Some(sql) => {
            Err(ScriptError::TooManyParameters(String::from_utf8_lossy(sql.text()).into_owned()))
        }
        None => Ok(()),
    }
}
