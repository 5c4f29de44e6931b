//! One client's execution of scripts, without any input or output of its own.
//!
//! The caller asks for the next step, does what it says, and asks again; meta commands that need
//! nothing from outside run in between. Invariant: a retried transaction draws the values of its
//! first try; variables are not put back.

mod outside;
mod steps;

use super::command::{Command, Kind, Otherwise, Target};
use super::error::{CommandError, FailedCommand};
use super::expr::{Code, Context, Evaluator};
use super::packed::Packed;
use super::program::Program;
use super::statement::{Sql, Store};
use super::variables::{Slot, Variables};
use crate::ids::ClientId;
use crate::random::{ClientStreams, Generator, Streams};

/// What the caller has to do.
#[derive(Debug)]
pub enum Step<'p> {
    /// Execute a statement; read its results at once unless a pipeline is open.
    Sql(&'p Sql),
    /// Wait so many microseconds; not at all if not positive.
    Sleep(i64),
    /// Run this command line in a shell, then call [`ClientState::shell_done`].
    Shell(Vec<u8>),
    /// Run this command line in a shell, then call [`ClientState::setshell_done`].
    SetShell(Vec<u8>),
    /// Open a pipeline; in prepared mode first prepare [`ClientState::pipeline_statements`].
    StartPipeline,
    /// Put a sync point into the pipeline.
    SyncPipeline,
    /// End the pipeline and read all its results.
    EndPipeline,
    /// A meta command has run; only if per-command figures are kept.
    Meta,
    /// The script is over.
    End,
}

/// One client's state.
#[derive(Clone, Debug)]
pub struct ClientState {
    variables: Variables,
    functions: Generator,
    /// `functions` as it was when the transaction began.
    at_begin: Generator,
    chooser: Generator,
    evaluator: Evaluator,
    script: usize,
    command: usize,
    next: usize,
    /// A condition did not hold and led to the next one.
    seeking: bool,
    pipeline: bool,
    scratch: Vec<u8>,
}

const EVALUATION: &str = "evaluation of meta-command failed";
const ASSIGNMENT: &str = "assignment of meta-command failed";
const EXECUTION: &str = "execution of meta-command failed";

impl ClientState {
    /// A client with its presets: `-D` variables, and the automatic ones where no `-D` has them.
    #[must_use]
    pub fn new(program: &Program, client: ClientId, own: ClientStreams, run: &Streams) -> Self {
        let names = program.names();
        let mut variables = Variables::new(names.all().len());
        for (slot, value) in &program.defines {
            variables.set_text(*slot, value);
        }
        let automatic = [
            ("scale", Some(program.scale)),
            ("client_id", Some(i64::from(client.0))),
            ("random_seed", Some(run.random_seed())),
            ("default_seed", run.default_seed()),
        ];
        for (name, value) in automatic {
            if let (Some(slot), Some(value)) = (names.find(name.as_bytes()), value)
                && !variables.is_set(slot)
            {
                variables.set(slot, Packed::int(value));
            }
        }
        Self {
            variables,
            functions: own.functions,
            at_begin: own.functions,
            chooser: own.chooser,
            evaluator: Evaluator::default(),
            script: 0,
            command: 0,
            next: 0,
            seeking: false,
            pipeline: false,
            scratch: Vec::new(),
        }
    }

    /// Draws the script of the next transaction.
    #[inline]
    pub fn choose(&mut self, program: &Program) -> usize {
        program.choice().draw(&mut self.chooser)
    }

    /// Begins a transaction with a script's first command.
    #[inline]
    pub fn begin(&mut self, script: usize) {
        self.script = script;
        self.at_begin = self.functions;
        self.rewind();
    }

    /// Begins the same transaction again, with the same random values.
    pub fn retry(&mut self) {
        self.functions = self.at_begin;
        self.rewind();
    }

    fn rewind(&mut self) {
        self.command = 0;
        self.next = 0;
        self.seeking = false;
        self.pipeline = false;
    }

    /// Number of the script, from 0.
    #[must_use]
    pub fn script(&self) -> usize {
        self.script
    }

    /// Number of the command that the last step belongs to, from 0.
    #[must_use]
    pub fn command(&self) -> usize {
        self.command
    }

    /// Whether a pipeline is open.
    #[must_use]
    pub fn in_pipeline(&self) -> bool {
        self.pipeline
    }

    /// The variables, for statements to be written with.
    #[must_use]
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Lines that `debug()` wrote since the caller last emptied this.
    pub fn debug_output(&mut self) -> &mut Vec<u8> {
        &mut self.evaluator.output
    }

    /// Runs meta commands up to the next thing that the caller has to do.
    #[inline]
    pub fn next<'p>(&mut self, program: &'p Program) -> Result<Step<'p>, CommandError> {
        let commands = program.scripts()[self.script].commands();
        loop {
            let Some(command) = commands.get(self.next) else {
                return if self.pipeline {
                    Err(CommandError::open_pipeline())
                } else {
                    Ok(Step::End)
                };
            };
            self.command = self.next;
            self.next += 1;
            if let Some(step) = self.run(program, command)? {
                return Ok(step);
            }
            if program.times_meta_commands {
                return Ok(Step::Meta);
            }
        }
    }

    #[inline]
    fn run<'p>(
        &mut self,
        program: &'p Program,
        command: &'p Command,
    ) -> Result<Option<Step<'p>>, CommandError> {
        match &command.kind {
            Kind::Sql(sql) => {
                if self.pipeline && *sql.store() != Store::Nothing {
                    return Err(self.stores_in_pipeline(sql.store()));
                }
                return Ok(Some(Step::Sql(sql)));
            }
            Kind::Set { target, value } => {
                let value = self.eval(program, command, value)?;
                self.assign(target, value)
                    .map_err(|name| self.invalid_name(program, &command.name, name, ASSIGNMENT))?;
            }
            Kind::If { condition, otherwise } => {
                self.branch(program, command, condition, *otherwise)?;
            }
            Kind::Elif { condition, otherwise, end } => {
                if std::mem::take(&mut self.seeking) {
                    self.branch(program, command, condition, *otherwise)?;
                } else {
                    self.next = *end;
                }
            }
            Kind::Else { end } => self.next = *end,
            Kind::Endif => {}
            other => return self.step(program, command, other).map(Some),
        }
        Ok(None)
    }

    #[inline]
    fn eval(
        &mut self,
        program: &Program,
        command: &Command,
        code: &Code,
    ) -> Result<Packed, CommandError> {
        let mut context = Context {
            variables: &self.variables,
            generator: &mut self.functions,
            script: self.script,
            command: self.command,
        };
        self.evaluator.eval(code, &mut context).map_err(|failure| {
            let detail = failure.message(&self.variables, program.names().all());
            self.failed(&command.name, detail, EVALUATION)
        })
    }

    fn branch(
        &mut self,
        program: &Program,
        command: &Command,
        condition: &Code,
        otherwise: Otherwise,
    ) -> Result<(), CommandError> {
        if !self.eval(program, command, condition)?.value().is_true() {
            self.next = otherwise.target;
            self.seeking = otherwise.is_condition;
        }
        Ok(())
    }

    #[inline]
    fn assign(&mut self, target: &Target, value: Packed) -> Result<(), Slot> {
        if !target.valid {
            return Err(target.slot);
        }
        self.variables.set(target.slot, value);
        Ok(())
    }

    /// The statements from here to the end of the pipeline just begun.
    pub fn pipeline_statements<'p>(
        &self,
        program: &'p Program,
    ) -> impl Iterator<Item = &'p Sql> + use<'p> {
        program.scripts()[self.script].commands()[self.next..]
            .iter()
            .take_while(|command| !command.ends_pipeline())
            .filter_map(Command::sql)
    }

    fn current<'p>(&self, program: &'p Program) -> &'p Command {
        &program.scripts()[self.script].commands()[self.command]
    }

    fn invalid_name(
        &self,
        program: &Program,
        command: &str,
        slot: Slot,
        message: &'static str,
    ) -> CommandError {
        let name = String::from_utf8_lossy(&program.names().all()[slot.index()]);
        let context = if message == ASSIGNMENT { command } else { "setshell" };
        let detail = format!("{context}: invalid variable name: \"{name}\"");
        self.failed(command, Some(detail), message)
    }

    #[cold]
    fn failed(&self, name: &str, detail: Option<String>, message: &'static str) -> CommandError {
        let (script, command) = (self.script, self.command);
        let failed = FailedCommand { script, command, name: name.to_owned(), message };
        CommandError::new(detail, failed)
    }
}
