//! `plan.json` and the scripts as used. Secrets are written as `***` (I6).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pgsurge_common::plan::split::Share;
use pgsurge_common::plan::{Plan, plan_digest, workload_digest};
use serde_json::{Value, json};

/// Writes the scripts into a folder, each to a file of its own; an error comes with its path.
pub(super) fn write_scripts(folder: &Path, plan: &Plan) -> Result<(), (PathBuf, io::Error)> {
    let scripts = folder.join("scripts");
    fs::create_dir(&scripts).map_err(|error| (scripts, error))?;
    for (number, script) in plan.workload.scripts.iter().enumerate() {
        let path = folder.join(script_path(number, &script.name));
        fs::write(&path, &script.text).map_err(|error| (path, error))?;
    }
    Ok(())
}

/// Writes the plan, with the split over agents as far as it is known.
pub(super) fn write_plan(
    folder: &Path,
    plan: &Plan,
    shares: &[Share],
) -> Result<(), (PathBuf, io::Error)> {
    let path = folder.join("plan.json");
    document(plan, shares).and_then(|text| fs::write(&path, text)).map_err(|error| (path, error))
}

/// The plan with the scripts' texts replaced by the names of their files.
fn document(plan: &Plan, shares: &[Share]) -> io::Result<String> {
    let mut value = serde_json::to_value(plan)?;
    if let Some(Value::Array(scripts)) = value.pointer_mut("/workload/scripts") {
        for (number, script) in scripts.iter_mut().enumerate() {
            let name = script.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Value::Object(fields) = script {
                fields.remove("text");
                fields.insert("file".into(), json!(script_path(number, &name)));
            }
        }
    }
    let document = json!({
        "schema": "pgsurge.plan/1",
        "plan_digest": plan_digest(plan, shares),
        "workload_digest": workload_digest(plan),
        "plan": value,
        "shares": shares,
    });
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// `scripts/1-name.sql`: the number keeps names apart, the name is reduced to what any file system takes.
fn script_path(number: usize, name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    let last = last.strip_suffix(".sql").unwrap_or(last);
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { ' ' };
    let words: String = last.chars().map(plain).take(60).collect();
    let words: Vec<&str> = words.split_whitespace().collect();
    format!("scripts/{}-{}.sql", number + 1, words.join("-"))
}

#[cfg(test)]
mod tests {
    use super::script_path;

    #[test]
    fn script_files_have_plain_names() {
        let cases = [
            ("<builtin: TPC-B (sort of)>", "scripts/1-builtin-TPC-B-sort-of.sql"),
            ("../../etc/pass wd.sql", "scripts/1-pass-wd.sql"),
            ("-", "scripts/1--.sql"),
            ("", "scripts/1-.sql"),
        ];
        for (name, expected) in cases {
            assert_eq!(script_path(0, name), expected);
        }
    }
}
