//! The rules of the house that no compiler checks: who may know whom, and what every file owes its
//! reader. Reads manifests and sources as text; knows nothing of what the code does.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use pgsurge_tests::sources::{Source, repository, rust_sources, scripts};
use serde_json::Value;

/// For each package: the packages of this workspace it may name, and the crates it must not.
const MAY_KNOW: &[(&str, &[&str], &[&str])] = &[
    ("pgsurge-common", &[], &["tonic", "prost", "tokio", "hyper", "rustix", "socket2"]),
    ("pgsurge-proto", &["pgsurge-common"], &["tokio-postgres", "postgres-protocol"]),
    ("pgsurge-agent", &["pgsurge-common", "pgsurge-proto"], &["tokio-postgres", "clap"]),
    (
        "pgsurge-coordinator",
        &["pgsurge-common", "pgsurge-proto", "pgsurge-agent"],
        &["postgres-protocol"],
    ),
    (
        "pgsurge-tests",
        &["pgsurge-common", "pgsurge-proto", "pgsurge-agent", "pgsurge-coordinator"],
        &[],
    ),
];

/// For each part of the tree: words that must not stand in its code, the files excused, the reason.
const MUST_NOT_NAME: &[(&str, &[&str], &[&str], &str)] = &[
    (
        "coordinator/src/",
        &["pgsurge_agent"],
        &["coordinator/src/main.rs", "coordinator/src/local.rs"],
        "only the binary's own files import the agent",
    ),
    ("agent/src/", &["pgsurge_coordinator"], &[], "the agent knows nothing of the coordinator"),
    (
        "agent/src/wire/",
        &["crate::client", "crate::worker", "crate::session", "crate::load", "pgsurge_proto"],
        &[],
        "the wire carries messages and knows neither scripts nor the fleet",
    ),
    (
        "agent/src/client/",
        &["crate::session", "pgsurge_proto"],
        &[],
        "a client executes scripts and does not know who asked for it",
    ),
    (
        "agent/src/worker/",
        &["crate::session", "pgsurge_proto"],
        &[],
        "the hot path does not know the fleet",
    ),
    (
        "common/src/",
        &["std::net::Tcp", "std::fs", "Instant::now", "SystemTime::now", "std::env"],
        &[],
        "what both sides agree on has no network, no files, no clock",
    ),
    (
        "coordinator/src/merge/",
        &["tokio", "tonic", "std::fs"],
        &[],
        "merging is a plain function over plain data",
    ),
    (
        "coordinator/src/verdict/",
        &["tokio", "tonic", "std::fs", "Instant::now"],
        &[],
        "judging is a plain function over plain data",
    ),
    (
        "tests/suites/",
        &["thread::sleep", "time::sleep"],
        &["tests/suites/tidy.rs"],
        "a test waits for a condition, with a deadline, never for time to pass",
    ),
];

/// Kubernetes injects these names for a Service that is called pgsurge.
const INJECTED_NAMES: [&str; 2] = ["PGSURGE_PORT", "PGSURGE_SERVICE_"];

/// Longer files are to become rooms of their own.
const MOST_LINES: usize = 400;

#[test]
fn packages_depend_only_on_those_below_them() {
    let packages = packages();
    for (name, may, must_not) in MAY_KNOW {
        let dependencies = &packages[*name];
        for dependency in dependencies.iter().filter(|d| d.starts_with("pgsurge-")) {
            assert!(may.contains(&dependency.as_str()), "{name} must not depend on {dependency}");
        }
        for banned in *must_not {
            let found = dependencies.iter().find(|d| is_family(d, banned));
            assert!(found.is_none(), "{name} must not depend on {found:?}");
        }
    }
    assert_eq!(packages.len(), MAY_KNOW.len(), "a package without a rule: {:?}", packages.keys());
}

#[test]
fn files_name_only_rooms_they_may_know() {
    let sources = rust_sources();
    let mut broken = Vec::new();
    for (room, words, excused, reason) in MUST_NOT_NAME {
        for source in sources.iter().filter(|s| s.path.starts_with(room)) {
            if excused.contains(&source.path.as_str()) {
                continue;
            }
            for (number, line) in source.code_lines() {
                if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                    broken.push(format!("{}:{number}: {word}: {reason}", source.path));
                }
            }
        }
    }
    assert_none(&broken);
}

#[test]
fn every_source_opens_with_what_it_is_and_stays_short() {
    let mut broken = Vec::new();
    for Source { path, text } in rust_sources() {
        if !text.starts_with("//! ") {
            broken.push(format!("{path}: does not open with //!"));
        }
        let lines = text.lines().count();
        if lines > MOST_LINES {
            broken.push(format!("{path}: {lines} lines, more than {MOST_LINES}"));
        }
    }
    assert_none(&broken);
}

#[test]
fn no_setting_has_a_name_that_kubernetes_injects() {
    let own_rule = Path::new(file!()).file_name().unwrap().to_str().unwrap();
    let mut broken = Vec::new();
    for source in rust_sources().iter().filter(|s| !s.path.ends_with(own_rule)) {
        let own_tests = |line: &str| line.trim() == "#[cfg(test)]";
        for (number, line) in source.code_lines().take_while(|(_, line)| !own_tests(line)) {
            let named = INJECTED_NAMES.iter().find(|name| {
                line.split('"')
                    .any(|word| word == **name || name.ends_with('_') && word.starts_with(*name))
            });
            if let Some(name) = named {
                broken.push(format!("{}:{number}: {name}", source.path));
            }
        }
    }
    assert_none(&broken);
}

#[test]
fn members_take_versions_and_lints_from_the_workspace() {
    let mut broken = Vec::new();
    for name in packages().keys() {
        let path = format!("{}/Cargo.toml", name.trim_start_matches("pgsurge-"));
        let manifest = std::fs::read_to_string(repository().join(&path)).unwrap();
        let (mut section, mut has_lints) = (String::new(), false);
        for line in manifest.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'))
        {
            if line.starts_with('[') {
                line.clone_into(&mut section);
            } else if section.contains("dependencies") && !line.contains("workspace = true") {
                broken.push(format!("{path}: a version of its own: {line}"));
            } else if section == "[lints]" && line == "workspace = true" {
                has_lints = true;
            }
        }
        if !has_lints {
            broken.push(format!("{path}: does not take the workspace's lints"));
        }
    }
    assert_none(&broken);
}

#[test]
fn every_script_says_what_it_is_and_stops_at_errors() {
    let scripts = scripts();
    assert!(scripts.iter().any(|s| s.path == "tests/run"), "the scripts were not found");
    let mut broken = Vec::new();
    for Source { path, text } in scripts {
        let mut lines = text.lines();
        if !lines.next().is_some_and(|l| l.starts_with("#!")) {
            continue; // sourced by others, under their settings
        }
        if !lines.next().is_some_and(|l| l.starts_with("# ")) {
            broken.push(format!("{path}: does not open with what it is"));
        }
        if !lines.any(|l| l == "set -euo pipefail") {
            broken.push(format!("{path}: does not stop at errors"));
        }
    }
    assert_none(&broken);
}

#[test]
fn documents_name_only_files_that_exist() {
    let mut broken = Vec::new();
    for Source { path, text } in pgsurge_tests::sources::documents() {
        let words = text.split('`').skip(1).step_by(2).filter(|word| is_path_of_this_tree(word));
        let beside = Path::new(&path).parent().unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let links = links.filter(|link| !link.is_empty() && !link.contains("://"));
        let named = words.map(PathBuf::from).chain(links.map(|link| beside.join(link)));
        for missing in named.filter(|named| !repository().join(named).exists()) {
            broken.push(format!("{path}: names {}, which does not exist", missing.display()));
        }
    }
    assert_none(&broken);
}

/// Whether a word in backticks can only mean a path of this repository.
fn is_path_of_this_tree(word: &str) -> bool {
    let rooms = ["agent/", "common/", "coordinator/", "deploy/", "docs/", "proto/", "tests/"];
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    rooms.iter().any(|room| word.starts_with(room)) && word.chars().all(plain)
}

/// `tonic-prost` is of the family `tonic`; `tokio-postgres` also of `postgres`.
fn is_family(crate_name: &str, family: &str) -> bool {
    crate_name == family || crate_name.starts_with(&format!("{family}-"))
}

/// Every package of the workspace with the names of its dependencies for use, not for its own tests.
fn packages() -> BTreeMap<String, Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(repository())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let dependencies = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        let used = all.filter(|d| d["kind"].as_str() != Some("dev"));
        used.map(|d| d["name"].as_str().unwrap().to_owned()).collect()
    };
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|p| (p["name"].as_str().unwrap().to_owned(), dependencies(p))).collect()
}

fn assert_none(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}
