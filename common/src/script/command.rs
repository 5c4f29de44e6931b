//! The commands of a script and how a backslash line becomes one.
//!
//! Errors carry what is wrong and where in the script; the caller adds its name and line number.

use super::expr::{Code, ExprError, parse};
use super::meta::{MAX_WORDS, MetaWord, MetaWords};
use super::shell::ShellWord;
use super::statement::Sql;
use super::variables::{Names, Slot, is_valid_name};

/// One command of a script.
#[derive(Clone, Debug)]
pub struct Command {
    pub(crate) kind: Kind,
    /// The command's name as written; empty for SQL.
    pub(crate) name: Box<str>,
    /// First line of SQL (at most 127 bytes), or the whole backslash command.
    pub(crate) first_line: Box<[u8]>,
}

/// Where a value goes.
#[derive(Clone, Debug)]
pub struct Target {
    pub slot: Slot,
    /// Checked when the command runs, as with pgbench.
    pub valid: bool,
}

/// What a command does.
#[derive(Clone, Debug)]
pub enum Kind {
    Sql(Sql),
    Set {
        target: Target,
        value: Code,
    },
    If {
        condition: Code,
        otherwise: Otherwise,
    },
    /// `end` is the command behind the matching `\endif`.
    Elif {
        condition: Code,
        otherwise: Otherwise,
        end: usize,
    },
    Else {
        end: usize,
    },
    Endif,
    Sleep {
        duration: Duration,
        unit_us: i32,
    },
    Shell {
        words: Box<[ShellWord]>,
    },
    SetShell {
        target: Target,
        words: Box<[ShellWord]>,
    },
    StartPipeline,
    SyncPipeline,
    EndPipeline,
}

/// Where a condition that does not hold leads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Otherwise {
    pub target: usize,
    /// Whether that is the next condition of the same `\if`; the command behind an `\endif` may well be
    /// an `\elif`, but it is another one's.
    pub is_condition: bool,
}

/// How many units to sleep.
#[derive(Clone, Debug)]
pub enum Duration {
    Units(i32),
    Variable(Slot),
}

/// What a backslash line is.
#[derive(Debug)]
pub enum Line {
    /// A lone backslash.
    Nothing,
    /// `\gset` or `\aset` with the prefix, to be attached to the command before.
    Store { aset: bool, prefix: Vec<u8> },
    /// Any other command.
    Command(Box<Command>),
}

/// Why a backslash line is no command.
#[derive(Debug)]
pub struct LineError {
    pub message: &'static str,
    pub more: Option<Vec<u8>>,
    pub command: String,
    /// Offset behind the line, if the line is to be shown.
    pub line_end: Option<usize>,
    /// Offset of the error.
    pub at: Option<usize>,
}

/// Reads the line behind a backslash; gives it and the offset behind it.
pub fn read_line(
    script: &[u8],
    backslash: usize,
    names: &mut Names,
) -> Result<(Line, usize), LineError> {
    let mut words = MetaWords::new(script, backslash + 1);
    let Some(name) = words.next() else {
        return Ok((Line::Nothing, words.at()));
    };
    let line = LineReader { script, backslash, name: lossy(name.text), names };
    match name.text.to_ascii_lowercase().as_slice() {
        b"set" => line.set(words),
        b"if" => line.condition(words.at(), |condition| Kind::If {
            condition,
            otherwise: Otherwise::default(),
        }),
        b"elif" => line.condition(words.at(), |condition| Kind::Elif {
            condition,
            otherwise: Otherwise::default(),
            end: 0,
        }),
        lowercase => line.other(lowercase, words),
    }
}

const TOO_MANY: &str = "too many arguments";

struct LineReader<'l> {
    script: &'l [u8],
    backslash: usize,
    name: String,
    names: &'l mut Names,
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// What is wrong with the words of a command: a message and the word that it is about.
type Complaint<'s> = (&'static str, Option<MetaWord<'s>>);

impl LineReader<'_> {
    fn command(self, kind: Kind, end: usize) -> (Line, usize) {
        let first_line = trim_line_break(&self.script[self.backslash..end]).into();
        let command = Command { kind, name: self.name.into(), first_line };
        (Line::Command(Box::new(command)), end)
    }

    fn set(self, mut words: MetaWords<'_>) -> Result<(Line, usize), LineError> {
        let Some(variable) = words.next() else {
            let message = "missing argument";
            return Err(LineError {
                message,
                more: None,
                command: self.name,
                line_end: None,
                at: None,
            });
        };
        let target = self.names.target(variable.text);
        self.condition(words.at(), |value| Kind::Set { target, value })
    }

    fn condition(
        self,
        at: usize,
        kind: impl FnOnce(Code) -> Kind,
    ) -> Result<(Line, usize), LineError> {
        match parse(self.script, at, self.names) {
            Ok((code, end)) => Ok(self.command(kind(code), end)),
            Err(ExprError { message, more, at, line_end }) => {
                let (line_end, at) = (Some(line_end), Some(at));
                Err(LineError { message, more, command: self.name, line_end, at })
            }
        }
    }

    fn other(
        mut self,
        lowercase: &[u8],
        mut words: MetaWords<'_>,
    ) -> Result<(Line, usize), LineError> {
        let mut arguments = Vec::new();
        for word in words.by_ref() {
            arguments.push(word);
            if arguments.len() >= MAX_WORDS {
                let message = TOO_MANY;
                return Err(LineError {
                    message,
                    more: None,
                    command: self.name,
                    line_end: None,
                    at: None,
                });
            }
        }
        let end = words.at();
        if let b"gset" | b"aset" = lowercase {
            return match arguments.as_slice() {
                [] => Ok((Line::Store { aset: lowercase == b"aset", prefix: Vec::new() }, end)),
                [prefix] => {
                    let prefix = prefix.text.to_vec();
                    Ok((Line::Store { aset: lowercase == b"aset", prefix }, end))
                }
                _ => Err(self.complain((TOO_MANY, None), end)),
            };
        }
        match self.kind(lowercase, &arguments) {
            Ok(kind) => Ok(self.command(kind, end)),
            Err(complaint) => Err(self.complain(complaint, end)),
        }
    }

    fn complain(self, (message, word): Complaint<'_>, end: usize) -> LineError {
        // Which word is one too many is shown by position alone.
        let shown = word.filter(|_| message != TOO_MANY);
        LineError {
            message,
            more: shown.map(|word| word.text.to_vec()),
            command: self.name,
            line_end: Some(end),
            at: word.map(|word| word.at),
        }
    }

    fn kind<'s>(
        &mut self,
        lowercase: &[u8],
        arguments: &[MetaWord<'s>],
    ) -> Result<Kind, Complaint<'s>> {
        let alone = |kind| match arguments {
            [] => Ok(kind),
            _ => Err(("unexpected argument", None)),
        };
        match lowercase {
            b"sleep" => sleep(arguments, self.names),
            b"shell" => match arguments {
                [] => Err(("missing command", None)),
                words => Ok(Kind::Shell { words: ShellWord::read(words, self.names) }),
            },
            b"setshell" => match arguments {
                [variable, words @ ..] if !words.is_empty() => Ok(Kind::SetShell {
                    target: self.names.target(variable.text),
                    words: ShellWord::read(words, self.names),
                }),
                _ => Err(("missing argument", None)),
            },
            b"else" => alone(Kind::Else { end: 0 }),
            b"endif" => alone(Kind::Endif),
            b"startpipeline" => alone(Kind::StartPipeline),
            b"syncpipeline" => alone(Kind::SyncPipeline),
            b"endpipeline" => alone(Kind::EndPipeline),
            _ => Err(("invalid command", None)),
        }
    }
}

impl Names {
    fn target(&mut self, name: &[u8]) -> Target {
        Target { slot: self.intern(name), valid: is_valid_name(name) }
    }
}

/// `\sleep N [us|ms|s]`; the unit may be glued to a literal number.
fn sleep<'s>(arguments: &[MetaWord<'s>], names: &mut Names) -> Result<Kind, Complaint<'s>> {
    let (number, mut unit) = match *arguments {
        [] => return Err(("missing argument", None)),
        [number] => (number, None),
        [number, unit] => (number, Some(unit)),
        [_, _, third, ..] => return Err((TOO_MANY, Some(third))),
    };
    let duration = if let [b':', name @ ..] = number.text {
        Duration::Variable(names.intern(name))
    } else {
        let sign = usize::from(matches!(number.text.first(), Some(b'+' | b'-')));
        let digits = number.text[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let rest = &number.text[sign + digits..];
        if !rest.is_empty() {
            if unit.is_some() || digits == 0 {
                return Err(("invalid sleep time, must be an integer", Some(number)));
            }
            unit = Some(MetaWord { text: rest, at: number.at + sign + digits });
        }
        Duration::Units(super::number::atoi(number.text))
    };
    let unit_us = match unit {
        None => 1_000_000,
        Some(word) => match word.text.to_ascii_lowercase().as_slice() {
            b"us" => 1,
            b"ms" => 1_000,
            b"s" => 1_000_000,
            _ => return Err(("unrecognized time unit, must be us, ms or s", Some(word))),
        },
    };
    Ok(Kind::Sleep { duration, unit_us })
}

/// Without line breaks at the end.
pub fn trim_line_break(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    &line[..end.map_or(0, |last| last + 1)]
}
