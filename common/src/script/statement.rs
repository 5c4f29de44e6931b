//! An SQL command with its variables: as text with values, or with numbered parameters.
//!
//! Substitution is textual and happens everywhere, also in string literals and comments, as with
//! pgbench. Nothing is looked up by name here and nothing allocates.

use bytes::BufMut;

use super::expr::{continues_name, starts_name};
use super::variables::{Names, Slot, Variables};

/// What becomes of a statement's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Store {
    /// Nothing: rows are read and dropped.
    #[default]
    Nothing,
    /// `\gset`: the last result must be one row, whose columns become variables.
    Gset {
        /// In front of each column's name.
        prefix: Vec<u8>,
    },
    /// `\aset`: of every result the last row, if there is one.
    Aset {
        /// In front of each column's name.
        prefix: Vec<u8>,
    },
}

/// One SQL command.
#[derive(Clone, Debug)]
pub struct Sql {
    text: Box<[u8]>,
    mentions: Box<[Mention]>,
    numbered: Box<[u8]>,
    parameters: Box<[Slot]>,
    number: u32,
    pub(crate) store: Store,
}

/// A `:name` in the text.
#[derive(Clone, Copy, Debug)]
struct Mention {
    start: usize,
    end: usize,
    slot: Slot,
}

impl Sql {
    pub(crate) fn new(text: Vec<u8>, number: u32, names: &mut Names) -> Self {
        let mentions = find_mentions(&text, names);
        let mut numbered = Vec::with_capacity(text.len());
        let mut done = 0;
        for (index, mention) in mentions.iter().enumerate() {
            numbered.extend_from_slice(&text[done..mention.start]);
            numbered.extend_from_slice(format!("${}", index + 1).as_bytes());
            done = mention.end;
        }
        numbered.extend_from_slice(&text[done..]);
        Self {
            parameters: mentions.iter().map(|mention| mention.slot).collect(),
            mentions: mentions.into(),
            text: text.into(),
            numbered: numbered.into(),
            number,
            store: Store::Nothing,
        }
    }

    /// The text as it stands in the script.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Appends the text with values in place of variables; unknown ones stay as they are.
    #[inline]
    pub fn write_simple(&self, variables: &Variables, out: &mut impl BufMut) {
        let mut done = 0;
        for &Mention { start, end, slot } in &self.mentions {
            out.put_slice(&self.text[done..start]);
            if !variables.write(slot, out) {
                out.put_slice(&self.text[start..end]);
            }
            done = end;
        }
        out.put_slice(&self.text[done..]);
    }

    /// The text with `$1`, `$2`, ... in place of variables.
    #[must_use]
    pub fn numbered(&self) -> &[u8] {
        &self.numbered
    }

    /// The variables of `$1`, `$2`, ...; one that does not exist is sent as NULL.
    #[must_use]
    pub fn parameters(&self) -> &[Slot] {
        &self.parameters
    }

    /// Number among all SQL commands of the program, from 0; `P_n` is the prepared statement's name.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// What becomes of the results.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }
}

/// Finds every colon that a name follows. Two or more colons in a row are a cast or the like, and
/// are passed over as a whole.
fn find_mentions(text: &[u8], names: &mut Names) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut at = 0;
    while let Some(distance) = text[at..].iter().position(|&byte| byte == b':') {
        let start = at + distance;
        let behind = &text[start + 1..];
        if behind.first().is_some_and(|&byte| starts_name(byte)) {
            let length = behind.iter().position(|&b| !continues_name(b)).unwrap_or(behind.len());
            let slot = names.intern(&behind[..length]);
            at = start + 1 + length;
            mentions.push(Mention { start, end: at, slot });
        } else {
            let colons = behind.iter().position(|&byte| byte != b':').unwrap_or(behind.len());
            at = start + 1 + colons;
        }
    }
    mentions
}
