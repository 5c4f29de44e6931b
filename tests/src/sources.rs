//! The repository as text, for the tests that check its rules.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One file of the repository.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path from the repository's root, with `/`.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

impl Source {
    /// Lines with their numbers from 1, without those that are comments as a whole.
    pub fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.text.lines().enumerate().map(|(index, line)| (index + 1, line));
        numbered.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// The repository's root.
#[must_use]
pub fn repository() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package lies in the repository")
}

/// All Rust files that belong to the repository.
#[must_use]
pub fn rust_sources() -> Vec<Source> {
    read(|path| path.extension().is_some_and(|e| e == "rs"))
}

/// All shell scripts, whatever their names.
#[must_use]
pub fn scripts() -> Vec<Source> {
    let folders = [".ci/", "deploy/", "tests/"];
    let candidates = read(|path| {
        let plain = path.extension().is_none_or(|e| e == "sh");
        plain && folders.iter().any(|folder| path.starts_with(folder))
    });
    candidates.into_iter().filter(|s| s.text.starts_with("#!") && s.text.contains("bash")).collect()
}

/// All documents.
#[must_use]
pub fn documents() -> Vec<Source> {
    read(|path| path.extension().is_some_and(|e| e == "md"))
}

/// The files that git knows or would add, so that build results and scratch files do not count.
fn read(wanted: impl Fn(&Path) -> bool) -> Vec<Source> {
    let output = Command::new("git")
        .args([
            "-c",
            "safe.directory=*",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(repository())
        .output()
        .expect("git lists the repository's files");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let listing = String::from_utf8(output.stdout).expect("file names are UTF-8");
    let mut paths: Vec<PathBuf> = listing.split_terminator('\0').map(PathBuf::from).collect();
    paths.sort();
    paths.dedup();
    let source = |path: PathBuf| {
        let text = std::fs::read_to_string(repository().join(&path)).ok()?;
        Some(Source { path: path.to_string_lossy().into_owned(), text })
    };
    paths.into_iter().filter(|path| wanted(path)).filter_map(source).collect()
}
