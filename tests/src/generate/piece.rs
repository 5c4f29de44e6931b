//! Pieces of SQL and of backslash commands in any order: what matters is where one ends and the next begins.

use proptest::prelude::*;
use proptest::sample::select;

/// Pieces that take no part in `\if`; the server that reads them has to accept everything.
const PIECES: &[&str] = &[
    "select 1",
    "select",
    "insert",
    "update",
    " ",
    "  ",
    "\n",
    "\n",
    "\n",
    ";",
    ";",
    ";",
    ";",
    "'",
    "'a;b'",
    "''",
    "\"q;q\"",
    "\"",
    "$$",
    "$$",
    "$x$",
    "$x$",
    "$y$",
    "$1",
    "$1a$",
    "12",
    "12ae",
    "0x1f",
    "1.5e3",
    "1e",
    "12a$x$",
    "--c;\n",
    "-- \\set\n",
    "-",
    "--",
    "/*",
    "*/",
    "/* ; */",
    "/* /* ; */ ; */",
    "(",
    ")",
    "(",
    ")",
    "e'",
    "E'\\'",
    "E'a\\';'",
    "\\;",
    "\\:",
    "\\:i",
    "\\",
    "\\\n",
    "\\set v0 1\n",
    "\\set i 7\n",
    "\\set v1 debug(:v0)\n",
    "\\gset\n",
    "select one_row \\gset p_\n",
    "select one_row\\;select two_rows\\aset\n",
    "\\aset\n",
    "\\sleep 0\n",
    ":i",
    ":quote",
    "::i",
    ":::i",
    ":nope",
    ":1",
    ":'i'",
    ":\"i\"",
    ":{?i}",
    ":=",
    "i:c:d",
    ":p_a",
    "begin",
    "end",
    "BEGIN",
    "END",
    "case",
    "CASE",
    "atomic",
    "create",
    "create or replace function f",
    "CREATE FUNCTION",
    "create procedure",
    "function",
    "procedure",
    "or",
    "replace",
    "u&'",
    "U&\"a;\"",
    "b'",
    "x'1f'",
    "n'a'",
    "b",
    "\u{e9}",
    "a$b$",
    "\t",
    "\r\n",
    "\x0b",
    "\x0c",
    "@",
    "+",
    "*",
    "<",
    "@-",
    "!/",
    "return 1",
    "E'a'\n'\\';'",
    "'a'\n'b;'",
    "E'x' --c\n '\\''",
    ",",
    ".",
    "x'",
    "_e'",
    "1_000",
    "$a",
    "$\u{e9}$",
    "\\set v0 1\\\n+2\n",
    ":e'\\'",
    ":i:d",
    "a.b",
    "0b11",
    "0o7",
    "1.",
    "..5",
    "1..2",
    "$$a;b$$",
    "$1$x$",
    "#",
    "&",
    "|",
    "~",
    "^",
    "?",
    "`",
    "[",
    "]",
    "{",
    "}",
];

/// Conditionals; few, because most orders of them are no script.
const CONDITIONS: &[&str] =
    &["\\if 0\n", "\\if :i > 1\n", "\\elif 1\n", "\\else\n", "\\endif\n", "\\endif\n"];

/// Heads of what may hold semicolons up to its END.
const BODIES: &[&str] = &[
    "create or replace function f() returns int begin atomic ",
    "CREATE procedure p() Begin ",
    "create function f(a int default (1;2)) begin case when 1; end; ",
];

/// The text of a script.
pub fn pieces() -> BoxedStrategy<String> {
    let piece = prop_oneof![
        60 => select(PIECES).prop_map(str::to_owned),
        1 => select(CONDITIONS).prop_map(str::to_owned),
        1 => prop::collection::vec(select(PIECES), 0..4)
            .prop_map(|inner| format!("\\if :i = 42\n{}\n\\endif\n", inner.concat())),
    ];
    let gap = prop_oneof![3 => Just(""), 2 => Just(" ")];
    let all = prop::collection::vec((piece, gap), 1..16);
    let head = prop_oneof![4 => Just(""), 1 => select(BODIES)];
    (head, all)
        .prop_map(|(head, pieces)| {
            let pieces = pieces.into_iter().map(|(piece, gap)| piece + gap);
            guarded(&(head.to_owned() + &pieces.collect::<String>()))
        })
        .boxed()
}

/// The same text with no statement that ends with a variable or a colon: there pgbench 18 also sends, and looks
/// for variables in, what happens to lie in memory behind it.
fn guarded(text: &str) -> String {
    let mut guarded = String::with_capacity(text.len());
    let mut after_colon = false;
    for c in text.chars() {
        if c == '\\' && after_colon {
            guarded.push_str(" ,");
        }
        after_colon = c == ':' || (after_colon && (c.is_alphanumeric() || c == '_'));
        guarded.push(c);
    }
    if after_colon {
        guarded.push_str(" ,");
    }
    guarded
}
