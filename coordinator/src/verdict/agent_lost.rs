//! `agent-lost`: part of the load ended before the rest, so this is another test than the one asked
//! for.

use pgsurge_common::wording::counted;

use super::{AgentEvidence, Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.agents.iter().filter_map(gone).collect()
}

fn gone(agent: &AgentEvidence) -> Option<Finding> {
    let how = match (&agent.lost, &agent.left) {
        (Some((at_s, reason)), _) => format!("was lost, heard until {at_s:.1} s: {reason}"),
        (None, Some(reason)) => format!("left before the end: {reason}"),
        (None, None) => return None,
    };
    Some(Finding {
        code: "agent-lost",
        severity: Severity::Invalid,
        agent: Some(agent.name.clone()),
        value: f64::from(agent.clients),
        threshold: 0.0,
        message: format!(
            "agent {} with {} {how}",
            agent.name,
            counted(agent.clients.into(), "client")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Severity, check};

    #[test]
    fn every_lost_agent_is_named_with_its_reason() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        evidence.agents[0].lost = Some((12.25, "silent for 11.0 s".into()));
        let findings = check(&evidence);
        assert_eq!(findings[0].severity, Severity::Invalid);
        assert_eq!(findings[0].agent.as_deref(), Some("one"));
        assert!(findings[0].message.contains("heard until 12.2 s: silent for 11.0 s"));
    }

    #[test]
    fn an_agent_that_left_in_good_order_is_gone_all_the_same() {
        let mut evidence = Evidence::sound();
        evidence.agents[0].left = Some("SIGTERM".into());
        let message = &check(&evidence)[0].message;
        assert_eq!(message, "agent one with 10 clients left before the end: SIGTERM");
    }
}
