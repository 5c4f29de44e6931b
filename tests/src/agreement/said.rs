//! What a program said, reduced to what has to be equal: its exit code, its counts, its messages.
//!
//! Figures of time differ from run to run and go; so do the names of the programs, what pgbench 15 lays out
//! differently, and what only pgsurge has to say.

use crate::postgres::Version;

/// One program's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The exit code, if it ended by itself.
    pub code: Option<i32>,
    /// Lines of the report without figures of time.
    pub report: Vec<String>,
    /// Lines of stderr.
    pub messages: Vec<String>,
}

const NOTHING: &str = "number of transactions actually processed: 0/";

/// pgsurge's exit code for a run that it does not trust.
const VERDICT: i32 = 3;

/// Findings that pgbench has no word for and that say nothing of scripts: nothing succeeded, and the machine was
/// too busy to begin in time.
const EXCUSED: [&str; 2] = ["no-transactions", "start-spread"];

/// Beginnings of the report's lines that both versions of pgbench print alike.
const COUNTS: [&str; 13] = [
    "transaction type: ",
    "scaling factor: ",
    "query mode: ",
    "number of clients: ",
    "number of threads: ",
    "maximum number of tries: ",
    "number of transactions per client: ",
    "number of transactions actually processed: ",
    "number of failed transactions: ",
    "number of serialization failures: ",
    "number of deadlock failures: ",
    "number of transactions retried: ",
    "total number of retries: ",
];

impl Said {
    /// Reduces exit code, stdout and stderr.
    pub fn new((code, stdout, stderr): &(Option<i32>, String, String), version: Version) -> Self {
        // Where nothing was done version 15 goes on with shares of nothing and then leaves the commands out.
        let old = version == Version::V15;
        let of_nothing = old && stdout.lines().any(|line| line.starts_with(NOTHING));
        let shown = |line: &&str| {
            COUNTS.iter().any(|count| line.starts_with(count))
                && !line.contains("NaN")
                && !(of_nothing && line.starts_with("total number of retries: "))
        };
        let mut report: Vec<String> = stdout.lines().filter(shown).map(str::to_owned).collect();
        if !of_nothing {
            report.extend(stdout.lines().filter_map(command_row));
        }
        let mut messages: Vec<String> = stderr.lines().filter_map(message).collect();
        if old {
            messages.iter_mut().for_each(without_place);
        }
        let mut code = *code;
        let found = stdout.lines().filter_map(|line| line.strip_prefix("  invalid: "));
        let (excused, inexcusable): (Vec<&str>, Vec<&str>) =
            found.partition(|finding| EXCUSED.iter().any(|name| finding.starts_with(name)));
        if code == Some(VERDICT) && inexcusable.is_empty() && !excused.is_empty() {
            let aborted = messages.iter().any(|line| line.contains("Run was aborted"));
            code = Some(if aborted { 2 } else { 0 });
        }
        messages.extend(inexcusable.into_iter().map(str::to_owned));
        Self { code, report, messages }
    }

    /// The same whatever the order in which several clients spoke.
    #[must_use]
    pub fn in_any_order(mut self) -> Self {
        self.messages.sort();
        self
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit code {code}")?,
            None => writeln!(f, "no exit code")?,
        }
        for line in self.messages.iter().chain(&self.report) {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// A row of `-r` without its time: its counts and its command.
fn command_row(line: &str) -> Option<String> {
    let (time, rest) = line.strip_prefix("   ")?.trim_start().split_once(' ')?;
    let (whole, part) = time.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_row = digits(whole) && digits(part) && part.len() == 3;
    is_row.then(|| rest.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Takes out the line of a script where version 15 counts it from the end of the command, others from its beginning.
fn without_place(message: &mut String) {
    if let Some(at) = message.find(": \\gset must follow") {
        let place = message[..at].rfind(':').unwrap_or(at);
        message.replace_range(place..at, "");
    }
}

/// A line of stderr without the program's name; none for those that only one program has.
fn message(line: &str) -> Option<String> {
    let ours = line.strip_prefix("pgsurge: ");
    let said = ours.or_else(|| line.strip_prefix("pgbench: ")).unwrap_or(line);
    let own = said.starts_with("setting random seed to ")
        || (ours.is_some() && said.starts_with("warning: "));
    (!own).then(|| said.to_owned())
}
