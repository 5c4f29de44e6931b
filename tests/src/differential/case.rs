//! Cases as data: a text file holds blocks of options, scripts and expectations.
//!
//! ```text
//! == T45 division by zero ends the client
//! options: -n -t 1 -f a.sql
//! exit: 2
//! stderr: division by zero
//! >>> a.sql
//! \set i 1/0
//! ```
//!
//! Fields may be repeated where that has a sense; each `options` line is a command line of its own, and
//! an expectation below it is for that line alone, one above all of them for every line.
//! Words are split at blanks, `'...'` groups, `WORD×N` repeats a word. In scripts `␍` is a carriage
//! return, `⟪ff⟫` a byte, and `␄` at the very end leaves out the last newline. An unknown field is an error.

use crate::postgres::Version;

/// What of a run is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aspect {
    /// The exit code.
    Exit,
    /// Standard output without timing figures.
    Stdout,
    /// Standard error without the programs' names.
    Stderr,
    /// Statements, parameters and errors as the server logged them, by session.
    Sent,
    /// What the case's own query answers afterwards.
    Check,
    /// Names and shapes of the log files that were written.
    Logs,
}

impl Aspect {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Exit, Self::Stdout, Self::Stderr, Self::Sent, Self::Check, Self::Logs];

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|aspect| aspect.name() == name)
    }

    /// As case files call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Sent => "sent",
            Self::Check => "check",
            Self::Logs => "logs",
        }
    }
}

/// A place where the two are meant to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In what.
    pub aspect: Aspect,
    /// Only against this version; `None` for every one.
    pub version: Option<Version>,
    /// The section of `docs/pgbench-differences.md` that gives the reason; `None` where an older pgbench
    /// merely is not yet what 18 is.
    pub anchor: Option<String>,
}

/// A text that has to occur.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Where.
    pub aspect: Aspect,
    /// What.
    pub text: String,
    /// The command line that it is for; `None` for every one.
    pub line: Option<usize>,
}

/// A file beside the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name in the folder that the programs run in.
    pub name: String,
    /// What it holds.
    pub text: Vec<u8>,
}

/// One case: command lines that both programs get, and what has to come of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// Names it in failures; unique.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Command lines.
    pub options: Vec<Vec<String>>,
    /// Versions of pgbench and server that it is for; none named means all.
    pub versions: Vec<Version>,
    /// Scripts.
    pub files: Vec<File>,
    /// The file that stands on standard input.
    pub stdin: Option<String>,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// SQL before each run.
    pub setup: Vec<String>,
    /// A query after each run.
    pub check: Option<String>,
    /// pgbench's exit code.
    pub exit: Option<i32>,
    /// What has to be in an aspect of pgbench's run, and of pgsurge's where they are not to differ.
    pub expect: Vec<Expectation>,
    /// What has to be in an aspect of pgsurge's run, for what is meant to differ.
    pub ours: Vec<Expectation>,
    /// Where the two are meant to differ, and do.
    pub differs: Vec<Difference>,
    /// Aspects in which amounts depend on the clock or on luck: every figure is masked and lines that are
    /// then equal count once.
    pub loose: Vec<Aspect>,
    /// Whether a cluster of two agents must give the same.
    pub cluster: bool,
    /// Prefix of the log files.
    pub logs: Option<String>,
}

impl Case {
    /// Whether the case is for a version.
    #[must_use]
    pub fn is_for(&self, version: Version) -> bool {
        self.versions.is_empty() || self.versions.contains(&version)
    }

    /// Whether more than one client speaks on a command line, in an order of their own.
    #[must_use]
    pub fn has_several_clients(&self, line: usize) -> bool {
        let several = |pair: &[String]| pair[0] == "-c" && pair[1] != "1";
        self.options[line].windows(2).any(several)
    }

    /// The difference that was declared for an aspect, if any.
    #[must_use]
    pub fn difference(&self, aspect: Aspect, version: Version) -> Option<&Difference> {
        let of_version = |d: &Difference| d.version.is_none_or(|only| only == version);
        self.differs.iter().find(|d| d.aspect == aspect && of_version(d))
    }
}

/// Reads the cases of one file; `name` is what errors call it.
pub fn parse(name: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut in_file = false;
    for (index, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("{name}:{}: {what}: {line}", index + 1);
        if let Some(head) = line.strip_prefix("== ") {
            let (id, title) = head.split_once(' ').ok_or_else(|| wrong("no title"))?;
            cases.push(Case { id: id.into(), title: title.into(), ..Case::default() });
            in_file = false;
            continue;
        }
        let Some(case) = cases.last_mut() else {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            return Err(wrong("before the first case"));
        };
        if let Some(file) = line.strip_prefix(">>> ") {
            case.files.push(File { name: file.into(), text: Vec::new() });
            in_file = true;
        } else if let (true, Some(file)) = (in_file, case.files.last_mut()) {
            write_line(&mut file.text, line).map_err(|what| wrong(&what))?;
        } else if !line.is_empty() && !line.starts_with('#') {
            let (key, value) = line.split_once(':').ok_or_else(|| wrong("no field"))?;
            field(case, key, value.trim()).map_err(|what| wrong(&what))?;
        }
    }
    for case in &mut cases {
        finish(case).map_err(|what| format!("{name}: {}: {what}", case.id))?;
    }
    Ok(cases)
}

fn field(case: &mut Case, key: &str, value: &str) -> Result<(), String> {
    let aspect = |name: &str| Aspect::named(name).ok_or_else(|| format!("no aspect {name:?}"));
    let line = case.options.len().checked_sub(1);
    let expectation = |name: &str| {
        Ok::<_, String>(Expectation { aspect: aspect(name)?, text: value.into(), line })
    };
    match key {
        "options" => case.options.push(words(value)),
        "versions" => {
            case.versions = value.split(' ').map(version).collect::<Result<_, _>>()?;
        }
        "stdin" => case.stdin = Some(value.into()),
        "env" => {
            let (name, value) = value.split_once('=').ok_or("no value")?;
            case.env.push((name.into(), value.into()));
        }
        "setup" => case.setup.push(value.into()),
        "check" => case.check = Some(value.into()),
        "answer" => case.expect.push(expectation("check")?),
        "exit" => case.exit = Some(value.parse().map_err(|_| "no exit code")?),
        "cluster" if value == "yes" => case.cluster = true,
        "logs" => case.logs = Some(value.into()),
        "loose" => case.loose = value.split(' ').map(aspect).collect::<Result<_, _>>()?,
        "stdout" | "stderr" | "sent" => case.expect.push(expectation(key)?),
        "differs" | "differs 15" | "differs 18" => {
            let only = key.strip_prefix("differs ").map(version).transpose()?;
            for word in value.split(' ').filter(|word| !word.starts_with('#')) {
                let anchor = value.split_once('#').map(|(_, anchor)| anchor.to_owned());
                let aspect = aspect(word)?;
                case.differs.push(Difference { aspect, version: only, anchor });
            }
        }
        _ => match key.strip_prefix("our ") {
            Some(name) => case.ours.push(expectation(name)?),
            None => return Err(format!("no field {key:?}")),
        },
    }
    Ok(())
}

fn finish(case: &mut Case) -> Result<(), String> {
    for File { text, .. } in &mut case.files {
        // Blank lines before the next block are no part of the file.
        while text.last() == Some(&b'\n') {
            text.pop();
        }
        match text.strip_suffix("␄".as_bytes()) {
            Some(whole) => *text = whole.to_owned(),
            None => text.push(b'\n'),
        }
    }
    if case.options.is_empty() {
        return Err("no options".into());
    }
    let later = |d: &&Difference| d.anchor.is_none() && d.version != Some(Version::V15);
    if case.differs.iter().any(|d| later(&d)) {
        return Err("a difference from 18 needs an anchor".into());
    }
    Ok(())
}

/// Adds a line with its marks replaced.
fn write_line(text: &mut Vec<u8>, line: &str) -> Result<(), String> {
    let mut parts = line.split('⟪');
    text.extend(parts.next().unwrap_or_default().replace('␍', "\r").as_bytes());
    for part in parts {
        let (hex, rest) = part.split_once('⟫').ok_or("⟪ without ⟫")?;
        text.push(u8::from_str_radix(hex, 16).map_err(|_| format!("no byte {hex:?}"))?);
        text.extend(rest.replace('␍', "\r").as_bytes());
    }
    text.push(b'\n');
    Ok(())
}

fn version(major: &str) -> Result<Version, String> {
    let found = Version::ALL.into_iter().find(|v| v.major().to_string() == major);
    found.ok_or_else(|| format!("no version {major:?}"))
}

/// Splits a command line.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (mut word, mut grouped) = (String::new(), false);
        let mut length = rest.len();
        for (at, c) in rest.char_indices() {
            match c {
                '\'' => grouped = !grouped,
                ' ' if !grouped => {
                    length = at;
                    break;
                }
                _ => word.push(c),
            }
        }
        match word.rsplit_once('×').map(|(once, times)| (once, times.parse())) {
            Some((once, Ok(times))) => {
                words.extend(std::iter::repeat_n(once.to_owned(), times));
            }
            _ => words.push(word),
        }
        rest = rest[length..].trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn words_are_grouped_and_repeated() {
        assert_eq!(words("-n  -D 'a=b c' -S×3 ''"), ["-n", "-D", "a=b c", "-S", "-S", "-S", ""]);
    }

    #[test]
    fn a_block_becomes_a_case() {
        let text = "# topic\n\n== A1 shows it\nstderr: division: by zero\n\
             options: -n -f a.sql\noptions: -t 2\nexit: 2\ndiffers 15: stdout sent\ndiffers: exit #some-reason\n\
             our exit: 3\n>>> a.sql\nselect 1;␍\n\n-- options: no field\n\n>>> b.sql\nx⟪ff⟫␄\n";
        let cases = parse("file", text).unwrap();
        let [case] = cases.as_slice() else { panic!("{cases:?}") };
        assert_eq!((case.id.as_str(), case.title.as_str()), ("A1", "shows it"));
        assert_eq!(case.options, [vec!["-n", "-f", "a.sql"], vec!["-t", "2"]]);
        assert_eq!(case.files[0].text, b"select 1;\r\n\n-- options: no field\n");
        assert_eq!(case.files[1].text, b"x\xff");
        let expected = |aspect, text: &str, line| Expectation { aspect, text: text.into(), line };
        assert_eq!(case.expect, [expected(Aspect::Stderr, "division: by zero", None)]);
        assert_eq!(case.ours, [expected(Aspect::Exit, "3", Some(1))]);
        assert!(case.difference(Aspect::Stdout, Version::V18).is_none());
        assert!(case.difference(Aspect::Stdout, Version::V15).is_some());
        let anchor = case.difference(Aspect::Exit, Version::V18).unwrap().anchor.as_deref();
        assert_eq!(anchor, Some("some-reason"));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, expected) in [
            ("options: -n\n", "f:1: before the first case"),
            ("== A\n", "f:1: no title"),
            ("== A b\nnonsense: 1\n", "f:2: no field \"nonsense\""),
            ("== A b\noptions: x\ndiffers: speed #a\n", "f:3: no aspect \"speed\""),
            ("== A b\noptions: x\nversions: 12\n", "f:3: no version \"12\""),
            ("== A b\nexit: 1\n", "f: A: no options"),
            ("== A b\noptions: x\ndiffers: exit\n", "f: A: a difference from 18 needs an anchor"),
        ] {
            let error = parse("f", text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
