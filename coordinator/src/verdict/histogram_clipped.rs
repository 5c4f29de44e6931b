//! `histogram-clipped`: samples above the histogram's bound count at the bound, so percentiles near
//! them are too low.

use pgsurge_common::wording::counted;

use super::{Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let clipped = |&(name, n): &(&str, u64)| {
        (n > 0).then(|| Finding {
            code: "histogram-clipped",
            severity: Severity::Invalid,
            agent: None,
            value: n as f64,
            threshold: 0.0,
            message: format!(
                "{} of {name} above the one hour that is recorded",
                counted(n, "sample")
            ),
        })
    };
    evidence.clipped.iter().filter_map(clipped).collect()
}

#[cfg(test)]
mod tests {
    use super::{Evidence, Severity, check};

    #[test]
    fn one_clipped_sample_is_one_too_many() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        evidence.clipped.push(("service time", 1));
        let findings = check(&evidence);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].severity, Severity::Invalid);
        assert!(findings[0].message.contains("1 sample of service time"));
    }
}
