//! `clients-aborted`: clients that ended before their time loaded the server for a part of the run.

use pgsurge_common::wording::counted;

use super::{Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let aborted = evidence.aborted_clients;
    if aborted == 0 {
        return Vec::new();
    }
    let of = evidence.sessions_wanted;
    vec![Finding {
        code: "clients-aborted",
        severity: Severity::Warning,
        agent: None,
        value: f64::from(aborted),
        threshold: 0.0,
        message: format!("{aborted} of {} ended before their time", counted(of.into(), "client")),
    }]
}

#[cfg(test)]
mod tests {
    use super::{Evidence, check};

    #[test]
    fn one_aborted_client_is_found() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        evidence.aborted_clients = 1;
        assert_eq!(check(&evidence)[0].message, "1 of 10 clients ended before their time");
    }
}
