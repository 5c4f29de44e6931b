//! The summary document and the results folder.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Interval, Phase};
use serde_json::Value;

use super::fixture::{self, PASSWORD};
use super::summary::{self, Summary};
use super::{Choice, Folder, ResultsError, RunResult};
use crate::experiment::compare::Comparison;
use crate::experiment::{capacity, sweep, tune};
use crate::merge::{ClusterInterval, Missing};

const SECOND: Duration = Duration::from_secs(1);
const MISSING: Missing = Missing { agent: AgentId(0), first: 3, count: 1 };

fn document(run: &RunResult) -> Value {
    serde_json::to_value(Summary::from(run)).expect("a summary is plain JSON")
}

/// Set `PGSURGE_UPDATE=1` to write the files anew.
#[test]
fn the_committed_schemas_are_those_that_the_code_makes() {
    let made = [
        ("summary", summary::schema()),
        ("compare", Comparison::schema()),
        ("capacity", capacity::Answer::schema()),
        ("sweep", sweep::Answer::schema()),
        ("tune", tune::Answer::schema()),
    ];
    for (name, schema) in made {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/{name}.schema.json"));
        if std::env::var_os("PGSURGE_UPDATE").is_some() {
            fs::write(&path, &schema).expect("the repository is writable");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == schema, "{} is out of date", path.display());
    }
}

#[test]
fn summaries_keep_to_the_schema_and_read_back_as_they_were() {
    let schema = serde_json::from_str(&summary::schema()).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema is a schema");
    let mut failed = fixture::cluster();
    failed.merged.aborted_clients = 2;
    failed.missing = vec![MISSING];
    failed.judge();
    for run in [fixture::local(), fixture::cluster(), failed] {
        let document = document(&run);
        assert_eq!(validator.validate(&document).map_err(|e| e.to_string()), Ok(()));
        let back: Summary = serde_json::from_value(document).expect("it was one");
        assert_eq!(back, Summary::from(&run));
    }
    assert!(!validator.is_valid(&serde_json::json!({ "schema": summary::SCHEMA })));
}

#[test]
fn the_keys_that_others_rely_on_are_there() {
    let mut run = fixture::cluster();
    run.plan.workload.report_per_command = true;
    run.missing = vec![MISSING];
    run.judge();
    let document = document(&run);
    let latency = ["mean", "stddev", "min", "p50", "p90", "p95", "p99", "p99_9", "max"];
    let keys: [(&str, &[&str]); 15] = [
        ("", &["schema", "run_id", "status", "exit_code", "config", "plan_digest"]),
        ("", &["workload_digest", "totals", "connections", "agents", "scripts", "statements"]),
        ("", &["intervals", "server", "verdict"]),
        ("/totals", &["transactions", "failed", "skipped", "retried", "retries"]),
        ("/totals", &["duration_s", "tps", "latency_ms", "service_ms", "lag_ms"]),
        ("/totals/latency_ms", &latency),
        ("/totals/service_ms", &latency),
        ("/connections", &["wanted", "obtained", "seconds", "latency_ms"]),
        ("/agents/0", &["name", "clients", "workers", "transactions", "tps", "latency_ms"]),
        ("/agents/0", &["cpu_fraction", "start_offset_us", "clock_error_us", "lost"]),
        ("/scripts/1", &["name", "weight", "transactions", "failed", "latency_ms"]),
        ("/intervals/0", &["t_s", "transactions", "failed", "tps", "p50_ms", "p99_ms"]),
        ("/intervals/0", &["clients", "agents", "complete"]),
        ("/server", &["version", "xact_commit_delta", "settings"]),
        ("/verdict/findings/0", &["code", "severity", "value", "threshold", "message"]),
    ];
    for (place, keys) in keys {
        for key in keys {
            let value = document.pointer(&format!("{place}/{key}"));
            assert!(value.is_some(), "{place}/{key} is missing");
        }
    }
    assert_eq!(document["exit_code"], 3);
    assert_eq!(document["verdict"]["valid"], false);
}

/// A folder for tests, and a place in it where results may go.
fn place() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("there is room for a folder");
    let place = dir.path().join("results/mine");
    (dir, place)
}

/// Names of what is in a folder.
fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it can be read");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("as above"))).collect();
    names.sort();
    names
}

fn folder(place: &Path) -> Folder {
    Folder::create(place, &fixture::plan(), SECOND).expect("nothing is there")
}

fn second(phase: Phase, index: u32) -> ClusterInterval {
    let mut interval = Interval::new(phase, index, 0, false);
    interval.counts.transactions = 3;
    interval.response = fixture::latencies(3);
    interval.errors.add("40001", 2);
    interval.errors.add("40P01", 1);
    fixture::ready(interval, 1)
}

#[test]
fn a_whole_run_leaves_a_whole_folder_under_its_own_name() {
    let (_dir, place) = place();
    let run = fixture::local();
    let mut folder = folder(&place);
    assert_eq!(listing(place.parent().expect("it has one")), ["mine.partial"]);
    folder.begin(SystemTime::UNIX_EPOCH);
    folder.record(&second(Phase::Warmup, 0));
    folder.record(&second(Phase::Measure, 0));
    assert_eq!(folder.finish(&run, |_| Ok(())).expect("there is room"), place);

    assert_eq!(listing(place.parent().expect("it has one")), ["mine"]);
    let expected =
        ["agents.csv", "intervals.csv", "latency.hlog", "plan.json", "scripts", "summary.json"];
    assert_eq!(listing(&place), expected);
    assert_eq!(listing(&place.join("scripts")), ["1-builtin-TPC-B-sort-of.sql"]);
    let csv = fs::read_to_string(place.join("intervals.csv")).expect("it is text");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("phase,t_s,width_s,transactions,failed,"), "{csv}");
    assert!(lines[1].starts_with("warmup,0.0,1.0,3,"), "{csv}");
    assert!(lines[2].starts_with("measure,0.0,1.0,3,"), "{csv}");
    assert!(lines[2].ends_with(",40001:2 40P01:1"), "{csv}");
    let summary = fs::read_to_string(place.join("summary.json")).expect("it is text");
    let summary: Summary = serde_json::from_str(&summary).expect("it is one");
    assert_eq!(summary, Summary::from(&run));
}

#[test]
fn no_file_holds_the_password() {
    let (_dir, place) = place();
    let run = fixture::local();
    let mut folder = folder(&place);
    folder.begin(SystemTime::UNIX_EPOCH);
    folder.finish(&run, |_| Ok(())).expect("there is room");
    for name in ["intervals.csv", "latency.hlog", "plan.json", "summary.json"] {
        let text = fs::read_to_string(place.join(name)).expect("it is text");
        assert!(!text.contains(PASSWORD), "{name}");
    }
    let plan = fs::read_to_string(place.join("plan.json")).expect("it is text");
    let plan: Value = serde_json::from_str(&plan).expect("it is JSON");
    assert_eq!(plan["plan"]["target"]["password"], "***");
    let script = &plan["plan"]["workload"]["scripts"][0];
    assert_eq!(script["file"], "scripts/1-builtin-TPC-B-sort-of.sql");
    assert_eq!(script.get("text"), None);
    assert_eq!(plan["shares"][0]["workers"][0]["clients"], 2);
    assert!(!format!("{run:?}").contains(PASSWORD));
}

#[test]
fn results_of_others_are_never_touched() {
    let (_dir, place) = place();
    fs::create_dir_all(&place).expect("there is room for a folder");
    let refused = Folder::create(&place, &fixture::plan(), SECOND);
    assert!(matches!(refused, Err(ResultsError::Exists(_))));

    fs::remove_dir(&place).expect("it is empty");
    let mut folder = folder(&place);
    folder.begin(SystemTime::UNIX_EPOCH);
    fs::create_dir(&place).expect("there is room for a folder");
    let refused = folder.finish(&fixture::local(), |_| Ok(()));
    assert!(matches!(refused, Err(ResultsError::Taken { .. })), "{refused:?}");
    assert_eq!(listing(&place), [""; 0]);
    assert!(place.with_file_name("mine.partial").join("summary.json").exists());
}

#[test]
fn the_remains_of_an_earlier_run_are_in_nobodys_way() {
    let (_dir, place) = place();
    fs::create_dir_all(place.with_file_name("mine.partial")).expect("there is room for a folder");
    let mut folder = folder(&place);
    folder.begin(SystemTime::UNIX_EPOCH);
    folder.finish(&fixture::local(), |_| Ok(())).expect("there is room");
    assert_eq!(listing(place.parent().expect("it has one")), ["mine", "mine.partial"]);
}

#[test]
fn two_runs_cannot_have_one_folder_and_the_second_learns_it_before_it_begins() {
    let (_dir, place) = place();
    fs::create_dir_all(place.with_file_name("mine.partial")).expect("there is room for a folder");
    let first = folder(&place);
    let refused = Folder::create(&place, &fixture::plan(), SECOND).expect_err("there is a run");
    let text = refused.to_string();
    assert!(text.starts_with("another run is writing its results to"), "{text}");
    assert!(text.contains("mine.partial-2)"), "{text}");
    drop(first);
    drop(folder(&place));
    assert_eq!(listing(place.parent().expect("it has one")), ["mine.partial"]);
}

#[test]
fn a_run_that_never_began_leaves_nothing() {
    let (_dir, place) = place();
    drop(folder(&place));
    assert_eq!(listing(place.parent().expect("it has one")), [""; 0]);
}

#[test]
fn a_run_that_broke_off_leaves_a_folder_that_says_so() {
    let (_dir, place) = place();
    let mut folder = folder(&place);
    folder.begin(SystemTime::UNIX_EPOCH);
    folder.record(&second(Phase::Measure, 0));
    drop(folder);
    assert_eq!(listing(place.parent().expect("it has one")), ["mine.partial"]);
}

#[test]
fn a_named_folder_that_cannot_be_made_is_an_error() {
    let (dir, _) = place();
    let file = dir.path().join("file");
    fs::write(&file, "").expect("there is room for a file");
    let choice = Choice::Folder(file.join("below"));
    let refused = Folder::open(&choice, &fixture::plan(), SECOND, |_| ());
    assert!(matches!(refused, Err(ResultsError::Unwritable { .. })), "{refused:?}");
    let nowhere = Folder::open(&Choice::Nowhere, &fixture::plan(), SECOND, |_| ());
    assert!(nowhere.is_ok_and(|folder| folder.is_none()));
}

/// `/dev/full` is a disk without room.
#[test]
fn a_full_disk_is_reported_at_the_end_and_the_folder_stays_partial() {
    let (_dir, place) = place();
    let folder = folder(&place);
    let partial = place.with_file_name("mine.partial");
    std::os::unix::fs::symlink("/dev/full", partial.join("intervals.csv")).expect("a new name");
    let mut folder = folder;
    assert_eq!(folder.begin(SystemTime::UNIX_EPOCH), None);
    // A row is written when the next one comes.
    assert_eq!(folder.record(&second(Phase::Measure, 0)), None);
    let news = folder.record(&second(Phase::Measure, 1)).expect("it is told at once");
    assert!(news.contains("intervals.csv: No space left on device"), "{news}");
    assert_eq!(folder.record(&second(Phase::Measure, 2)), None, "and once");
    let error = folder.finish(&fixture::local(), |_| Ok(())).expect_err("no row could be written");
    let text = format!("{error}: {}", error.source().expect("the system said something"));
    assert!(text.contains("intervals.csv: No space left on device"), "{text}");
    assert!(text.contains("stays in ") && text.contains("mine.partial"), "{text}");
    assert_eq!(listing(place.parent().expect("it has one")), ["mine.partial"]);
}
