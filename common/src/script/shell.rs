//! Command lines of `\shell` and `\setshell`, and the integer that the latter reads.
//!
//! Only texts: whoever executes a script runs the command, or refuses to.

use super::meta::MetaWord;
use super::number::{is_space, parse_int};
use super::variables::{Names, Slot, Variables};

/// One word of a command line.
#[derive(Clone, Debug)]
pub enum ShellWord {
    /// To be taken as it is.
    Literal(Box<[u8]>),
    /// To be replaced by a variable's value.
    Variable(Slot),
}

/// Bytes that a command line may not reach.
const LIMIT: usize = 255;
/// Bytes of output that `\setshell` looks at.
const OUTPUT_LIMIT: usize = 63;

impl ShellWord {
    /// Words of a backslash command: `:name` is a variable, `::name` the literal `:name`.
    pub fn read(words: &[MetaWord<'_>], names: &mut Names) -> Box<[Self]> {
        let mut read = |word: &MetaWord<'_>| match word.text.strip_prefix(b":") {
            None => Self::Literal(word.text.into()),
            Some(literal) if literal.starts_with(b":") => Self::Literal(literal.into()),
            Some(name) => Self::Variable(names.intern(name)),
        };
        words.iter().map(&mut read).collect()
    }

    /// The first word as messages name the command.
    pub fn command_name(words: &[Self], names: &Names) -> String {
        match words.first() {
            Some(Self::Literal(text)) => String::from_utf8_lossy(text).into_owned(),
            Some(Self::Variable(slot)) => {
                format!(":{}", String::from_utf8_lossy(&names.all()[slot.index()]))
            }
            None => String::new(),
        }
    }

    /// The command line, its words joined by blanks, or what is wrong with it.
    pub fn join(words: &[Self], variables: &Variables, names: &Names) -> Result<Vec<u8>, String> {
        let mut line = Vec::new();
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                line.push(b' ');
            }
            match word {
                Self::Literal(text) => line.extend_from_slice(text),
                Self::Variable(slot) => {
                    if !variables.write(*slot, &mut line) {
                        let name = String::from_utf8_lossy(&names.all()[slot.index()]);
                        return Err(format!("undefined variable \":{name}\""));
                    }
                }
            }
            if line.len() >= LIMIT {
                return Err("shell command is too long".to_owned());
            }
        }
        Ok(line)
    }
}

/// The integer that a command printed as its first line, or what is wrong with it.
#[allow(clippy::cast_possible_truncation)]
pub fn parse_shell_output(output: &[u8]) -> Result<i64, String> {
    let end = output.iter().position(|&byte| byte == b'\n').map_or(output.len(), |end| end + 1);
    let line = &output[..end.min(OUTPUT_LIMIT)];
    if line.is_empty() {
        return Err("could not read result of shell command".to_owned());
    }
    let trimmed =
        line.iter().rposition(|&b| !is_space(b)).map_or(&line[..0], |last| &line[..=last]);
    match parse_int(trimmed) {
        // C keeps the low 32 bits of what strtol gives.
        Some(value) => Ok(i64::from(value as i32)),
        None => Err(format!(
            "shell command must return an integer (not \"{}\")",
            String::from_utf8_lossy(line)
        )),
    }
}
