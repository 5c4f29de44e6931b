//! `pgsurge-findings`: each finding of the verdict shown by a real run that deserves it.
//!
//! Prints how it was brought about and what the run said of it; exits with 1 if a finding was not shown, one
//! without a demonstration included.

mod demonstrations;
mod liar;
mod stage;

use std::io::{Write, stdout};
use std::process::ExitCode;

use pgsurge_coordinator::verdict::codes;

use demonstrations::{DEMONSTRATIONS, Demonstration};
use stage::Stage;

fn main() -> std::io::Result<ExitCode> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |code: &str| wanted.is_empty() || wanted.iter().any(|name| name == code);
    let stage = Stage::new();
    let (mut all, mut shown) = (0, 0);
    for code in codes().filter(|code| is_wanted(code)) {
        all += 1;
        match DEMONSTRATIONS.iter().find(|found| found.code == code) {
            Some(demonstration) if show(&stage, demonstration)? => shown += 1,
            Some(_) => {}
            None => writeln!(stdout(), "{code}: nobody shows it\n")?,
        }
    }
    writeln!(stdout(), "{shown} of {all} findings were shown")?;
    Ok(if shown == all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Chance has a part in some of them, so there are several tries.
fn show(stage: &Stage, demonstration: &Demonstration) -> std::io::Result<bool> {
    let Demonstration { code, how, run } = demonstration;
    writeln!(stdout(), "{code}: {how}")?;
    for _ in 0..3 {
        let finished = run(stage).finished;
        let lines: Vec<&str> = finished.stdout.lines().collect();
        let label = format!(": {code}: ");
        let found = lines.iter().filter(|line| line.starts_with("  ") && line.contains(&label));
        let verdict = lines.iter().find(|line| line.starts_with("verdict "));
        let mut was_shown = false;
        for line in verdict.into_iter().chain(found) {
            was_shown |= line.contains(&label);
            writeln!(stdout(), "    {}", line.trim_start())?;
        }
        let exit = finished.code().map_or("none".to_owned(), |code| code.to_string());
        writeln!(stdout(), "    exit code {exit}\n")?;
        if was_shown {
            return Ok(true);
        }
        writeln!(stdout(), "{finished}")?;
    }
    Ok(false)
}
