//! Scripts named on the command line: built-in ones, files, standard input.

use std::fs::File;
use std::io::Read;

use pgsurge_common::plan::ScriptSource;
use pgsurge_common::script::Script;
use pgsurge_common::workload::{ScriptChoice, Weighted, find_builtin};

use crate::cli::usage::UsageError;

/// A script larger than this is a mistake; agents receive scripts in one message.
const LARGEST: u64 = 1 << 20;

/// `-b NAME[@W]`.
pub fn builtin(argument: &str) -> Result<ScriptSource, UsageError> {
    let Weighted { name, weight } = weighted(argument)?;
    Ok(find_builtin(&name).map_err(|e| UsageError::new(e.to_string()))?.source(weight))
}

/// `-f FILE[@W]`; `-` is standard input.
pub fn file(argument: &str) -> Result<ScriptSource, UsageError> {
    let Weighted { name, weight } = weighted(argument)?;
    let text = read(&name)
        .map_err(|e| UsageError::new(format!("could not open file \"{name}\": {}", plain(&e))))?;
    let source = ScriptSource { name, text, weight, builtin: false };
    // Compiled with the others later; what is wrong with it is told before later options are looked at.
    Script::check(&source).map_err(|e| UsageError::new(e.to_string()))?;
    Ok(source)
}

/// Checks all weights together.
pub fn check_weights(scripts: &[ScriptSource]) -> Result<(), UsageError> {
    ScriptChoice::new(scripts.iter().map(|script| script.weight))
        .map(drop)
        .map_err(|e| UsageError::new(e.to_string()))
}

fn weighted(argument: &str) -> Result<Weighted, UsageError> {
    Weighted::parse(argument).map_err(|e| UsageError::new(e.to_string()))
}

fn read(name: &str) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let source: Box<dyn Read> =
        if name == "-" { Box::new(std::io::stdin()) } else { Box::new(File::open(name)?) };
    source.take(LARGEST + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(std::io::Error::other(format!("larger than {LARGEST} bytes")));
    }
    Ok(text)
}

/// An error of the system without the number that Rust appends.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
