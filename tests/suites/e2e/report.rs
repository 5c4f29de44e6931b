//! stdout as the real pgbench 18 prints it: the same lines for the same command line, figures aside.

use std::path::Path;
use std::process::Command;

use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Finished, Running};
use pgsurge_tests::turn;

use super::fixture::{PATIENCE, code_after, write_scripts};

const CASES: &str = include_str!("cases/report.txt");

fn run(name: &str, mut command: Command, arguments: &[&str], folder: &Path) -> Finished {
    Running::run(name, command.args(arguments).current_dir(folder), PATIENCE)
}

/// pgbench's lines without their figures; the banner and what follows pgbench's part are left out.
fn masked(stdout: &str) -> Vec<String> {
    let ours = stdout.split("\nrun ").next().unwrap_or_default();
    ours.trim_end().lines().skip(1).map(mask).collect()
}

/// Every number becomes `N`, and every run of blanks one: a figure's width is its own business.
fn mask(line: &str) -> String {
    let mut masked = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { 'N' } else { c };
        if !(matches!(c, 'N' | ' ') && masked.ends_with(c)) {
            masked.push(c);
        }
    }
    masked
}

#[test]
fn stdout_has_the_lines_of_pgbench_18() {
    let _turn = turn::take();
    let server = Postgres::start(Version::V18, &Settings::new());
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let init = ["-i", "-q", "-s", "1", "--partitions=3"];
    let _ = run("init", server.command("pgbench"), &init, folder.path()).expect_code(0);
    let uri = server.uri();
    for case in CASES.lines().filter(|line| !line.starts_with('#')) {
        let arguments: Vec<&str> = case.split_whitespace().collect();
        let theirs = run("pgbench", server.command("pgbench"), &arguments, folder.path());
        let mut own = arguments.clone();
        own.extend(["--no-results", &uri]);
        let ours = run("pgsurge", pgsurge::<&str>(&[]), &own, folder.path());
        assert_eq!(masked(&ours.stdout), masked(&theirs.stdout), "{case}\n{theirs}\n{ours}");
        assert_eq!(ours.code(), code_after(&theirs), "{case}\n{theirs}\n{ours}");
    }
}

#[test]
fn parsers_that_look_for_tps_find_pgbenchs_line_and_no_other() {
    let _turn = turn::take();
    let server = Postgres::start(Version::V18, &Settings::new());
    let arguments = ["-f", "one.sql", "-n", "-t", "20", "--no-results", &server.uri()];
    let folder = tempfile::tempdir().unwrap();
    write_scripts(folder.path());
    let ours = run("pgsurge", pgsurge::<&str>(&[]), &arguments, folder.path()).expect_code(0);
    let lines: Vec<&str> = ours.stdout.lines().filter(|line| line.contains("tps")).collect();
    let [line] = lines.as_slice() else { panic!("one line with tps\n{ours}") };
    assert!(line.starts_with("tps = "), "{line}");
    // awk's third field.
    let figure: f64 = line.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!(figure > 0.0, "{line}");
}
