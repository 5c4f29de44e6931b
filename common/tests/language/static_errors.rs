//! Every recorded script that pgbench refuses is refused with the same text, line and caret.

use crate::workload;
use pgsurge_common::plan::Protocol;
use pgsurge_common::script::Program;
use serde::Deserialize;

const ERRORS: &str = include_str!("../data/static-errors.jsonl");

#[derive(Deserialize)]
struct Case {
    script: String,
    error: String,
}

#[test]
fn refused_scripts_have_pgbenchs_messages() {
    for line in ERRORS.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let result = Program::compile(&workload(&[case.script.as_bytes()]));
        let error = result.map(|_| ()).expect_err(&case.script);
        assert_eq!(error.to_string(), case.error, "{:?}", case.script);
    }
}

#[test]
fn too_many_parameters_are_refused_only_where_there_are_parameters() {
    let script = |count| format!("select 1{};", " + :x".repeat(count));
    for (protocol, count, accepted) in [
        (Protocol::Simple, 300, true),
        (Protocol::Extended, 255, true),
        (Protocol::Extended, 256, false),
        (Protocol::Prepared, 256, false),
    ] {
        let script = script(count);
        let mut workload = workload(&[script.as_bytes()]);
        workload.protocol = protocol;
        match Program::compile(&workload) {
            Ok(_) => assert!(accepted, "{protocol:?} {count}"),
            Err(error) => {
                assert!(!accepted, "{protocol:?} {count}");
                let expected = "statement has too many arguments (maximum is 255): ";
                assert_eq!(error.to_string(), format!("{expected}{script}"));
            }
        }
    }
}

#[test]
fn a_command_has_at_most_256_words() {
    let shell = |words: usize| format!("\\shell echo{}\n", " a".repeat(words - 2));
    assert!(Program::compile(&workload(&[shell(256).as_bytes()])).is_ok());
    let error = Program::compile(&workload(&[shell(257).as_bytes()])).unwrap_err();
    assert_eq!(error.to_string(), "script.sql:1: too many arguments in command \"shell\"");
}

#[test]
fn weights_must_allow_a_choice() {
    let mut none = workload(&[b"select 1;"]);
    none.scripts[0].weight = 0;
    let error = Program::compile(&none).unwrap_err();
    assert_eq!(error.to_string(), "total script weight must not be zero");
    let many = Program::compile(&workload(&[b"select 1;".as_slice(); 129])).unwrap_err();
    assert_eq!(many.to_string(), "at most 128 SQL scripts are allowed");
}
