//! Tells the program which commit it is built from. A release says it exactly; a development build, which
//! would have to be made anew after each commit to say it, calls itself one.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PGSURGE_COMMIT");
    println!("cargo:rustc-env=PGSURGE_COMMIT={}", commit());
}

fn commit() -> String {
    // Where there is no repository to ask: in a container's build, for one.
    if let Some(given) = env("PGSURGE_COMMIT").filter(|given| !given.is_empty()) {
        return given;
    }
    if env("PROFILE").is_none_or(|profile| profile != "release") {
        return "development build".to_owned();
    }
    // What the answer depends on: where HEAD is, and whether a source differs from it.
    for of_git in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", of_git]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    for source in ["../agent", "../common", "../proto", "../Cargo.lock", "src", "build.rs"] {
        println!("cargo:rerun-if-changed={source}");
    }
    let Some(hash) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown commit".to_owned();
    };
    let changed =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|s| !s.is_empty());
    format!("commit {hash}{}", if changed { " with changes" } else { "" })
}

fn env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
