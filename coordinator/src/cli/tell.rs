//! Lines for the user on stderr, with the program's name before them as pgbench has its own.

use std::fmt::Display;
use std::io::{self, Write};

/// Something to know.
pub fn line(text: &dyn Display) {
    // A standard error that is gone is no reason to fail.
    let _ = writeln!(io::stderr(), "pgsurge: {text}");
}

/// Something to look at.
pub fn warning(text: &dyn Display) {
    line(&format_args!("warning: {text}"));
}

/// What ended the program: the whole chain of reasons in one line, then the lines that help, which
/// begin with `detail: `, `error: ` or `hint: `.
pub fn error(error: &anyhow::Error) {
    let text = format!("{error:#}");
    let mut lines = text.lines();
    line(&format_args!("error: {}", lines.next().unwrap_or_default()));
    for more in lines {
        if ["detail: ", "error: ", "hint: "].iter().any(|start| more.starts_with(start)) {
            line(&more);
        } else {
            let _ = writeln!(io::stderr(), "{more}");
        }
    }
}
