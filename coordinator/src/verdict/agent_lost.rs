//! `agent-lost`: part of the load ended without a report, so the rest is another test than the one
//! asked for.

use super::{Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let lost = |agent: &super::AgentEvidence| {
        let (at_s, reason) = agent.lost.as_ref()?;
        Some(Finding {
            code: "agent-lost",
            severity: Severity::Invalid,
            agent: Some(agent.name.clone()),
            value: f64::from(agent.clients),
            threshold: 0.0,
            message: format!(
                "agent {} with {} clients was lost at {at_s:.1} s: {reason}",
                agent.name, agent.clients
            ),
        })
    };
    evidence.agents.iter().filter_map(lost).collect()
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
        assert!(findings[0].message.contains("lost at 12.2 s: silent for 11.0 s"));
    }
}
