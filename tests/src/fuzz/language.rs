//! Scripts and expressions.

use pgsurge_common::ids::ClientId;
use pgsurge_common::plan::{Protocol, Workload};
use pgsurge_common::random::Streams;
use pgsurge_common::script::{ClientState, Program, Step};

use crate::loading::Loading;

/// More steps than any script without a loop has; the language has none.
const MOST_STEPS: usize = 1_000_000;

fn workload(text: &[u8], protocol: Protocol) -> Workload {
    let mut workload = Loading::script(0, "").plan.workload;
    workload.scripts[0].text = text.to_vec();
    workload.protocol = protocol;
    let define = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    workload.defines =
        [("i", "42"), ("s", "it's"), ("n", "null"), ("d", "2.5")].map(define).to_vec();
    workload
}

/// Executes a script as if every statement succeeded; the statements as simple ones.
fn execute(program: &Program) -> Vec<Vec<u8>> {
    let streams = Streams::new(7, 1, false);
    let own = streams.clients(0, 1).next().expect("there is one client");
    let mut client = ClientState::new(program, ClientId(0), own, &streams);
    client.begin(0);
    let mut sent = Vec::new();
    for _ in 0..MOST_STEPS {
        match client.next(program) {
            Ok(Step::Sql(sql)) => {
                let mut text = Vec::new();
                sql.write_simple(client.variables(), &mut text);
                let _ = client.store_column(program, sql, b"c", Some(b"5"));
                sent.push(text);
            }
            Ok(Step::SetShell(_)) => drop(client.setshell_done(program, b"5\n")),
            Ok(Step::End) | Err(_) => return sent,
            Ok(_) => {}
        }
        client.debug_output().clear();
    }
    panic!("a script without an end");
}

/// A whole script, in every protocol.
pub fn script(bytes: &[u8]) {
    for protocol in [Protocol::Simple, Protocol::Extended, Protocol::Prepared] {
        match Program::compile(&workload(bytes, protocol)) {
            Ok(program) => drop(execute(&program)),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// One expression.
pub fn expression(bytes: &[u8]) {
    let line = [b"\\set x debug(", bytes, b")\n"].concat();
    if let Ok(program) = Program::compile(&workload(&line, Protocol::Simple)) {
        execute(&program);
    }
}

/// SQL in which no backslash command can be: cutting it leaves out white space and comments before
/// statements and nothing else.
pub fn cutting(bytes: &[u8]) {
    let text: Vec<u8> = bytes.iter().filter(|byte| !b"\\:".contains(byte)).copied().collect();
    let Ok(program) = Program::compile(&workload(&text, Protocol::Simple)) else { return };
    let mut rest = &text[..];
    for statement in execute(&program) {
        let at = rest.windows(statement.len().max(1)).position(|window| window == statement);
        let at =
            at.unwrap_or_else(|| panic!("{:?} is not in the script", statement.escape_ascii()));
        rest = &rest[at + statement.len()..];
    }
}
