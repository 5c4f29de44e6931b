//! Splits a backslash command's line into words.
//!
//! Words are separated by blanks only; there are no quotes and no comments. A backslash directly
//! before the line break continues the line.

use super::expr::{continuation, is_blank};

/// Most words of one command, its name included.
pub const MAX_WORDS: usize = 256;

/// A word and the offset of its first byte in the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaWord<'s> {
    /// The word.
    pub text: &'s [u8],
    /// Where it stands.
    pub at: usize,
}

/// Reads words from an offset of the script to the end of the line.
#[derive(Debug)]
pub struct MetaWords<'s> {
    script: &'s [u8],
    at: usize,
}

impl<'s> MetaWords<'s> {
    /// Begins at an offset.
    pub fn new(script: &'s [u8], at: usize) -> Self {
        Self { script, at }
    }

    /// Offset behind the last word or, at the end of the line, behind the line break.
    pub fn at(&self) -> usize {
        self.at
    }
}

impl<'s> Iterator for MetaWords<'s> {
    type Item = MetaWord<'s>;

    fn next(&mut self) -> Option<MetaWord<'s>> {
        loop {
            let rest = &self.script[self.at..];
            match rest.first()? {
                b'\n' => {
                    self.at += 1;
                    return None;
                }
                &byte if is_blank(byte) => self.at += 1,
                _ => match continuation(rest) {
                    Some(length) => self.at += length,
                    None => break,
                },
            }
        }
        let (at, rest) = (self.at, &self.script[self.at..]);
        let ends = |&byte: &u8| is_blank(byte) || byte == b'\n';
        let mut length = rest.iter().position(ends).unwrap_or(rest.len());
        if continuation(&rest[length - 1..]).is_some() {
            length -= 1;
        }
        self.at += length;
        Some(MetaWord { text: &rest[..length], at })
    }
}
