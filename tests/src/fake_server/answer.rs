//! What the fake server says to a statement: typed rows, a command tag or an error. Knows SQL only as
//! far as the first word goes.

use bytes::{BufMut, BytesMut};

/// A value of a result, in the types that clients ask about a server.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// NULL.
    Null,
    /// `boolean`.
    Bool(bool),
    /// `integer`.
    Int4(i32),
    /// `bigint`.
    Int8(i64),
    /// `double precision`.
    Float8(f64),
    /// `text`.
    Text(String),
}

impl Value {
    /// The number of the type `text` in the catalog.
    pub(super) const TEXT_OID: u32 = 25;

    fn oid(&self) -> u32 {
        match self {
            Self::Bool(_) => 16,
            Self::Int8(_) => 20,
            Self::Int4(_) => 23,
            Self::Float8(_) => 701,
            Self::Text(_) | Self::Null => Self::TEXT_OID,
        }
    }

    /// Appends the value in either form; NULL has none, then it returns false.
    pub(super) fn write(&self, out: &mut BytesMut, binary: bool) -> bool {
        match self {
            Self::Null => return false,
            Self::Text(text) => out.put_slice(text.as_bytes()),
            Self::Bool(value) if binary => out.put_u8(u8::from(*value)),
            Self::Int4(value) if binary => out.put_i32(*value),
            Self::Int8(value) if binary => out.put_i64(*value),
            Self::Float8(value) if binary => out.put_f64(*value),
            Self::Bool(value) => out.put_slice(if *value { b"t" } else { b"f" }),
            Self::Int4(value) => out.put_slice(value.to_string().as_bytes()),
            Self::Int8(value) => out.put_slice(value.to_string().as_bytes()),
            Self::Float8(value) => out.put_slice(value.to_string().as_bytes()),
        }
        true
    }
}

/// A result set.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    /// Name and type number of each column.
    pub(super) columns: Vec<(String, u32)>,
    pub(super) rows: Vec<Vec<Value>>,
}

impl Rows {
    /// One row, with its columns named.
    #[must_use]
    pub fn one(row: &[(&str, Value)]) -> Self {
        Self {
            columns: row.iter().map(|(name, value)| ((*name).to_owned(), value.oid())).collect(),
            rows: vec![row.iter().map(|(_, value)| value.clone()).collect()],
        }
    }

    /// No row, but columns of the given names (as text).
    #[must_use]
    pub fn none(columns: &[&str]) -> Self {
        let column = |name: &&str| ((*name).to_owned(), Value::TEXT_OID);
        Self { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }
}

/// What a statement gets.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A result set and its tag.
    Rows(Rows),
    /// A tag alone.
    Done(String),
    /// An error.
    Error {
        /// Five characters.
        sqlstate: String,
        /// The message.
        message: String,
    },
    /// Nothing at all was asked.
    Empty,
}

impl Reply {
    /// An error.
    #[must_use]
    pub fn error(sqlstate: &str, message: &str) -> Self {
        Self::Error { sqlstate: sqlstate.to_owned(), message: message.to_owned() }
    }
}

/// A reply for every statement that contains some text, in whatever case.
#[derive(Clone, Debug)]
pub struct Rule {
    contains: String,
    pub(super) reply: Reply,
}

impl Rule {
    /// Statements that contain `text` get `reply`.
    #[must_use]
    pub fn new(text: &str, reply: Reply) -> Self {
        Self { contains: text.to_ascii_lowercase(), reply }
    }

    pub(super) fn applies_to(&self, lowercase_sql: &str) -> bool {
        lowercase_sql.contains(&self.contains)
    }
}

/// What a statement does to the transaction it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Opens a block.
    Begin,
    /// Ends it for good.
    Commit,
    /// Ends it as if it had never been.
    Rollback,
    /// Is one more statement.
    Within,
    /// Asks about the server and is not part of any load.
    Control,
}

/// A statement, understood once.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its text.
    pub sql: String,
    /// What it gets.
    pub reply: Reply,
    /// What it does to the transaction.
    pub effect: Effect,
    /// How many `$n` it has.
    pub parameters: usize,
}

impl Statement {
    /// Understands a statement by the rules given, else by its first word.
    #[must_use]
    pub fn new(sql: &str, rules: &[Rule]) -> Self {
        let sql = sql.trim();
        let lowercase = sql.to_ascii_lowercase();
        let (reply, effect) = match rules.iter().find(|rule| rule.applies_to(&lowercase)) {
            Some(rule) => (rule.reply.clone(), Effect::Control),
            None => by_first_word(&lowercase),
        };
        Self { sql: sql.to_owned(), reply, effect, parameters: highest_parameter(sql) }
    }
}

fn by_first_word(lowercase: &str) -> (Reply, Effect) {
    let word = lowercase.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let done = |tag: &str| Reply::Done(tag.to_owned());
    match word {
        "begin" | "start" => (done("BEGIN"), Effect::Begin),
        "commit" | "end" => (done("COMMIT"), Effect::Commit),
        "rollback" | "abort" => (done("ROLLBACK"), Effect::Rollback),
        "insert" => (done("INSERT 0 1"), Effect::Within),
        "update" | "delete" => (done(&format!("{} 1", word.to_ascii_uppercase())), Effect::Within),
        "select" | "with" | "values" | "show" | "table" => {
            (Reply::Rows(Rows::one(&[("?column?", Value::Int4(1))])), Effect::Within)
        }
        "" => (Reply::Empty, Effect::Control),
        other => (done(&other.to_ascii_uppercase()), Effect::Within),
    }
}

/// The highest `$n` outside of nothing in particular: benchmark scripts have no dollars in strings.
fn highest_parameter(sql: &str) -> usize {
    let numbers = sql.split('$').skip(1).filter_map(|rest| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().ok()
    });
    numbers.max().unwrap_or(0)
}

/// Cuts a simple query at its semicolons, leaving those in quotes alone.
pub fn cut(sql: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut quote) = (Vec::new(), 0, None);
    for (at, byte) in sql.bytes().enumerate() {
        match (quote, byte) {
            (None, b'\'' | b'"') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            (None, b';') => {
                parts.push(&sql[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&sql[begin..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}
