//! Findings of the verdict, brought about by real runs: those that take seconds. `tests/findings` shows all.

use pgsurge_tests::process::{self, Running};
use pgsurge_tests::program::beside_this_test;
use pgsurge_tests::turn;

use super::fixture::PATIENCE;

#[test]
fn what_can_be_brought_about_within_seconds_is_found() {
    let _turn = turn::take();
    let codes = [
        "clients-aborted",
        "clients-missing",
        "count-mismatch",
        "cut-short",
        "no-transactions",
        "outage",
        "short-run",
    ];
    let mut command = process::command(beside_this_test("pgsurge-findings"));
    command.args(codes);
    let finished = Running::run("findings", &mut command, PATIENCE).expect_code(0);
    assert!(finished.stdout.contains("7 of 7 findings were shown"), "{finished}");
}
