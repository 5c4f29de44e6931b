//! What the programs do not agree on, as a person wants to see it: the smallest case, the commands that
//! repeat it, both answers.

use std::fmt;

use crate::postgres::Version;

/// One disagreement.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Which pgbench and server.
    pub version: Version,
    /// Script files and options.
    pub case: String,
    /// What pgbench did.
    pub pgbench: String,
    /// What pgsurge did.
    pub pgsurge: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let major = self.version.major();
        writeln!(f, "=== pgbench {major} (-) and pgsurge (+) differ\n{}", self.case.trim_end())?;
        let theirs: Vec<&str> = self.pgbench.lines().collect();
        let ours: Vec<&str> = self.pgsurge.lines().collect();
        for (mark, line) in compared(&theirs, &ours) {
            writeln!(f, "{mark} {line}")?;
        }
        write!(f, "===")
    }
}

/// The lines of both answers in order, marked by who has them.
fn compared<'a>(theirs: &[&'a str], ours: &[&'a str]) -> Vec<(char, &'a str)> {
    // Length of the longest common rest from either place on.
    let mut common = vec![vec![0; ours.len() + 1]; theirs.len() + 1];
    for i in (0..theirs.len()).rev() {
        for j in (0..ours.len()).rev() {
            common[i][j] = if theirs[i] == ours[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut lines) = (0, 0, Vec::new());
    while i < theirs.len() || j < ours.len() {
        if i < theirs.len() && j < ours.len() && theirs[i] == ours[j] {
            lines.push((' ', theirs[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == ours.len() || (i < theirs.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(('-', theirs[i]));
            i += 1;
        } else {
            lines.push(('+', ours[j]));
            j += 1;
        }
    }
    lines
}

/// What was compared.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Expressions or scripts that both programs were asked about.
    pub compared: usize,
    /// Those that ended in an error found before the run.
    pub refused: usize,
    /// Those that ended in an error at run time.
    pub failed: usize,
    /// What they do not agree on.
    pub differences: Vec<Difference>,
}

impl Tally {
    /// Adds another one.
    pub fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.refused += other.refused;
        self.failed += other.failed;
        self.differences.extend(other.differences);
    }

    /// Ends the test unless the programs agree.
    ///
    /// # Panics
    /// If they do not, with every difference.
    #[track_caller]
    pub fn expect_agreement(&self) {
        let all: Vec<String> = self.differences.iter().map(ToString::to_string).collect();
        assert!(all.is_empty(), "{}", all.join("\n"));
    }
}
