//! The leaves of expressions: numbers at the edges of their types, words, and variables whose strings come
//! from outside in every shape that counts.

use proptest::prelude::*;
use proptest::sample::select;

/// Variables of every run: each kind of string that a value from outside can be.
pub const DEFINES: &[(&str, &str)] = &[
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
    ("off", "OFF"),
    ("exp", "1e"),
    ("point", "."),
    ("dbl", "-.5e1"),
    ("quote", "it's"),
    ("v0", "3"),
    ("v1", "0.5"),
    ("v2", "true"),
    ("v3", "null"),
];

const INTEGERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "10",
    "63",
    "64",
    "100",
    "1000",
    "-1",
    "-2",
    "-5",
    "000",
    "007",
    "4294967296",
    "12345678901234",
    "9223372036854775807",
    "-9223372036854775808",
    "- 9223372036854775807",
];

const DOUBLES: &[&str] = &[
    "0.0",
    "1.0",
    "0.5",
    "1.5",
    "2.5",
    "-0.5",
    "-0.0",
    "3.14159",
    "1e3",
    "1e-3",
    "1E10",
    ".25",
    "7.",
    "1e15",
    "1e16",
    "123456789012345678.0",
    "1.23456789012345678",
    "1e300",
    "1e-300",
    "4.5e18",
    "9.3e18",
    "-1.5",
    "9223372036854775807.0",
    "0.1",
    "1.7976931348623157e308",
    "2.2250738585072014e-308",
];

/// Fit for arithmetic more often than not.
const NUMERIC: &[&str] =
    &[":i", ":d", ":neg", ":dbl", ":hex", ":blank", ":client_id", ":scale", ":v0", ":v1"];

const OTHERS: &[&str] = &[
    ":t",
    ":n",
    ":big",
    ":f",
    ":s",
    ":inf",
    ":nan",
    ":huge",
    ":sign",
    ":tiny",
    ":tail",
    ":o",
    ":off",
    ":exp",
    ":point",
    ":quote",
    ":random_seed",
    ":default_seed",
    ":v2",
    ":v3",
    ":unknown",
    ":1a",
];

const WORDS: &[&str] = &["null", "NULL", "true", "false", "TRUE", "False"];

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(words).prop_map(str::to_owned)
}

/// An integer: one with a name in the tests of every language, or any other.
pub fn integer() -> BoxedStrategy<String> {
    prop_oneof![
        6 => one_of(INTEGERS),
        2 => (-20i64..200).prop_map(|number| number.to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
    ]
    .boxed()
}

/// A number with a point or an exponent.
pub fn double() -> BoxedStrategy<String> {
    prop_oneof![
        5 => one_of(DOUBLES),
        1 => (0u32..100_000, 0u32..1000).prop_map(|(whole, part)| format!("{whole}.{part}")),
        1 => (1u32..1000, -30i32..30).prop_map(|(digits, exponent)| format!("{digits}e{exponent}")),
    ]
    .boxed()
}

/// Anything that has no parts.
pub fn leaf() -> BoxedStrategy<String> {
    prop_oneof![
        6 => integer(),
        4 => double(),
        3 => one_of(NUMERIC),
        2 => one_of(OTHERS),
        2 => one_of(WORDS),
        1 => Just("pi()".to_owned()),
    ]
    .boxed()
}
