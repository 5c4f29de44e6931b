//! Lines letter by letter, spans of time, and a disk that is full.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use pgsurge_common::ids::{ClientId, RunId};
use pgsurge_common::outcome::ErrorClass;

use super::entry::Columns;
use super::*;

fn columns([lag, retries, kinds, others]: [bool; 4]) -> Columns {
    Columns { lag, retries, kinds, others, connections: false }
}

fn entry(number: u64, at_us: u64, outcome: Outcome) -> Entry {
    let (client, at) = (ClientId(3), RunTime::from_us(at_us));
    Entry { client, number, script: 1, at, outcome, retries: 2 }
}

const DONE: Outcome = Outcome::Done { latency_us: 150, lag_us: 20 };

#[test]
fn a_line_has_the_columns_of_its_options() {
    let none = columns([false, false, false, false]);
    let all = columns([true, true, true, true]);
    for (outcome, columns, line) in [
        (DONE, none, "3 9 150 1 1700000000 45"),
        (DONE, columns([true, false, false, false]), "3 9 150 1 1700000000 45 20"),
        (DONE, all, "3 9 150 1 1700000000 45 20 2"),
        (Outcome::Skipped, none, "3 9 skipped 1 1700000000 45"),
        (Outcome::Skipped, all, "3 9 skipped 1 1700000000 45 0 2"),
        (Outcome::Failed(ErrorClass::Serialization), none, "3 9 failed 1 1700000000 45"),
        (Outcome::Failed(ErrorClass::Serialization), all, "3 9 serialization 1 1700000000 45 0 2"),
        (Outcome::Failed(ErrorClass::Deadlock), all, "3 9 deadlock 1 1700000000 45 0 2"),
        (Outcome::Failed(ErrorClass::Other), all, "3 9 other 1 1700000000 45 0 2"),
        (Outcome::Failed(ErrorClass::Connection), all, "3 9 connection 1 1700000000 45 0 2"),
    ] {
        let mut written = Vec::new();
        entry(9, 45, outcome).write(&mut written, columns, 1_700_000_000_000_045);
        assert_eq!(String::from_utf8(written).unwrap(), line);
    }
}

/// A log into a new file of a folder; 1.7e15 us since the epoch is a whole second.
fn log(folder: &Path, form: Form, columns: Columns) -> (Log, std::path::PathBuf) {
    let prefix = folder.join("log").to_str().unwrap().to_owned();
    let kind = LogKind::Transactions { sampling_rate: None };
    let plan = LogPlan { prefix, kind, failures_detailed: false, collect: false };
    let run = RunId::new("r").unwrap();
    let place = Place { log: &plan, run: &run, anywhere: true };
    let file = place.open(WorkerId(1)).unwrap();
    let path = file.written().path;
    let mut log = Log { file, form, columns, origin_us: 0 };
    log.begin(1_700_000_000_000_000, 0);
    (log, path)
}

fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("pgsurge-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn spans_are_written_when_they_are_over_and_the_last_one_never() {
    let folder = folder("spans");
    let form = Form::Aggregates(Box::new(Aggregates::new(2)));
    let columns = Columns { connections: true, ..columns([true, true, true, false]) };
    let (mut log, path) = log(&folder, form, columns);
    log.begin(1_700_000_000_900_000, 600_000);
    for (at_us, outcome) in [
        (700_000, DONE),
        (800_000, Outcome::Done { latency_us: 50, lag_us: 0 }),
        (900_000, Outcome::Skipped),
        (1_000_000, Outcome::Failed(ErrorClass::Deadlock)),
        (6_200_000, Outcome::Failed(ErrorClass::Other)),
        (6_300_000, Outcome::Failed(ErrorClass::Connection)),
    ] {
        log.record(&Entry { retries: u32::from(at_us == 1_000_000), ..entry(1, at_us, outcome) })
            .unwrap();
    }
    let (totals, finished) = log.finish(RunTime::from_us(8_500_000));
    finished.unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let expected = [
        "1700000001 2 200 25000 50 150 20 400 0 20 1 1 1 0 1 0 0\n",
        "1700000003 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        "1700000005 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        "1700000007 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1\n",
    ];
    assert_eq!(text, expected.concat());
    assert_eq!((totals.lines, totals.bytes), (4, text.len() as u64));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_sample_is_the_share_that_was_asked_for() {
    let folder = folder("sample");
    let sampling = Sampling { rate: 0.25, chance: Generator::from_seed(1) };
    let (mut log, path) =
        log(&folder, Form::Lines(Some(sampling)), columns([false, false, false, false]));
    for number in 1..=10_000 {
        log.record(&entry(number, number, DONE)).unwrap();
    }
    let (totals, finished) = log.finish(RunTime::from_us(20_000));
    finished.unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count() as u64, totals.lines);
    // Four standard deviations of a binomial count.
    assert!(totals.lines.abs_diff(2500) < 174, "{}", totals.lines);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_full_disk_is_told_once_and_every_line_is_counted() {
    let folder = folder("full");
    let name = format!("log.{}.1", std::process::id());
    std::os::unix::fs::symlink("/dev/full", folder.join(name)).unwrap();
    let (mut log, _) = log(&folder, Form::Lines(None), columns([false, false, false, false]));
    let failures: Vec<String> = (1..=10_000)
        .filter_map(|number| log.record(&entry(number, number, DONE)).err())
        .map(|failure| failure.to_string())
        .collect();
    let [failure] = failures.as_slice() else { panic!("{failures:?}") };
    assert!(failure.ends_with("it ends here: No space left on device (os error 28)"), "{failure}");
    let (totals, finished) = log.finish(RunTime::from_us(20_000));
    finished.unwrap();
    let lost = LogTotals { files: 1, lines: 0, bytes: 0, lost_lines: 10_000 };
    assert_eq!(totals, lost);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn files_that_no_run_fills_are_taken_back_and_others_files_are_left_alone() {
    let folder = folder("places");
    let prefix = folder.join("log").to_str().unwrap().to_owned();
    let kind = LogKind::Transactions { sampling_rate: None };
    let plan = LogPlan { prefix, kind, failures_detailed: false, collect: false };
    let run = RunId::new("r7").unwrap();
    let place = Place { log: &plan, run: &run, anywhere: false };
    let path = folder.join(format!("log-r7.{}.4", std::process::id()));
    let file = place.open(WorkerId(4)).unwrap();
    assert_eq!(file.written(), Written { path: path.clone(), worker: WorkerId(4) });
    let refused = place.open(WorkerId(4)).unwrap_err();
    assert_eq!(refused.error.kind(), std::io::ErrorKind::AlreadyExists);
    assert!(path.exists());
    drop(file);
    assert!(!path.exists());
    std::fs::remove_dir_all(folder).unwrap();
}
