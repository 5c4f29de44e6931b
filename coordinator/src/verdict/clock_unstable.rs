//! `clock-unstable`: the common start and the borders of intervals are only as good as the clocks.

use super::{AgentEvidence, Evidence, Finding, Severity};

/// Half a percent of an interval: below it, what one agent books a border too late is noise.
pub const WARNING_US: u64 = 5_000;

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.agents.iter().filter_map(unstable).collect()
}

fn unstable(agent: &AgentEvidence) -> Option<Finding> {
    let drift = agent.clock_drift_us.unsigned_abs();
    let (what, seen) = if agent.clock_error_us >= drift {
        ("is known", agent.clock_error_us)
    } else {
        ("drifted", drift)
    };
    if seen <= WARNING_US {
        return None;
    }
    let (seen, accepted) = (seen as f64 / 1000.0, WARNING_US as f64 / 1000.0);
    let how = if what == "is known" { "to" } else { "by" };
    Some(Finding {
        code: "clock-unstable",
        severity: Severity::Warning,
        agent: Some(agent.name.clone()),
        value: seen,
        threshold: accepted,
        message: format!(
            "the clock of agent {} {what} {how} {seen:.1} ms only, {accepted:.0} ms are accepted",
            agent.name
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::{Evidence, check};

    #[test]
    fn error_and_drift_above_five_milliseconds_are_found() {
        let cases = [(5_000, 5_000, false), (5_001, 0, true), (0, 5_001, true), (0, -5_001, true)];
        for (error, drift, found) in cases {
            let mut evidence = Evidence::sound();
            evidence.agents[0].clock_error_us = error;
            evidence.agents[0].clock_drift_us = drift;
            assert_eq!(!check(&evidence).is_empty(), found, "{error} {drift}");
        }
    }
}
