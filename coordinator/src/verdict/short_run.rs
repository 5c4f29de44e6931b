//! `short-run`: too few samples for the percentiles shown.

use pgsurge_common::wording::counted;

use super::{Evidence, Finding, Severity};

/// The highest percentile that every report shows.
const HIGHEST: f64 = 0.999;

/// So many samples must lie above a percentile. Their number is binomial, so with ten the share that
/// really lies above it is known to about a third (1/sqrt 10); with fewer the figure is little more
/// than one of the extremes.
pub const SAMPLES_ABOVE: f64 = 10.0;

/// The least number of samples for the percentile of share `q`.
#[must_use]
pub fn samples_for(q: f64) -> f64 {
    (SAMPLES_ABOVE / (1.0 - q)).round()
}

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let (seen, needed) = (evidence.samples as f64, samples_for(HIGHEST));
    if seen >= needed {
        return Vec::new();
    }
    let shaky = ["p50", "p90", "p95", "p99"].into_iter().zip([0.5, 0.9, 0.95, 0.99]);
    let lowest = shaky.into_iter().find(|&(_, q)| seen < samples_for(q));
    let what = lowest.map_or("p99.9".to_owned(), |(name, _)| format!("{name} and above"));
    vec![Finding {
        code: "short-run",
        severity: Severity::Warning,
        agent: None,
        value: seen,
        threshold: needed,
        message: format!(
            "too few for {what}: {}; p99.9 takes {needed}",
            counted(evidence.samples, "transaction")
        ),
    }]
}

#[cfg(test)]
mod tests {
    use super::{Evidence, check};

    #[test]
    fn each_percentile_needs_ten_samples_above_it() {
        let cases = [
            (10_000, None),
            (9_999, Some("few for p99.9:")),
            (1_000, Some("few for p99.9:")),
            (999, Some("few for p99 and above:")),
            (199, Some("few for p95 and above:")),
            (99, Some("few for p90 and above:")),
            (19, Some("few for p50 and above:")),
            (0, Some("few for p50 and above:")),
        ];
        for (samples, expected) in cases {
            let evidence = Evidence { samples, ..Evidence::sound() };
            let message = check(&evidence).first().map(|f| f.message.clone());
            assert_eq!(message.is_some(), expected.is_some(), "{samples}");
            if let (Some(message), Some(expected)) = (message, expected) {
                assert!(message.contains(expected), "{samples}: {message}");
            }
        }
    }
}
