//! What `--version` says.

use std::sync::LazyLock;

use pgsurge_proto::PROTOCOL_VERSION;

static NUMBER: LazyLock<String> = LazyLock::new(|| {
    let (number, commit) = (env!("CARGO_PKG_VERSION"), env!("PGSURGE_COMMIT"));
    format!("{number} ({commit}, fleet protocol {PROTOCOL_VERSION})")
});

/// The version with the commit it was built from and the version of the fleet protocol, which must be the same
/// on coordinator and agents.
#[must_use]
pub fn number() -> &'static str {
    &NUMBER
}

/// `--version`.
#[must_use]
pub fn line() -> String {
    format!("pgsurge {}\n", number())
}
