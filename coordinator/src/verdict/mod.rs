//! Reasons to trust or distrust a result, each checked by a rule in a file of its own.
//!
//! Pure: plain numbers in ([`Evidence`]), findings out. Thresholds are constants beside their rules,
//! with reasons in `docs/measurement.md`.

mod agent_lost;
mod client_bound;
mod clients_aborted;
mod clients_missing;
mod clock_unstable;
mod count_mismatch;
mod cut_short;
mod evidence;
mod exit;
mod expectation;
mod histogram_clipped;
mod intervals_missing;
mod log_incomplete;
mod no_transactions;
mod outage;
mod schedule_lag;
mod short_run;
mod start_spread;

pub use evidence::{
    AgentEvidence, Comparison, Cut, Disagreement, Evidence, MissingEvidence, OutageEvidence,
    Planned, RateEvidence,
};
pub use exit::{Ending, exit_code};
pub use expectation::{
    Checked, Expectation, Figure, Measured, NotAnExpectation, Statistic, Time, missed,
};

/// What the rules found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// In the order of the rules.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// No finding invalidates the result.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.findings.iter().all(|f| f.severity != Severity::Invalid)
    }

    /// No finding at all.
    #[must_use]
    pub fn is_spotless(&self) -> bool {
        self.findings.is_empty()
    }
}

/// One reason to distrust a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its fixed name, for machines.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// The agent it is about, if it is about one.
    pub agent: Option<String>,
    /// What was seen, in the unit that `message` names.
    pub value: f64,
    /// The last value that would have been accepted.
    pub threshold: f64,
    /// For people.
    pub message: String,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The figures stand, with a reservation.
    Warning,
    /// The figures must not be used.
    Invalid,
}

/// Looks for one kind of finding.
type Rule = fn(&Evidence) -> Vec<Finding>;

/// Every rule with the code of its findings, the ones that invalidate first.
const RULES: [(&str, Rule); 15] = [
    ("agent-lost", agent_lost::check),
    ("intervals-missing", intervals_missing::check),
    ("count-mismatch", count_mismatch::check),
    ("histogram-clipped", histogram_clipped::check),
    ("no-transactions", no_transactions::check),
    ("start-spread", start_spread::check),
    ("clock-unstable", clock_unstable::check),
    ("client-bound", client_bound::check),
    ("schedule-lag", schedule_lag::check),
    ("outage", outage::check),
    ("clients-missing", clients_missing::check),
    ("clients-aborted", clients_aborted::check),
    ("log-incomplete", log_incomplete::check),
    ("cut-short", cut_short::check),
    ("short-run", short_run::check),
];

/// Codes of all findings that there can be.
pub fn codes() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(code, _)| *code)
}

/// Applies every rule.
#[must_use]
pub fn judge(evidence: &Evidence) -> Verdict {
    Verdict { findings: RULES.iter().flat_map(|(_, rule)| rule(evidence)).collect() }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, codes, judge};

    #[test]
    fn a_run_without_blemish_has_no_findings() {
        let verdict = judge(&Evidence::sound());
        assert_eq!(verdict.findings, []);
        assert!(verdict.is_valid());
    }

    #[test]
    fn every_finding_is_explained() {
        let page = include_str!("../../../docs/measurement.md");
        for code in codes() {
            assert!(page.contains(&format!("| `{code}` |")), "no row for {code}");
            let file =
                format!("{}/src/verdict/{}.rs", env!("CARGO_MANIFEST_DIR"), code.replace('-', "_"));
            assert!(std::path::Path::new(&file).exists(), "{code} has no file of its own");
        }
    }
}
