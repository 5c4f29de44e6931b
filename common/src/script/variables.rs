//! Names and values of variables.
//!
//! Every name that the scripts of a program mention has a slot, found once; a client's variables are
//! an array over the slots. Nothing here knows expressions or SQL. Invariant: a slot is only ever
//! used with the program that made it.

use std::collections::HashMap;

use bytes::BufMut;

use super::expr::{EvalFailure, Evaluated, continues_name, starts_name};
use super::packed::Packed;
use super::value::{Unreadable, Value};

/// A variable of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u32);

impl Slot {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of all slots.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<Box<[u8]>>,
    slots: HashMap<Box<[u8]>, Slot>,
}

impl Names {
    /// The slot of a name, a new one if it is new.
    pub(crate) fn intern(&mut self, name: &[u8]) -> Slot {
        if let Some(&slot) = self.slots.get(name) {
            return slot;
        }
        // Every name costs bytes of script text, which is far smaller than this.
        let slot = Slot(u32::try_from(self.names.len()).expect("fewer names than 2^32"));
        self.names.push(name.into());
        self.slots.insert(name.into(), slot);
        slot
    }

    /// The slot of a name that some script mentions.
    #[must_use]
    pub fn find(&self, name: &[u8]) -> Option<Slot> {
        self.slots.get(name).copied()
    }

    pub(crate) fn all(&self) -> &[Box<[u8]>] {
        &self.names
    }
}

/// Whether a variable may be created under this name. Scripts may mention others, which then are
/// never defined.
#[must_use]
pub fn is_valid_name(name: &[u8]) -> bool {
    name.first().is_some_and(|&byte| starts_name(byte))
        && name.iter().all(|&byte| continues_name(byte))
}

/// A string from outside, and what it is in an expression.
#[derive(Clone, Debug)]
struct Text {
    text: Vec<u8>,
    value: Result<Value, Unreadable>,
}

/// One client's variables.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Small, because expressions read it all the time; a string is found among the texts.
    contents: Box<[Packed]>,
    /// As long as the contents; allocates only where there was a string.
    texts: Box<[Text]>,
}

impl Variables {
    pub(crate) fn new(count: usize) -> Self {
        let none = Text { text: Vec::new(), value: Err(Unreadable::Empty) };
        Self { contents: vec![Packed::UNSET; count].into(), texts: vec![none; count].into() }
    }

    /// The value in an expression.
    #[inline]
    pub(crate) fn value(&self, slot: Slot) -> Evaluated<Packed> {
        let content = self.contents[slot.index()];
        if content.is_value() { Ok(content) } else { self.text_value(slot) }
    }

    #[cold]
    fn text_value(&self, slot: Slot) -> Evaluated<Packed> {
        if self.contents[slot.index()].is_unset() {
            return Err(EvalFailure::Undefined(slot).into());
        }
        let value = self.texts[slot.index()].value;
        value.map(Packed::from).map_err(|reason| EvalFailure::Unreadable(slot, reason).into())
    }

    /// Whether the variable exists.
    #[must_use]
    pub fn is_set(&self, slot: Slot) -> bool {
        !self.contents[slot.index()].is_unset()
    }

    /// The string that came from outside, if it is one.
    pub(crate) fn text(&self, slot: Slot) -> Option<&[u8]> {
        let is_text = self.contents[slot.index()].is_text();
        is_text.then(|| self.texts[slot.index()].text.as_slice())
    }

    /// Appends the variable's text, as a statement or a parameter has it; false, and nothing
    /// appended, if it does not exist.
    #[inline]
    pub fn write(&self, slot: Slot, out: &mut impl BufMut) -> bool {
        let content = self.contents[slot.index()];
        if content.is_value() {
            content.value().write(out);
        } else if content.is_text() {
            out.put_slice(&self.texts[slot.index()].text);
        }
        !content.is_unset()
    }

    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, value: Packed) {
        self.contents[slot.index()] = value;
    }

    /// Stores a string, reusing the room of the one before it.
    pub fn set_text(&mut self, slot: Slot, new: &[u8]) {
        let Text { text, value } = &mut self.texts[slot.index()];
        text.clear();
        text.extend_from_slice(new);
        *value = Value::from_text(new);
        self.contents[slot.index()] = Packed::TEXT;
    }
}
