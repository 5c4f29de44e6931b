//! Every recorded script sends the statements and parameters that pgbench sends.

use crate::{client, define, execute, workload};
use pgsurge_common::plan::Protocol;
use pgsurge_common::script::{Command, Program, Script, Sql};
use serde::Deserialize;

const CUTTING: &str = include_str!("../data/cutting.jsonl");

#[derive(Deserialize)]
struct Case {
    script: String,
    mode: Protocol,
    /// For each statement its text and its parameters.
    sent: Vec<Vec<Option<String>>>,
}

#[test]
fn scripts_send_pgbenchs_statements() {
    for line in CUTTING.lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let mut workload = workload(&[case.script.as_bytes()]);
        define(&mut workload, &[("a", "5"), ("b", "x y"), ("c", "it")]);
        workload.protocol = case.mode;
        let program = Program::compile(&workload).expect(&case.script);
        let mut client = client(&program, 1);
        let (sent, error) = execute(&program, &mut client, case.mode);
        assert_eq!(error, None, "{:?}", case.script);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let sent: Vec<Vec<Option<String>>> = sent
            .into_iter()
            .map(|(sql, parameters)| {
                let parameters = parameters.into_iter().map(|value| value.map(text));
                std::iter::once(Some(text(sql))).chain(parameters).collect()
            })
            .collect();
        assert_eq!(sent, case.sent, "{:?} in {:?} mode", case.script, case.mode);
    }
}

#[test]
fn bytes_that_are_no_utf_8_are_kept() {
    let script = b"\\set \xff 1\nselect '\xe9\xff', :\xff, :\xfe;";
    let program = Program::compile(&workload(&[script])).unwrap();
    let (sent, _) = execute(&program, &mut client(&program, 1), Protocol::Simple);
    assert_eq!(sent[0].0, b"select '\xe9\xff', 1, :\xfe;");
}

#[test]
fn a_script_ends_at_a_zero_byte() {
    let program = Program::compile(&workload(&[b"select 1;\0select 2;"])).unwrap();
    assert_eq!(program.scripts()[0].commands().len(), 1);
}

#[test]
fn statements_are_numbered_over_all_scripts() {
    let program =
        Program::compile(&workload(&[b"select 1;select 2;", b"\\set x 1\nselect 3;"])).unwrap();
    let numbers = program.scripts().iter().flat_map(Script::commands);
    let numbers: Vec<_> = numbers.filter_map(Command::sql).map(Sql::number).collect();
    assert_eq!(numbers, [0, 1, 2]);
    assert_eq!(program.statements(), 3);
}

#[test]
fn reports_show_the_first_line_of_a_statement_and_all_of_a_backslash_command() {
    let long = "x".repeat(200);
    let script = format!("select\n1;\\set x 1 + \\\n 2\r\nselect {long};");
    let program = Program::compile(&workload(&[script.as_bytes()])).unwrap();
    let lines: Vec<_> = program.scripts()[0].commands().iter().map(Command::first_line).collect();
    assert_eq!(lines[0], b"select");
    assert_eq!(lines[1], b"\\set x 1 + \\\n 2");
    assert_eq!(lines[2], &format!("select {long}").as_bytes()[..127]);
}
