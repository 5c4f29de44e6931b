//! `intervals-missing`: a live agent's results never arrived, so the figures are not the whole.

use super::{Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let missing = evidence.intervals_missing;
    if missing == 0 {
        return Vec::new();
    }
    vec![Finding {
        code: "intervals-missing",
        severity: Severity::Invalid,
        agent: None,
        value: missing as f64,
        threshold: 0.0,
        message: format!("{missing} intervals of live agents never arrived"),
    }]
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Severity, check};

    #[test]
    fn one_missing_interval_is_one_too_many() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        evidence.intervals_missing = 1;
        assert_eq!(check(&evidence)[0].severity, Severity::Invalid);
    }
}
