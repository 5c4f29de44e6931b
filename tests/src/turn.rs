//! One at a time: tests that want the whole of a small machine wait for each other, also where the
//! runner starts several at once (plain `cargo test` has no groups).

use std::fs::File;

/// While it lives, no other test has a turn.
#[derive(Debug)]
pub struct Turn {
    _lock: File,
}

/// Waits for a turn; the lock goes with the process that holds it.
///
/// # Panics
/// If the lock's file cannot be made.
#[must_use]
pub fn take() -> Turn {
    let own = std::env::current_exe().expect("a running program has a path");
    let path = own.with_file_name("one-at-a-time.lock");
    let lock = File::create(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    lock.lock().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Turn { _lock: lock }
}
