//! `start-spread`: agents that did not begin together did not load the server together.

use super::{AgentEvidence, Evidence, Finding, Severity};

/// A start this late is visible: a twentieth of an interval falls on a part of the clients only.
pub const WARNING_US: u64 = 50_000;

/// A start this late makes the first interval of that agent a hole.
pub const INVALID_US: u64 = 1_000_000;

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.agents.iter().filter_map(late).collect()
}

fn late(agent: &AgentEvidence) -> Option<Finding> {
    let offset = agent.start_offset_us?.unsigned_abs();
    let (severity, threshold) = match offset {
        us if us > INVALID_US => (Severity::Invalid, INVALID_US),
        us if us > WARNING_US => (Severity::Warning, WARNING_US),
        _ => return None,
    };
    let (seen, accepted) = (offset as f64 / 1000.0, threshold as f64 / 1000.0);
    Some(Finding {
        code: "start-spread",
        severity,
        agent: Some(agent.name.clone()),
        value: seen,
        threshold: accepted,
        message: format!(
            "agent {} began {seen:.1} ms away from the common start, more than {accepted:.0} ms",
            agent.name
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Severity, check};

    #[test]
    fn fifty_milliseconds_are_a_warning_and_a_second_is_too_much() {
        let cases = [
            (50_000, None),
            (50_001, Some(Severity::Warning)),
            (-50_001, Some(Severity::Warning)),
            (1_000_000, Some(Severity::Warning)),
            (1_000_001, Some(Severity::Invalid)),
        ];
        for (offset, expected) in cases {
            let mut evidence = Evidence::sound();
            evidence.agents[0].start_offset_us = Some(offset);
            let severity = check(&evidence).first().map(|f| f.severity);
            assert_eq!(severity, expected, "{offset}");
        }
    }

    #[test]
    fn an_agent_that_never_said_when_it_began_is_not_judged() {
        let mut evidence = Evidence::sound();
        evidence.agents[0].start_offset_us = None;
        assert_eq!(check(&evidence), []);
    }
}
