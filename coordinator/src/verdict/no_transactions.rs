//! `no-transactions`: where nothing succeeded nothing was measured, whatever else went well.

use super::{Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    if evidence.samples > 0 {
        return Vec::new();
    }
    vec![Finding {
        code: "no-transactions",
        severity: Severity::Invalid,
        agent: None,
        value: 0.0,
        threshold: 1.0,
        message: "no transaction of the measured part succeeded, so no figure says anything about \
                  the server"
            .into(),
    }]
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Severity, check};

    #[test]
    fn a_run_without_a_single_successful_transaction_is_found() {
        let mut evidence = Evidence::sound();
        evidence.samples = 1;
        assert_eq!(check(&evidence), []);
        evidence.samples = 0;
        assert_eq!(check(&evidence)[0].severity, Severity::Invalid);
    }
}
