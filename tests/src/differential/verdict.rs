//! The judgement: where pgsurge did something else than pgbench, and where it should have.

use super::case::{Aspect, Case, Expectation};
use super::mask::{self, View};
use super::sides::{Outcome, Side};
use super::statements::Seen;
use crate::postgres::Version;

/// The runs of one command line.
pub type Runs = Vec<(Side, Outcome)>;

/// What is wrong with a case, given the runs of each of its command lines.
///
/// # Panics
/// If pgbench is not among the sides.
#[must_use]
pub fn judge(case: &Case, version: Version, lines: &[Runs], seen: &Seen) -> Vec<String> {
    let mut judge = Judge { case, version, seen, wrong: Vec::new(), differed: Vec::new() };
    for (line, runs) in lines.iter().enumerate() {
        let (_, oracle) = runs.iter().find(|(side, _)| *side == Side::Pgbench).expect("an oracle");
        judge.expected(line, Side::Pgbench, oracle);
        for (side, ours) in runs.iter().filter(|(side, _)| *side != Side::Pgbench) {
            judge.compare(line, oracle, (*side, ours));
            judge.expected(line, *side, ours);
        }
    }
    judge.stale_differences();
    judge.wrong
}

struct Judge<'a> {
    case: &'a Case,
    version: Version,
    seen: &'a Seen,
    wrong: Vec<String>,
    differed: Vec<Aspect>,
}

impl Judge<'_> {
    fn compare(&mut self, line: usize, oracle: &Outcome, (side, run): (Side, &Outcome)) {
        for aspect in Aspect::ALL {
            let theirs = self.view(aspect, line, (Side::Pgbench, oracle));
            let ours = self.view(aspect, line, (side, run));
            if theirs == ours {
                continue;
            }
            self.differed.push(aspect);
            if self.case.difference(aspect, self.version).is_none() {
                let both = format!("{}\n{}", block("pgbench", &theirs), block(side.name(), &ours));
                // An exit code has its reason in what was said.
                let said =
                    if aspect == Aspect::Exit { run.finished.to_string() } else { String::new() };
                self.complain(line, &format!("{} differs\n{both}\n{said}", aspect.name()));
            }
        }
    }

    /// An aspect as lines to compare.
    fn view(&self, aspect: Aspect, line: usize, run: (Side, &Outcome)) -> Vec<String> {
        let (side, outcome) = run;
        let view = View {
            side,
            loose: self.case.loose.contains(&aspect),
            unordered: self.case.has_several_clients(line),
        };
        match aspect {
            Aspect::Exit => vec![code(outcome)],
            Aspect::Stdout => mask::stdout(&outcome.finished.stdout, view),
            Aspect::Stderr => mask::stderr(&outcome.finished.stderr, view),
            Aspect::Sent => mask::sent(&self.seen.sessions(&outcome.application), view),
            Aspect::Check => outcome.check.clone(),
            Aspect::Logs => mask::logs(&outcome.logs),
        }
    }

    fn expected(&mut self, line: usize, side: Side, outcome: &Outcome) {
        let differs = |aspect| self.case.difference(aspect, self.version).is_some();
        let is_of_line = |e: &&Expectation| e.line.is_none_or(|of| of == line);
        let both = self.case.expect.iter().filter(is_of_line);
        // Version 15 need not say yet what 18 says, nor we where we are meant to differ.
        let is_18 = side == Side::Pgbench && self.version == Version::V18;
        let mut all: Vec<_> = both.filter(|e| is_18 || !differs(e.aspect)).collect();
        if side != Side::Pgbench {
            all.extend(self.case.ours.iter().filter(is_of_line));
        }
        let mut missing: Vec<String> = all
            .into_iter()
            .filter(|e| !self.raw(e.aspect, outcome).contains(&e.text))
            .map(|e| format!("{} of {} lacks {:?}", e.aspect.name(), side.name(), e.text))
            .collect();
        let exit = self.case.exit.unwrap_or(0).to_string();
        if code(outcome) != exit && (is_18 || !differs(Aspect::Exit)) {
            missing.push(format!("{} exits with {}, not {exit}", side.name(), code(outcome)));
        }
        // What pgbench lacks is a mistake of the case; pgsurge lacks it too.
        let known = side != Side::Pgbench && !self.wrong.is_empty();
        for what in missing.into_iter().filter(|_| !known) {
            self.complain(line, &format!("{what}\n{}", outcome.finished));
        }
    }

    fn raw(&self, aspect: Aspect, outcome: &Outcome) -> String {
        match aspect {
            Aspect::Exit => code(outcome),
            Aspect::Stdout => outcome.finished.stdout.clone(),
            Aspect::Stderr => outcome.finished.stderr.clone(),
            Aspect::Sent => self.seen.sessions(&outcome.application).concat().join("\n"),
            Aspect::Check => outcome.check.join("\n"),
            Aspect::Logs => outcome.logs.iter().map(|(_, text)| text.as_str()).collect(),
        }
    }

    /// A difference that is no more has to go from the case, and from the page.
    fn stale_differences(&mut self) {
        let stale: Vec<&str> = Aspect::ALL
            .into_iter()
            .filter(|a| self.case.difference(*a, self.version).is_some())
            .filter(|aspect| !self.differed.contains(aspect))
            .map(Aspect::name)
            .collect();
        for aspect in stale {
            let what = format!("{aspect} is declared to differ, but does not");
            self.wrong.push(format!("{} ({}): {what}", self.case.id, self.version.major()));
        }
    }

    fn complain(&mut self, line: usize, what: &str) {
        let Case { id, title, options, .. } = self.case;
        let options = options[line].join(" ");
        let version = self.version.major();
        self.wrong.push(format!("{id} ({version}): {title}\n  {options}\n  {what}"));
    }
}

fn code(outcome: &Outcome) -> String {
    outcome.finished.code().map_or_else(|| outcome.finished.status.to_string(), |c| c.to_string())
}

fn block(name: &str, lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("    | {line}")).collect();
    format!("  {name}:\n{}", lines.join("\n"))
}
