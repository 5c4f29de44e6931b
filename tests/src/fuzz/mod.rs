//! Everything that takes apart bytes of strangers, as functions of bytes that must return: for libFuzzer
//! (`tests/fuzz`), and for the suites, which replay the corpora there and mutations of them.
//!
//! A target panics only where an invariant that it states is broken. Knows no fuzzer.

mod fleet;
mod language;
mod mutate;
mod server;
mod target;

pub use mutate::mutations;

/// A name, as the folder of the corpus has it, and what takes the bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: &[Target] = &[
    ("script", language::script),
    ("expression", language::expression),
    ("cutting", language::cutting),
    ("backend", server::backend),
    ("scram", server::scram),
    ("conninfo", target::conninfo),
    ("files", target::files),
    ("agent_message", fleet::agent_message),
    ("coordinator_message", fleet::coordinator_message),
    ("histogram", fleet::histogram),
];
