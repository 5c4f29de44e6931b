//! Expressions that can be read; whether they can be evaluated is another matter.
//!
//! Operands stand beside operators without parentheses more often than with them, because precedence is
//! half of what can be wrong. Two shapes are left out, in which pgbench does what nobody should: `abs` of a
//! truth value reads memory at random, and a Zipf parameter that is no number draws for ever.

use proptest::prelude::*;
use proptest::sample::select;

use super::literal::{double, integer, leaf};

const SYMBOLS: &[&str] =
    &["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "=", "<>", "!=", "&", "|", "#", "<<", ">>"];

const PREFIXES: &[&str] = &["-", "+", "- ", "~", "~~", "not ", "NOT ", "- -"];

const TESTS: &[&str] = &[
    "is null",
    "is not null",
    "isnull",
    "notnull",
    "is true",
    "is not false",
    "IS FALSE",
    "Is Not True",
];

const ONE_ARGUMENT: &[&str] = &["double", "exp", "int", "ln", "sqrt", "debug", "DEBUG", "Int"];

const SPACES: &[&str] = &[" ", "", "  ", "\t", "\\\n", " \\\r\n "];

const RANGES: &[&str] = &[
    "1, 10",
    "0, 1000",
    "-1000, 1000",
    "1, :big",
    "5, 5",
    "1, :i",
    ":neg, :i",
    "1, 1000000",
    "5, 3",
    "null, 7",
    "1.5, 9.5",
    "-9223372036854775808, 9223372036854775807",
    "-1, 9223372036854775806",
];

/// An expression of moderate size.
pub fn expression() -> BoxedStrategy<String> {
    leaf().prop_recursive(5, 24, 4, |inner| grown(&inner)).boxed()
}

fn grown(inner: &BoxedStrategy<String>) -> BoxedStrategy<String> {
    let space = || select(SPACES);
    let one = || inner.clone();
    let binary = (one(), space(), select(SYMBOLS), space(), one()).prop_map(
        |(left, before, symbol, after, right)| format!("{left}{before}{symbol}{after}{right}"),
    );
    let logic = (one(), select(&["and", "or", "AND", "Or"][..]), one())
        .prop_map(|(left, word, right)| format!("{left} {word} {right}"));
    let enclosed = (space(), one(), space())
        .prop_map(|(before, inner, after)| format!("({before}{inner}{after})"));
    let prefixed = (select(PREFIXES), one()).prop_map(|(prefix, inner)| format!("{prefix}{inner}"));
    let tested = (one(), select(TESTS)).prop_map(|(inner, test)| format!("{inner} {test}"));
    prop_oneof![
        14 => binary,
        4 => logic,
        5 => enclosed,
        4 => prefixed,
        3 => tested,
        3 => cases(one()),
        6 => calls(inner),
        3 => random(),
    ]
    .boxed()
}

fn cases(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let branch = (inner.clone(), inner.clone())
        .prop_map(|(condition, value)| format!(" when {condition} then {value}"));
    let branches = prop::collection::vec(branch, 1..3).prop_map(|branches| branches.concat());
    let otherwise = prop::option::of(inner.prop_map(|value| format!(" else {value}")));
    (select(&["case", "CASE"][..]), branches, otherwise).prop_map(|(case, branches, otherwise)| {
        format!("{case}{branches}{} end", otherwise.unwrap_or_default())
    })
}

fn calls(inner: &BoxedStrategy<String>) -> impl Strategy<Value = String> + use<> {
    let one = || inner.clone();
    let seed = || prop::option::of(leaf().prop_map(|seed| format!(", {seed}")));
    let single = (select(ONE_ARGUMENT), one()).prop_map(|(name, value)| format!("{name}({value})"));
    let absolute = prop_oneof![
        integer(),
        double(),
        one().prop_map(|value| format!("0 + ({value})")),
        one().prop_map(|value| format!("int({value})")),
        one().prop_map(|value| format!("double({value})")),
    ]
    .prop_map(|number| format!("abs({number})"));
    let several = (select(&["least", "Greatest"][..]), prop::collection::vec(one(), 1..5))
        .prop_map(|(name, values)| format!("{name}({})", values.join(",")));
    let pair = (select(&["pow", "power", "mod"][..]), one(), one())
        .prop_map(|(name, first, second)| format!("{name}({first}, {second})"));
    let hash = (select(&["hash", "hash_fnv1a", "hash_murmur2"][..]), one(), seed())
        .prop_map(|(name, value, seed)| format!("{name}({value}{})", seed.unwrap_or_default()));
    let sizes = select(&["1", "2", "10", "1000", "9223372036854775807", ":i", "0", "-3"][..]);
    let permute = (one(), sizes, seed()).prop_map(|(value, size, seed)| {
        format!("permute({value}, {size}{})", seed.unwrap_or_default())
    });
    prop_oneof![4 => single, 2 => absolute, 2 => several, 3 => pair, 2 => hash, 2 => permute]
}

fn random() -> impl Strategy<Value = String> {
    // One that is out of bounds for each, and for those that end with any parameter one that is no number.
    let shapes = [
        ("random", &[""][..]),
        ("random_exponential", &[", 0.5", ", 1", ", 3.3", ", 20", ", 0", ", :nan"]),
        ("random_gaussian", &[", 2", ", 2.5", ", 7", ", 1.9", ", :nan"]),
        ("random_zipfian", &[", 1.001", ", 1.07", ", 1.5", ", 2", ", 10", ", 1", ", 1000.5"]),
    ];
    let shapes = shapes.map(|(name, parameters)| (Just(name), select(RANGES), select(parameters)));
    let call = |(name, range, parameter): (&str, &str, &str)| format!("{name}({range}{parameter})");
    let [uniform, exponential, gaussian, zipfian] = shapes;
    prop_oneof![
        uniform.prop_map(call),
        exponential.prop_map(call),
        gaussian.prop_map(call),
        zipfian.prop_map(call),
    ]
}
