//! The script language against recorded behaviour of pgbench 18: values, statements, errors.

#![allow(clippy::unwrap_used)]

mod cutting;
mod execution;
mod expressions;
mod robustness;
mod static_errors;

use pgsurge_common::ids::ClientId;
use pgsurge_common::plan::{Protocol, ScriptSource, Workload};
use pgsurge_common::random::Streams;
use pgsurge_common::script::{ClientState, CommandError, Program, Step};

/// A workload of scripts given as text.
fn workload(scripts: &[&[u8]]) -> Workload {
    let source = |text: &&[u8]| ScriptSource {
        name: "script.sql".to_owned(),
        text: text.to_vec(),
        weight: 1,
        builtin: false,
    };
    Workload {
        scripts: scripts.iter().map(source).collect(),
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

fn define(workload: &mut Workload, presets: &[(&str, &str)]) {
    workload.defines = presets.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect();
}

/// The only client of a run.
fn client(program: &Program, seed: u64) -> ClientState {
    let streams = Streams::new(seed, 1, false);
    let own = streams.clients(0, 1).next().unwrap();
    ClientState::new(program, ClientId(0), own, &streams)
}

/// A statement and its parameters as the server gets them.
type Sent = (Vec<u8>, Vec<Option<Vec<u8>>>);

/// Runs the first script once, as if every statement succeeded.
fn execute(
    program: &Program,
    client: &mut ClientState,
    protocol: Protocol,
) -> (Vec<Sent>, Option<CommandError>) {
    let mut sent = Vec::new();
    client.begin(0);
    loop {
        match client.next(program) {
            Ok(Step::Sql(sql)) => {
                let variables = client.variables();
                if protocol == Protocol::Simple {
                    let mut text = Vec::new();
                    sql.write_simple(variables, &mut text);
                    sent.push((text, Vec::new()));
                    continue;
                }
                let value = |&slot| {
                    let mut text = Vec::new();
                    variables.write(slot, &mut text).then_some(text)
                };
                sent.push((sql.numbered().to_vec(), sql.parameters().iter().map(value).collect()));
            }
            Ok(Step::End) => return (sent, None),
            Ok(_) => {}
            Err(error) => return (sent, Some(error)),
        }
    }
}
