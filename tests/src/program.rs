//! Where the programs under test are: beside the executable of the test that asks, so that a test
//! never runs a build of another profile or checkout.

use std::path::PathBuf;

/// The binary `pgsurge` of this build.
///
/// # Panics
/// If it has not been built; `tests/run` builds it before the tests.
#[must_use]
pub fn pgsurge() -> PathBuf {
    beside_this_test("pgsurge")
}

/// A program of this build by name.
///
/// # Panics
/// If it has not been built.
#[must_use]
pub fn beside_this_test(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    // Tests lie in target/<profile>/deps, programs one level up; a program looks beside itself.
    let places = own.ancestors().skip(1).take(2).map(|folder| folder.join(name));
    places.into_iter().find(|path| path.is_file()).unwrap_or_else(|| {
        panic!("{name} is not built beside {}: cargo build --workspace --bins", own.display())
    })
}
