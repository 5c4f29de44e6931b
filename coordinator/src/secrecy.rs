//! Keeps what this process knows to itself: passwords and keys are in its memory while it runs.
//!
//! A process that the kernel does not dump leaves no core file with them, whatever `ulimit -c` and the core
//! handler of the host say, and no other process of the same user can read its memory or environment, where
//! `PGPASSWORD` may be. The price is that debuggers and profilers need root, or the variable below.

use std::io;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Set to `1`, this variable leaves the process open to debuggers, profilers and core dumps.
pub const OPEN: &str = "PGSURGE_DUMPABLE";

/// To be called before a secret is read.
///
/// # Errors
/// The kernel refuses, which no kernel in use does.
pub fn keep_memory_private(open: Option<&str>) -> io::Result<()> {
    if open == Some("1") {
        return Ok(());
    }
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use rustix::process::dumpable_behavior;

    use super::*;

    #[test]
    fn memory_is_private_unless_the_user_opens_it() {
        let before = dumpable_behavior().unwrap();
        keep_memory_private(Some("1")).unwrap();
        assert_eq!(dumpable_behavior().unwrap(), before);
        keep_memory_private(None).unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        set_dumpable_behavior(before).unwrap();
    }
}
