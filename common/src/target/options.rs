//! Options by name while a target is being resolved. Whoever sets an option first wins.

use std::collections::BTreeMap;

use super::error::TargetError;
use super::keywords;
use super::{conninfo, uri};

/// Values of connection options. Has no `Debug`, since it holds passwords.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Options {
    values: BTreeMap<&'static str, String>,
}

impl Options {
    /// Reads a keyword string or a URI; `None` if `text` is neither, hence a plain database name.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, TargetError> {
        if let Some(rest) = uri::without_scheme(text) {
            uri::parse(rest).map(Some)
        } else if text.contains('=') {
            conninfo::parse(text).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The value of an option, if it was set; it may be empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The value of an option, if it was set to something.
    pub(super) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Sets an option, replacing what it was. `requiressl=1` is the old way to say `sslmode=require`.
    pub(super) fn set(&mut self, name: &str, value: String) -> Result<(), TargetError> {
        if name == "requiressl" {
            let mode = if value.starts_with('1') { "require" } else { "prefer" };
            self.values.insert("sslmode", mode.to_owned());
            return Ok(());
        }
        let keyword =
            keywords::find(name).ok_or_else(|| TargetError::UnknownOption(name.to_owned()))?;
        self.values.insert(keyword.name, value);
        Ok(())
    }

    /// Sets an option unless it is set.
    pub(super) fn set_default(&mut self, name: &str, value: String) -> Result<(), TargetError> {
        let stored = if name == "requiressl" { "sslmode" } else { name };
        if self.values.contains_key(stored) { Ok(()) } else { self.set(name, value) }
    }

    /// Takes over all options of `other`, replacing those that are set here.
    pub(super) fn override_with(&mut self, other: Self) {
        self.values.extend(other.values);
    }

    /// A whole number; `None` if the option is not set.
    pub(super) fn integer(&self, option: &'static str) -> Result<Option<i32>, TargetError> {
        let Some(value) = self.get(option) else {
            return Ok(None);
        };
        let parsed = value.trim_matches(|c: char| c.is_ascii_whitespace()).parse();
        let wrong = |_| TargetError::Integer { option, value: value.to_owned() };
        parsed.map(Some).map_err(wrong)
    }

    /// One of a list of words; `default` if the option is not set.
    pub(super) fn choice<T: Copy>(
        &self,
        option: &'static str,
        words: &[(&str, T)],
        default: T,
    ) -> Result<T, TargetError> {
        let Some(value) = self.get(option) else {
            return Ok(default);
        };
        let found = words.iter().find(|(word, _)| *word == value);
        found.map(|(_, choice)| *choice).ok_or_else(|| TargetError::value(option, value))
    }
}
