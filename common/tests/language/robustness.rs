//! Whatever a script holds, reading and running it ends without a panic.

use crate::{client, define, execute, workload};
use pgsurge_common::plan::Protocol;
use pgsurge_common::script::Program;
use proptest::prelude::*;

/// Compiles, and executes what compiles.
fn survive(script: &[u8], protocol: Protocol) {
    let mut workload = workload(&[script]);
    define(&mut workload, &[("a", "5"), ("b", "x y"), ("c", "")]);
    workload.protocol = protocol;
    workload.report_per_command = true;
    if let Ok(program) = Program::compile(&workload) {
        execute(&program, &mut client(&program, 1), protocol);
    }
}

/// Pieces of the language, to be put together at random.
const PIECES: [&str; 64] = [
    "\\set x ",
    "\\set",
    "\\if ",
    "\\elif ",
    "\\else\n",
    "\\endif\n",
    "\\gset\n",
    "\\aset p\n",
    "\\sleep 0\n",
    "\\sleep :a us\n",
    "\\shell echo :b\n",
    "\\setshell y echo\n",
    "\\startpipeline\n",
    "\\endpipeline\n",
    "\\syncpipeline\n",
    "\\",
    "\\;",
    "\\:",
    "\n",
    "\r\n",
    "\\\n",
    " ",
    ";",
    "select 1",
    "'",
    "\"",
    "$$",
    "$t$",
    "E'\\",
    "/*",
    "*/",
    "--",
    "(",
    ")",
    ",",
    "create function f begin",
    "end",
    ":a",
    ":b",
    ":c",
    "::",
    ":{?a}",
    "1",
    "9223372036854775807",
    "9223372036854775808",
    "1.5e3",
    "1e999",
    "random(1,10)",
    "random_zipfian(",
    "permute(5,",
    "hash(",
    "least(",
    "debug(",
    "case when ",
    " then ",
    " else ",
    "not ",
    "-",
    "~",
    "<",
    "is null",
    "and ",
    "or ",
    "\u{e9}",
];

proptest! {
    #[test]
    fn arbitrary_bytes_do_no_harm(script in proptest::collection::vec(any::<u8>(), 0..200)) {
        survive(&script, Protocol::Simple);
        survive(&[b"\\set x ", script.as_slice()].concat(), Protocol::Extended);
    }

    #[test]
    fn arbitrary_pieces_of_the_language_do_no_harm(
        pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40),
        simple in any::<bool>(),
    ) {
        let script = pieces.concat();
        survive(script.as_bytes(), if simple { Protocol::Simple } else { Protocol::Prepared });
        survive(format!("\\set x {script}").as_bytes(), Protocol::Simple);
    }
}
