//! Expressions with something wrong in them: a piece cut out, put in, or put in twice.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::expression::expression;

/// What does not belong where it lands; comments among them, because meta lines have none.
const PIECES: &[&str] = &[
    "(",
    ")",
    ",",
    "!",
    " -- c",
    "/*",
    "*/",
    "'",
    "\"",
    "$",
    ";",
    ":",
    "::x",
    "@",
    "?",
    "1e400",
    "1e-400",
    "9223372036854775808",
    "99999999999999999999",
    " foo(",
    " case ",
    " when ",
    " end",
    " is ",
    " not ",
    " < 1 < ",
    "= =",
    "0x10",
    "1_000",
    "\u{e9}",
    "..",
    "abs",
    "pi(1)",
    "least()",
    "hash()",
    "random(1)",
    "permute(1)",
    "mod(1,2,3)",
    " if(1,2,3) ",
    " 1 2 ",
    "abs(,1)",
    "least(1,)",
    "\\",
    "\\\\\n",
    " null",
    "random_zipfian()",
    "case when 1 then 2",
    " between 1 and 2",
    "least(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)",
];

/// A damaged expression. Now and then the damage makes another expression of it; so much the better.
pub fn broken() -> BoxedStrategy<String> {
    let cut = (expression(), any::<Index>(), 1usize..6).prop_map(|(text, at, length)| {
        let at = boundary(&text, at);
        let rest: String = text[at..].chars().skip(length).collect();
        format!("{}{rest}", &text[..at])
    });
    let put = (expression(), any::<Index>(), select(PIECES)).prop_map(|(text, at, piece)| {
        let at = boundary(&text, at);
        format!("{}{piece}{}", &text[..at], &text[at..])
    });
    let twice = (expression(), any::<Index>()).prop_map(|(text, at)| {
        let at = boundary(&text, at);
        format!("{text} {}", &text[at..])
    });
    prop_oneof![2 => cut, 5 => put, 1 => twice].boxed()
}

/// A place between two characters.
fn boundary(text: &str, at: Index) -> usize {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    *at.get(&places)
}
