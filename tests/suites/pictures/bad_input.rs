//! Folders that are not results: one line that says why, and nothing written.

use std::path::Path;
use std::time::Duration;

use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::process::Running;

const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn refused(folder: &Path) -> String {
    let mut command = pgsurge(&["report", folder.to_str().unwrap()]);
    let finished = Running::run("report", &mut command, PATIENCE).expect_code(1);
    assert_eq!(finished.stdout, "");
    assert!(!folder.join("report.html").exists());
    assert_eq!(finished.stderr.lines().count(), 1, "{finished}");
    finished.stderr
}

#[test]
fn a_folder_that_holds_no_results_is_named() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(folder.path()).contains("holds no results"));
    assert!(refused(&folder.path().join("nowhere")).contains("holds no results"));
}

#[test]
fn a_summary_that_is_none_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (text, what) in [
        ("{", "EOF"),
        ("[]", "schema none"),
        ("{\"schema\": \"pgsurge.summary/2\"}", "is of schema pgsurge.summary/2"),
        ("{\"schema\": \"pgsurge.summary/1\"}", "missing field"),
    ] {
        std::fs::write(folder.path().join("summary.json"), text).unwrap();
        let line = refused(folder.path());
        assert!(line.contains(what) && line.contains("summary.json"), "{text}: {line}");
    }
}
