//! `clients-missing`: fewer sessions than asked for, which only `--allow-fewer-clients` lets start.

use pgsurge_common::wording::counted;

use super::{Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let (wanted, obtained) = (evidence.sessions_wanted, evidence.sessions_obtained);
    if obtained >= wanted {
        return Vec::new();
    }
    vec![Finding {
        code: "clients-missing",
        severity: Severity::Warning,
        agent: None,
        value: f64::from(obtained),
        threshold: f64::from(wanted),
        message: format!("{obtained} of {} connected", counted(wanted.into(), "client")),
    }]
}

#[cfg(test)]
mod tests {
    use super::{Evidence, check};

    #[test]
    fn one_session_too_few_is_found() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        evidence.sessions_obtained = 9;
        assert_eq!(check(&evidence)[0].message, "9 of 10 clients connected");
    }
}
