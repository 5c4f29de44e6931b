//! `cut-short`: the figures are about less than what was asked for.

use pgsurge_common::wording::counted;

use super::{Cut, Evidence, Finding, Planned, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let Some(cut) = &evidence.cut else { return Vec::new() };
    let Cut { interrupted, measured, transactions, planned } = *cut;
    let why = if interrupted { "was interrupted" } else { "ended early" };
    let (value, threshold, part) = match planned {
        Planned::Time(time) => {
            let (measured, planned) = (measured.as_secs_f64(), time.as_secs_f64());
            (measured, planned, format!("{measured:.1} s of {planned} s"))
        }
        Planned::Transactions(all) => (
            transactions as f64,
            all as f64,
            format!("{transactions} of {}", counted(all, "transaction")),
        ),
    };
    vec![Finding {
        code: "cut-short",
        severity: Severity::Warning,
        agent: None,
        value,
        threshold,
        message: format!("the run {why}, its figures are about {part}"),
    }]
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Cut, Evidence, Planned, Severity, check};

    #[test]
    fn a_run_that_did_not_come_to_its_end_is_named_with_what_it_had() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        let cut = Cut {
            interrupted: true,
            measured: Duration::from_millis(3_250),
            transactions: 17,
            planned: Planned::Time(Duration::from_secs(60)),
        };
        evidence.cut = Some(cut.clone());
        let finding = check(&evidence).remove(0);
        assert_eq!(finding.severity, Severity::Warning);
        assert_eq!((finding.value, finding.threshold), (3.25, 60.0));
        let message = "the run was interrupted, its figures are about 3.2 s of 60 s";
        assert_eq!(finding.message, message);

        let planned = Planned::Transactions(1);
        evidence.cut = Some(Cut { interrupted: false, planned, ..cut });
        let message = "the run ended early, its figures are about 17 of 1 transaction";
        assert_eq!(check(&evidence)[0].message, message);
    }
}
