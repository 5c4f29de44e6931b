//! A comparison for people.

use std::io::{self, Write};

use super::judge::{Comparison, Difference, Figure, SetFigures, Word};

/// Prints it.
///
/// # Errors
/// The writer fails.
pub fn print(out: &mut impl Write, comparison: &Comparison) -> io::Result<()> {
    for set in &comparison.sets {
        self::set(out, set)?;
    }
    writeln!(out)?;
    for difference in &comparison.differences {
        writeln!(out, "{}", sentence(difference))?;
    }
    let few = |found: &Difference| found.word == Word::TooFewRuns;
    if comparison.differences.iter().any(few) {
        writeln!(out, "{TOO_FEW}")?;
    }
    Ok(())
}

const TOO_FEW: &str = "how much runs differ by themselves is unknown: a difference takes 4 runs against 4, the interval of a \
                       median 6";

fn set(out: &mut impl Write, set: &SetFigures) -> io::Result<()> {
    let runs = if set.runs == 1 { "run" } else { "runs" };
    writeln!(out, "{}: {} {runs}", set.name, set.runs)?;
    for why in &set.left_out {
        writeln!(out, "  left out: {why}")?;
    }
    if !set.warnings.is_empty() {
        let codes = set.warnings.iter().map(|(code, runs)| format!("{code} in {runs}"));
        writeln!(out, "  valid, with warnings: {}", codes.collect::<Vec<_>>().join(", "))?;
    }
    if let Some(seconds) = set.unsettled_s {
        writeln!(
            out,
            "  runs begin unlike the rest for up to {seconds:.0} s (--warmup leaves a beginning out)"
        )?;
    }
    for figure in &set.figures {
        writeln!(out, "  {}", line(figure))?;
    }
    if let Some(noise) = set.noise_within_runs {
        writeln!(out, "  tps within a run is known to {:.1} %", 100.0 * noise)?;
    }
    writeln!(out, "  failed   {:.3} %", 100.0 * set.failed_share)
}

fn line(figure: &Figure) -> String {
    let Some(median) = figure.median else { return format!("{:<8} -", figure.metric) };
    let unit = if figure.metric == "tps" { "" } else { " ms" };
    let interval = figure.interval.map(|(low, high)| format!(" (95 %: {low:.3} to {high:.3})"));
    format!("{:<8} {median:.3}{unit}{}", figure.metric, interval.unwrap_or_default())
}

/// A difference in a sentence.
pub(super) fn sentence(found: &Difference) -> String {
    let Difference { set, metric, .. } = found;
    let Some(percent) = found.percent else { return format!("{metric} of {set}: not measured") };
    let interval = found.interval.map(|(low, high)| format!(" (95 %: {low:+.2} to {high:+.2} %)"));
    let word = match found.word {
        Word::Better => "better",
        Word::Worse => "worse",
        Word::NoDifferenceShown => "no difference shown",
        Word::TooFewRuns => "too few runs to tell",
    };
    format!("{metric} of {set}: {percent:+.2} %{}: {word}", interval.unwrap_or_default())
}
