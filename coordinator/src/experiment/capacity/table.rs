//! The answer for people.

use std::io::{self, Write};

use super::{Answer, Step};

/// Prints the load curve and what was found.
///
/// # Errors
/// The writer fails.
pub fn print(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    writeln!(out, "objective {}\n", answer.objective)?;
    writeln!(out, "{HEADING}")?;
    let mut steps: Vec<&Step> = answer.steps.iter().collect();
    steps.sort_by(|a, b| a.rate_tps.total_cmp(&b.rate_tps));
    for step in steps {
        writeln!(out, "{}", line(step))?;
    }
    writeln!(out, "\n{}", sentence(answer))
}

/// Above the steps.
pub const HEADING: &str = "    asked  achieved     p50 ms     p99 ms     max ms  holds";

/// A step.
#[must_use]
pub fn line(step: &Step) -> String {
    let ms = |figure: fn(&crate::report::summary::LatencyMs) -> f64| {
        step.latency_ms.as_ref().map_or_else(|| "-".to_owned(), |ms| format!("{:.3}", figure(ms)))
    };
    let holds = match &step.because {
        None if step.client_bound => "yes, though a load host was at its limit".to_owned(),
        None => "yes".to_owned(),
        Some(because) => format!("no: {because}"),
    };
    format!(
        "{:>9.1} {:>9.1} {:>10} {:>10} {:>10}  {holds}",
        step.rate_tps,
        step.achieved_tps,
        ms(|ms| ms.p50),
        ms(|ms| ms.p99),
        ms(|ms| ms.max),
    )
}

/// What was found.
#[must_use]
pub fn sentence(answer: &Answer) -> String {
    let because = answer.failed_because.as_deref().unwrap_or("of its run");
    let bound = answer.steps.iter().any(|step| !step.holds && step.client_bound);
    let host = if bound {
        "; a load host was at its limit there, so this may be its capacity rather than the server's"
    } else {
        ""
    };
    match (answer.found_tps, answer.failed_tps) {
        (Some(held), Some(failed)) => {
            format!("found {held:.1} tps; next step {failed:.1} tps failed because {because}{host}")
        }
        (Some(held), None) if answer.complete => {
            format!("found {held:.1} tps or more: no higher rate was to be tried")
        }
        (Some(held), None) => format!("undecided: {held:.1} tps held at times and at times not"),
        (None, Some(failed)) => {
            format!("found nothing: not even {failed:.1} tps holds because {because}{host}")
        }
        (None, None) => "found nothing: the search did not come to its end".to_owned(),
    }
}
