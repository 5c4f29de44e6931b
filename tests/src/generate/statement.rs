//! Statements that a server understands and, mostly, carries out; what they do depends on nothing that an
//! earlier session has left behind.

use proptest::prelude::*;
use proptest::sample::select;

/// The table that the statements write to.
pub const TABLE: &str = "create table if not exists generated(a bigint, b text)";

/// Integer-valued expressions for `\set` that cannot fail.
const VALUES: &[&str] = &[
    "random(1, 100)",
    ":c + 1",
    ":c * 3 - 1",
    "random_gaussian(1, 50, 2.5)",
    "hash(:c) % 97",
    "permute(:c, 10)",
    "case when :c % 2 = 0 then 1 else 2 end",
    "random_zipfian(1, 100, 1.5)",
    "random_exponential(1, 9, 2.0)",
    "greatest(:c, 5)",
    "debug(:c)",
    "debug(:client_id)",
    "0",
];

/// Conditions; each client and each transaction goes its own way.
const CONDITIONS: &[&str] = &[
    ":c % 2 = 0",
    "random(1, 3) = 1",
    ":client_id = 0",
    "true",
    "not :t",
    ":c > 3 and :c < 50",
    ":c is null",
    "0.0",
];

/// A value that can stand in SQL as a variable's.
const NUMBERS: &[&str] = &[":c", ":i", ":neg", ":client_id", ":scale", "1", "-7", "(2 + 3)"];

/// Texts inside quotes, with everything that could end a statement by mistake.
const TEXTS: &[&str] =
    &["", "a", "a;b", "-- no comment", "/* none", "$x$", "\"", "it''s", "\\", "::text", "\n;\n"];

/// The same with variables; only the simple protocol puts their values there.
const TEXTS_WITH_VARIABLES: &[&str] = &[":s", "x:c;y", ":quote", "::c :i", ":nope"];

const COMMENTS: &[&str] =
    &["", "", "", "-- c; \\set\n", "/* ; */ ", "/* a /* ; */ b */", "\n\n", "--\n--;\n"];

/// An expression for `\set`.
pub fn value() -> impl Strategy<Value = &'static str> {
    select(VALUES)
}

/// An expression for `\if`.
pub fn condition() -> impl Strategy<Value = &'static str> {
    select(CONDITIONS)
}

/// What may stand before a statement.
pub fn comment() -> impl Strategy<Value = &'static str> {
    select(COMMENTS)
}

/// One statement without its end; `simple` is the protocol that puts variables anywhere.
pub fn statement(simple: bool) -> BoxedStrategy<String> {
    let owned = |text: &&str| (*text).to_owned();
    let mut texts: Vec<String> = TEXTS.iter().map(owned).collect();
    if simple {
        texts.extend(TEXTS_WITH_VARIABLES.iter().map(owned));
    }
    let text = select(texts);
    let number = || select(NUMBERS);
    prop_oneof![
        12 => query(text.clone()),
        4 => (number(), text.clone()).prop_map(|(number, text)| {
            format!("insert into generated values ({number}::bigint, '{text}')")
        }),
        2 => number().prop_map(|number| format!("delete from generated where a = {number}::bigint and false")),
        3 => select(BLOCKS).prop_map(str::to_owned),
        3 => select(BODIES).prop_map(str::to_owned),
        1 => select(FAILING).prop_map(str::to_owned),
        1 => select(AGAIN).prop_map(str::to_owned),
    ]
    .boxed()
}

/// Queries with one row.
pub fn query(text: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    prop_oneof![
        (select(NUMBERS), 0u32..9)
            .prop_map(|(number, more)| format!("select {number}::bigint + {more} as c")),
        text.clone().prop_map(|text| format!("select '{text}' as s")),
        text.clone().prop_map(|text| format!("select $${text}$$ as s, $t${text};$t$ as r")),
        text.prop_map(|text| format!("SELECT E'\\';{}' /* ; */ AS s", text.replace('\\', ""))),
        Just("select 1 as c, null as s, 'x' as \"a b\"".to_owned()),
        Just("select (select count(*) from (values (1), (2)) as v(x)) as c".to_owned()),
    ]
    .boxed()
}

/// Transaction control; a block that stays open ends the client, which has to be told alike.
const BLOCKS: &[&str] =
    &["begin", "end", "commit", "begin isolation level repeatable read", "savepoint p", "rollback"];

const BODIES: &[&str] = &[
    "create or replace function pg_temp.f(x int) returns int language sql begin atomic select x; select x + 1; end",
    "create or replace procedure pg_temp.p() language sql begin atomic select case when true then 1 end; select 2; end",
    "create or replace function pg_temp.g() returns int language sql as $f$ select 1; select 2 $f$",
    "do $$ begin perform 1; perform 2; end $$",
    "do $$ begin raise notice 'said; %', 1; end $$",
    "create temp table if not exists t(a int)",
    "set local lock_timeout = 100",
    "explain select 1",
    "values (1), (2)",
    "select generate_series(1, 3) as c",
    "select 1 as c where false",
    "",
];

const FAILING: &[&str] = &[
    "select 1/0",
    "selec 1",
    "select nothing from nowhere",
    "copy generated to stdout",
    "copy generated from stdin",
    "select 'open",
    "select (1",
    "insert into generated values ('x', 'y')",
];

/// Failures that may be tried again; the second succeeds where a variable went on.
const AGAIN: &[&str] = &[
    "do $$ begin raise exception 'again; please' using errcode = '40001'; end $$",
    "do $$ begin raise exception 'again' using errcode = '40P01', detail = 'd', hint = 'h'; end $$",
];
