//! Reasons to trust or distrust a result, each checked by a rule of its own.
//!
//! Pure: plain numbers in, findings out. Thresholds are constants beside their rules, with reasons in
//! `docs/measurement.md`.

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
    /// What would have been accepted.
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
