//! `intervals-missing`: a live agent's results never arrived, so the figures are not the whole.

use pgsurge_common::wording::counted;

use super::{Evidence, Finding, MissingEvidence, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.missing.iter().map(missing).collect()
}

fn missing(missing: &MissingEvidence) -> Finding {
    let MissingEvidence { agent, first, count } = missing;
    Finding {
        code: "intervals-missing",
        severity: Severity::Invalid,
        agent: Some(agent.clone()),
        value: f64::from(*count),
        threshold: 0.0,
        message: format!(
            "{} of agent {agent} never arrived, the first is {first}",
            counted((*count).into(), "interval")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, MissingEvidence, Severity, check};

    #[test]
    fn one_missing_interval_is_one_too_many() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        evidence.missing = vec![MissingEvidence { agent: "one".into(), first: 7, count: 1 }];
        let finding = &check(&evidence)[0];
        assert_eq!(finding.severity, Severity::Invalid);
        assert_eq!(finding.message, "1 interval of agent one never arrived, the first is 7");
    }
}
