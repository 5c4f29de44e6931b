//! Feeds libFuzzer's bytes to the target that `PGSURGE_FUZZ` names. One program for all of them: each would link
//! the whole workspace again.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pgsurge_tests::fuzz::TARGETS;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let wanted = std::env::var("PGSURGE_FUZZ").unwrap_or_default();
    let found = TARGETS.iter().find(|(name, _)| *name == wanted);
    found.unwrap_or_else(|| panic!("PGSURGE_FUZZ names no target: {wanted:?}")).1
});

fuzz_target!(|bytes: &[u8]| TARGET(bytes));
