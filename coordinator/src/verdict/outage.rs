//! `outage`: clients lost their sessions and came back (`--reconnect`), so the load had a hole.

use super::{Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let Some(outage) = &evidence.outage else { return Vec::new() };
    let seconds = outage.length.as_secs_f64();
    let (count, unknown, first) = (outage.count, outage.unknown, &outage.first_error);
    let hidden =
        if outage.in_response_time { "" } else { "; without -R no response time shows it" };
    let times = if count == 1 { "outage" } else { "outages" };
    let message = format!(
        "clients were without their sessions for {seconds:.3} s in {count} {times} (first {first}); \
         {unknown} transactions have no known outcome{hidden}"
    );
    vec![Finding {
        code: "outage",
        severity: Severity::Warning,
        agent: None,
        value: seconds,
        threshold: 0.0,
        message,
    }]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::OutageEvidence;
    use super::{Evidence, Severity, check};

    #[test]
    fn the_shortest_outage_is_found_and_says_what_it_hides() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        let outage = OutageEvidence {
            count: 1,
            length: Duration::from_millis(3),
            first_error: "57P01: FATAL:  terminating connection".into(),
            unknown: 2,
            in_response_time: false,
        };
        evidence.outage = Some(outage.clone());
        let findings = check(&evidence);
        assert_eq!(findings[0].severity, Severity::Warning);
        assert_eq!(
            findings[0].message,
            "clients were without their sessions for 0.003 s in 1 outage (first 57P01: FATAL:  \
             terminating connection); 2 transactions have no known outcome; without -R no response \
             time shows it"
        );
        evidence.outage = Some(OutageEvidence { in_response_time: true, ..outage });
        assert!(!check(&evidence)[0].message.contains("-R"));
    }
}
