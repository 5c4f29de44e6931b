//! `pgsurge compare`: repeated runs against each other.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use pgsurge_common::outcome::ExitCode;

use super::tell;
use crate::experiment::compare::{Comparison, Metric, Set, Word, compare, different, page, print};

/// Compare sets of results; the first is the baseline
#[derive(Clone, Debug, Parser)]
#[command(name = "compare", display_name = "pgsurge-compare", bin_name = "pgsurge compare", version = super::version::number())]
pub struct CompareArgs {
    /// results folders, or folders of results folders, joined by commas: the repeats of one thing
    #[arg(value_name = "SET", required = true, num_args = 2..)]
    pub sets: Vec<String>,
    /// compare by these: tps, mean, p50, p90, p95, p99, p99.9, max
    #[arg(long, value_name = "NAME", value_delimiter = ',', default_value = "tps,p50,p99", value_parser = metric)]
    pub metric: Vec<Metric>,
    /// compare different workloads, too
    #[arg(long)]
    pub anyway: bool,
    /// exit with 4 if a set is significantly worse, by PERCENT or more, and with 3 if there are too few runs to tell
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, require_equals = true, default_missing_value = "0", value_parser = percent)]
    pub fail_on_regression: Option<f64>,
    /// write a page with charts to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// "text" or "json"
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: CompareFormat,
}

/// How it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

fn metric(text: &str) -> Result<Metric, String> {
    text.parse()
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| "expected a number from 0".to_owned())
}

/// Compares and prints.
///
/// # Errors
/// Results cannot be read, or are of different workloads.
pub fn compare_sets(args: &CompareArgs) -> Result<ExitCode> {
    let sets = args.sets.iter().map(|set| Set::read(set)).collect::<Result<Vec<_>, _>>()?;
    for set in &sets {
        for why in &set.left_out {
            tell::warning(&format_args!("left out: {why}"));
        }
    }
    if let Some(empty) = sets.iter().find(|set| set.runs.is_empty()) {
        tell::line(&format_args!("error: {} has no run whose figures can be used", empty.name));
        return Ok(ExitCode::Invalid);
    }
    let first = &sets[0].runs[0];
    let others = sets.iter().flat_map(|set| set.runs.iter().map(move |run| (&set.name, run)));
    for (name, run) in others {
        let found = different(first, run);
        if found.is_empty() {
            continue;
        }
        let what =
            format!("{name} ran another workload than {}: {}", sets[0].name, found.join(", "));
        if !args.anyway {
            anyhow::bail!("{what}; --anyway compares them nevertheless");
        }
        tell::warning(&what);
        break;
    }
    let comparison = compare(&sets, &args.metric);
    if let Some(path) = &args.html {
        let written = page(&comparison).write_to(path).map_err(|(_, error)| error);
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    let mut out = io::stdout().lock();
    // Whoever closed stdout still gets the exit code.
    let _ = match args.format {
        CompareFormat::Text => print(&mut out, &comparison),
        CompareFormat::Json => serde_json::to_writer_pretty(&mut out, &comparison)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out)),
    };
    Ok(args.fail_on_regression.map_or(ExitCode::Done, |percent| gate(&comparison, percent)))
}

/// What `--fail-on-regression` comes to. A gate that cannot see is not one that is passed.
fn gate(comparison: &Comparison, percent: f64) -> ExitCode {
    let all = &comparison.differences;
    if all.iter().any(|found| found.is_regression(percent)) {
        return ExitCode::ExpectationMissed;
    }
    let unseen: Vec<String> = all
        .iter()
        .filter(|found| found.word == Word::TooFewRuns)
        .map(|found| format!("{} of {}", found.metric, found.set))
        .collect();
    if unseen.is_empty() {
        return ExitCode::Done;
    }
    let unseen = unseen.join(", ");
    tell::line(&format_args!("error: too few runs to see a regression in {unseen}"));
    ExitCode::Invalid
}
