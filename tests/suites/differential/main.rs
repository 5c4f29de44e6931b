//! pgbench as the oracle: every case below `cases/` through pgbench 15 and 18 and through pgsurge, on one host
//! and on two. What is meant to differ stands in `docs/pgbench-differences.md`.

#![allow(clippy::unwrap_used)]

mod page;
mod parsers;

use pgsurge_tests::differential::case::{Case, parse};
use pgsurge_tests::differential::field::examine;
use pgsurge_tests::postgres::Version;
use pgsurge_tests::sources::repository;
use pgsurge_tests::turn;

/// All cases, in the order of the files' names.
fn cases() -> Vec<Case> {
    let folder = repository().join("tests/suites/differential/cases");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        parse(&name, &std::fs::read_to_string(path).unwrap()).unwrap_or_else(|e| panic!("{e}"))
    };
    paths.into_iter().flat_map(read).collect()
}

#[test]
fn pgsurge_does_what_pgbench_18_does() {
    agrees(Version::V18);
}

#[test]
fn pgsurge_does_what_pgbench_15_does_as_far_as_18_still_does_it() {
    agrees(Version::V15);
}

fn agrees(version: Version) {
    let _turn = turn::take();
    let cases = cases();
    let wrong = examine(version, &cases);
    let count = wrong.len();
    assert!(wrong.is_empty(), "\n{}\n{count} complaints", wrong.join("\n\n"));
}

#[test]
fn cases_have_names_of_their_own() {
    let mut ids: Vec<String> = cases().into_iter().map(|case| case.id).collect();
    ids.sort();
    let twice: Vec<_> = ids.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
