//! Whether the commits that the server will count can be told from the statements and their answers.
//!
//! The rule of [`super::reply`] (one commit for a `ReadyForQuery` in idle state) is wrong for statements
//! that end several transactions before they answer. Those are found here by their text, before the
//! run; what looks suspicious is named, never guessed at.

use pgsurge_common::script::{Program, Script};

/// Statements that use several transactions, or commit where no answer shows it.
const SEVERAL: [&str; 9] = [
    "call",
    "do",
    "vacuum",
    "analyze",
    "cluster",
    "reindex",
    "listen",
    "create database",
    "drop database",
];

/// First words of statements that begin or end transactions.
const CONTROL: [&str; 8] =
    ["begin", "start", "commit", "end", "rollback", "abort", "prepare", "savepoint"];

/// Why the count cannot be predicted; empty if it can.
pub(crate) fn unpredictable_commits(program: &Program) -> Vec<String> {
    let mut reasons = Vec::new();
    for reason in program.scripts().iter().flat_map(of_script) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

fn of_script(script: &Script) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut in_pipeline = false;
    for command in script.commands() {
        match command.name().to_ascii_lowercase().as_str() {
            "startpipeline" => in_pipeline = true,
            "endpipeline" => in_pipeline = false,
            _ => {}
        }
        let Some(sql) = command.sql() else { continue };
        let words = words(sql.text());
        if let Some(reason) = of_statement(&words, in_pipeline) {
            reasons.push(format!("script \"{}\" {reason}", script.name()));
        }
    }
    reasons
}

/// `words` are those of [`words`].
fn of_statement(words: &[String], in_pipeline: bool) -> Option<String> {
    let text = words.join(" ");
    let begins = |with: &&&str| text == **with || text.starts_with(&format!("{with} "));
    if let Some(name) = SEVERAL.iter().find(begins) {
        return Some(format!("uses {}, which may commit several times", name.to_uppercase()));
    }
    let has = |word: &str| words.iter().any(|other| other == word);
    if has("concurrently") {
        return Some("uses CONCURRENTLY, which commits several times".into());
    }
    if has("chain") && CONTROL.iter().any(|word| has(word)) {
        return Some("uses AND CHAIN, whose commits no answer shows".into());
    }
    if text.starts_with("prepare transaction") || text.contains(" prepared ") {
        return Some("uses two-phase commit".into());
    }
    if ["temp", "temporary", "pg_temp"].iter().any(|word| has(word)) {
        return Some(
            "makes temporary objects, which are removed by a commit after the session".into(),
        );
    }
    if text.starts_with(':') {
        return Some("takes a whole statement from a variable".into());
    }
    let control = words.iter().any(|word| CONTROL.contains(&word.as_str()));
    let compound = words.iter().rev().skip_while(|word| *word == ";").any(|word| word == ";");
    if compound && (control || has("call") || has("do") || has("vacuum")) {
        return Some("has several statements in one message that begin or end transactions".into());
    }
    if in_pipeline && control {
        return Some("begins or ends transactions inside a pipeline".into());
    }
    None
}

/// The words of a statement in small letters and its semicolons, without comments and quoted parts.
fn words(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text).to_lowercase();
    let mut words = Vec::new();
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => 1 + end_of(&rest[1..], &rest[..1]),
            '-' if rest.starts_with("--") => end_of(rest, "\n"),
            '/' if rest.starts_with("/*") => 2 + end_of(&rest[2..], "*/"),
            _ if is_word(first) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                words.push(rest[..length].to_owned());
                length
            }
            ';' => {
                words.push(";".into());
                1
            }
            _ => first.len_utf8(),
        };
        rest = &rest[length..];
    }
    words
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == ':'
}

/// Length up to and with `end`.
fn end_of(text: &str, end: &str) -> usize {
    text.find(end).map_or(text.len(), |at| at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(sql: &str, in_pipeline: bool) -> Option<String> {
        of_statement(&words(sql.as_bytes()), in_pipeline)
    }

    #[test]
    fn ordinary_statements_are_predictable() {
        for sql in [
            "BEGIN;",
            "END;",
            "commit",
            "ROLLBACK;",
            "select 'call me; vacuum' /* do */ -- concurrently\n from t;",
            "insert into t values (:a, 'x;y');",
            "select 1; select 2;",
            "update t set \"end\" = 1;",
            ";",
            "",
        ] {
            assert_eq!(reason(sql, false), None, "{sql}");
        }
        assert_eq!(reason("select 1;", true), None);
    }

    #[test]
    fn statements_that_commit_more_or_less_than_their_answers_show_are_named() {
        for (sql, in_pipeline, word) in [
            ("call p();", false, "CALL"),
            ("DO $$ begin commit; end $$", false, "DO"),
            (" VACUUM;", false, "VACUUM"),
            ("/* x */ analyze", false, "ANALYZE"),
            ("create index concurrently i on t(a);", false, "CONCURRENTLY"),
            ("commit and chain;", false, "AND CHAIN"),
            ("prepare transaction 'x';", false, "two-phase"),
            ("commit prepared 'x';", false, "two-phase"),
            ("create temp table t(a int);", false, "temporary"),
            ("create function pg_temp.f() returns int return 1;", false, "temporary"),
            (":statement;", false, "variable"),
            ("begin; select 1; commit;", false, "several statements"),
            ("begin;", true, "pipeline"),
        ] {
            let found = reason(sql, in_pipeline);
            assert!(found.as_ref().is_some_and(|r| r.contains(word)), "{sql}: {found:?}");
        }
    }
}
