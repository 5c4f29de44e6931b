//! Every recorded expression has the value, or the error, that pgbench gives it.

use crate::{client, define, execute, workload};
use pgsurge_common::plan::Protocol;
use pgsurge_common::script::Program;

const EXPRESSIONS: &str = include_str!("../data/expressions.tsv");

const PRESETS: [(&str, &str); 26] = [
    ("i", "42"),
    ("d", "2.75"),
    ("neg", "-17"),
    ("t", "on"),
    ("n", "NULL"),
    ("big", "9223372036854775806"),
    ("f", "fal"),
    ("s", "bla"),
    ("inf", "-Infinity"),
    ("nan", "nan"),
    ("hex", "0x1F.8p1"),
    ("blank", "  7"),
    ("huge", "9223372036854775808"),
    ("sign", "+"),
    ("tiny", "1e-320"),
    ("tail", "7 "),
    ("o", "o"),
    ("N", "n"),
    ("Y", "Y"),
    ("off", "OFF"),
    ("of", "of"),
    ("nan1", "NaN(x_1)"),
    ("hexint", "0x10"),
    ("exp", "1e"),
    ("point", "."),
    ("dbl", "-.5e1"),
];

/// The value as `debug` shows it, or `error: ` and the message.
fn evaluate(seed: u64, expression: &str) -> String {
    let script = format!("\\set x debug({expression})\n");
    let mut workload = workload(&[script.as_bytes()]);
    define(&mut workload, &PRESETS);
    let program = match Program::compile(&workload) {
        Ok(program) => program,
        Err(error) => return format!("error: {error}"),
    };
    let mut client = client(&program, seed);
    if let (_, Some(error)) = execute(&program, &mut client, Protocol::Simple) {
        return format!("error: {}", error.detail().unwrap_or_default());
    }
    let output = String::from_utf8(std::mem::take(client.debug_output())).unwrap();
    let last = output.lines().next_back().unwrap();
    last.strip_prefix("debug(script=0,command=1): ").unwrap().to_owned()
}

#[test]
fn expressions_have_pgbenchs_values_and_errors() {
    let mut wrong = Vec::new();
    for line in EXPRESSIONS.lines().filter(|line| !line.starts_with('#')) {
        let [seed, expression, expected] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("three columns in {line:?}");
        };
        let value = evaluate(seed.parse().unwrap(), expression);
        // A static error's text goes on with the line and the place.
        if value.lines().next() != Some(expected) {
            wrong.push(format!("{expression} (seed {seed}): {value}, pgbench: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_absolute_value_of_a_boolean_is_refused() {
    // pgbench reads whatever lies in memory there.
    assert_eq!(evaluate(1, "abs(true)"), "error: cannot coerce boolean to double");
}

#[test]
fn zipfian_refuses_a_parameter_that_is_no_number() {
    // pgbench would draw for ever.
    let expected = "error: zipfian parameter must be in range [1.001, 1000] (not NaN)";
    assert_eq!(evaluate(1, "random_zipfian(1, 10, :nan)"), expected);
}

#[test]
fn no_depth_of_nesting_exhausts_the_stack() {
    let depth = 100_000;
    let nested = format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(evaluate(1, &nested), "int 1");
    assert_eq!(evaluate(1, &format!("{}1", "- ".repeat(depth))), "int 1");
    assert_eq!(evaluate(1, &format!("1{}", " + 1".repeat(depth))), "int 100001");
    assert_eq!(evaluate(1, &format!("{}1{}", "abs(".repeat(depth), ")".repeat(depth))), "int 1");
    let cases = format!("{}7{}", "case when 1 then ".repeat(depth), " end".repeat(depth));
    assert_eq!(evaluate(1, &cases), "int 7");
}
