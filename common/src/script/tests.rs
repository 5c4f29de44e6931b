//! Whole scripts through compiler and interpreter.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::ids::ClientId;
use crate::plan::{Protocol, ScriptSource, Workload};
use crate::random::Streams;
use crate::workload::BUILTINS;

pub(crate) fn workload(scripts: &[&[u8]]) -> Workload {
    let source = |(index, text): (usize, &&[u8])| ScriptSource {
        name: format!("script{index}.sql"),
        text: text.to_vec(),
        weight: 1,
        builtin: false,
    };
    Workload {
        scripts: scripts.iter().enumerate().map(source).collect(),
        protocol: Protocol::Simple,
        scale: 1,
        defines: Vec::new(),
        max_tries: Some(1),
        continue_on_error: false,
        exit_on_abort: false,
        verbose_errors: false,
        report_per_command: false,
    }
}

pub(crate) fn client(program: &Program, seed: u64) -> ClientState {
    let streams = Streams::new(seed, 1, false);
    let own = streams.clients(0, 1).next().unwrap();
    ClientState::new(program, ClientId(0), own, &streams)
}

/// Everything that a script sends in simple mode.
fn statements(workload: &Workload, seed: u64) -> Vec<String> {
    let program = Program::compile(workload).unwrap();
    let mut client = client(&program, seed);
    client.begin(0);
    let mut sent = Vec::new();
    loop {
        match client.next(&program).unwrap() {
            Step::Sql(sql) => {
                let mut text = Vec::new();
                sql.write_simple(client.variables(), &mut text);
                sent.push(String::from_utf8(text).unwrap());
            }
            Step::End => return sent,
            _ => {}
        }
    }
}

#[test]
fn the_tpcb_like_script_sends_pgbenchs_statements() {
    let mut workload = workload(&[]);
    workload.scripts = vec![BUILTINS[0].source(1)];
    workload.scale = 3;
    let sent = statements(&workload, 42);
    assert_eq!(sent.len(), 7);
    assert_eq!(sent[0], "BEGIN;");
    assert!(sent[1].starts_with("UPDATE pgbench_accounts SET abalance = abalance + "), "{sent:?}");
    assert_eq!(sent[6], "END;");
}

#[test]
fn a_retry_draws_the_same_values() {
    let mut workload = workload(&[]);
    workload.scripts = vec![BUILTINS[0].source(1)];
    let program = Program::compile(&workload).unwrap();
    let mut client = client(&program, 1);
    let first_statement = |client: &mut ClientState| loop {
        if let Step::Sql(sql) = client.next(&program).unwrap()
            && !sql.parameters().is_empty()
        {
            let mut text = Vec::new();
            sql.write_simple(client.variables(), &mut text);
            return text;
        }
    };
    client.begin(0);
    let first = first_statement(&mut client);
    client.retry();
    assert_eq!(first_statement(&mut client), first);
    client.begin(0);
    assert_ne!(first_statement(&mut client), first);
}
