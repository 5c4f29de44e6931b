//! Conversion between wire and domain: by hand, field by field, so that a field that is added on one side
//! does not compile until the other side knows what to do with it.

mod logs;
mod message;
mod plan;
mod run;
mod stats;
mod target;
mod totals;

#[cfg(test)]
mod tests;
