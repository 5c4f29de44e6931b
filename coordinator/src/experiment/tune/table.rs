//! The answer for people.

use std::io::{self, Write};

use super::answer::{Answer, Confirmation};
use crate::experiment::compare::Word;

/// Prints what was found.
///
/// # Errors
/// The writer fails.
pub fn print(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    writeln!(out, "{}", sentence(answer))?;
    if let Some(best) = &answer.best {
        writeln!(out, "\nbaseline  {}", shown(answer, &answer.baseline))?;
        writeln!(out, "best      {}", shown(answer, best))?;
    }
    for (heading, lines) in
        [("to have it", &answer.alter_system), ("or in postgresql.conf", &answer.conf)]
    {
        if !lines.is_empty() {
            writeln!(out, "\n{heading}:")?;
            lines.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
        }
    }
    Ok(())
}

/// A point as people read it.
#[must_use]
pub fn shown(answer: &Answer, values: &[String]) -> String {
    let named = answer.parameters.iter().zip(values).map(|(name, value)| format!("{name}={value}"));
    named.collect::<Vec<_>>().join(" ")
}

/// What was found.
#[must_use]
pub fn sentence(answer: &Answer) -> String {
    let objective = &answer.objective;
    let Some(best) = &answer.best else {
        return "found nothing: no point could be measured".to_owned();
    };
    let Some(found) = &answer.confirmation else {
        return format!("{} looked best, but was not confirmed", shown(answer, best));
    };
    let figures = figures(found);
    match found.word {
        Word::Better => format!("{objective} is better with {}: {figures}", shown(answer, best)),
        Word::Worse => {
            format!("keep what you have: what looked best is worse, {objective} {figures}")
        }
        Word::NoDifferenceShown => {
            format!(
                "keep what you have: no difference shown with the best point, {objective} {figures}"
            )
        }
        Word::TooFewRuns => format!(
            "{} looked best, {objective} {figures}; whether that is more than chance takes 4 confirmations",
            shown(answer, best)
        ),
    }
}

fn figures(found: &Confirmation) -> String {
    let interval = found.interval.map(|(low, high)| format!(" (95 %: {low:+.2} to {high:+.2} %)"));
    let (before, after) = (found.baseline.0, found.best.0);
    format!("{before:.3} to {after:.3}, {:+.2} %{}", found.percent, interval.unwrap_or_default())
}
