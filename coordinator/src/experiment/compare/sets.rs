//! Sets of runs: results folders that repeat the same thing.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::report::summary::read::{ReadError, read};
use crate::report::summary::{RunStatus, Summary};

/// Repeats of one thing.
#[derive(Clone, Debug)]
pub struct Set {
    /// As the user named it.
    pub name: String,
    /// Runs whose figures can be used.
    pub runs: Vec<Summary>,
    /// Those that cannot, with the reason.
    pub left_out: Vec<String>,
}

/// Why there is no set.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// A folder's results cannot be read.
    #[error(transparent)]
    Run(#[from] ReadError),
    /// It holds neither results nor folders with results.
    #[error("{} holds no results, nor folders that do", .0.display())]
    Empty(PathBuf),
    /// It cannot be looked into.
    #[error("cannot look into {}", folder.display())]
    Unreadable {
        /// Which.
        folder: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

impl Set {
    /// From results folders, or folders of results folders, joined by commas.
    ///
    /// # Errors
    /// See [`SetError`].
    pub fn read(text: &str) -> Result<Self, SetError> {
        let mut set = Self { name: text.to_owned(), runs: Vec::new(), left_out: Vec::new() };
        for folder in text.split(',').map(Path::new) {
            for run in runs_in(folder)? {
                set.take(&run, read(&run)?);
            }
        }
        Ok(set)
    }
}

impl Set {
    /// A run that is named twice, or copied, is no repeat of itself.
    fn take(&mut self, folder: &Path, run: Summary) {
        let again = self.runs.iter().any(|there| there.run_id == run.run_id);
        match unusable(&run).or_else(|| again.then(|| "it is there already".to_owned())) {
            None => self.runs.push(run),
            Some(why) => self.left_out.push(format!("{}: {why}", folder.display())),
        }
    }
}

/// The folder itself, or those in it that hold results.
fn runs_in(folder: &Path) -> Result<Vec<PathBuf>, SetError> {
    if folder.join("summary.json").exists() {
        return Ok(vec![folder.to_owned()]);
    }
    let unreadable = |error| SetError::Unreadable { folder: folder.to_owned(), error };
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.join("summary.json").is_file() {
            runs.push(path);
        }
    }
    runs.sort();
    if runs.is_empty() { Err(SetError::Empty(folder.to_owned())) } else { Ok(runs) }
}

fn unusable(summary: &Summary) -> Option<String> {
    let codes: Vec<&str> = summary.verdict.findings.iter().map(|f| f.code.as_str()).collect();
    match (summary.verdict.valid, summary.status) {
        (false, _) => Some(format!("invalid ({})", codes.join(", "))),
        (true, RunStatus::Partial) => Some("partial".to_owned()),
        (true, RunStatus::Complete) => None,
    }
}

/// Options that do not make another workload.
const ASIDE: [&str; 17] = [
    "hosts",
    "database",
    "user",
    "sslmode",
    "workers_per_agent",
    "agents",
    "split",
    "random_seed",
    "connect_rate_per_s",
    "connect_concurrency",
    "allow_fewer_clients",
    "drain_timeout_s",
    "interval_s",
    "lease_s",
    "on_agent_loss",
    "fail_if",
    "require_valid",
];

/// In what two runs of different workloads differ; nothing if they are of the same one.
#[must_use]
pub fn different(first: &Summary, second: &Summary) -> Vec<String> {
    if first.workload_digest == second.workload_digest {
        return Vec::new();
    }
    let config = |summary: &Summary| serde_json::to_value(&summary.config).unwrap_or_default();
    let (first_config, second_config) = (config(first), config(second));
    let keys = |config: &Value| -> BTreeSet<String> {
        config.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect()
    };
    let all: BTreeSet<String> = keys(&first_config).union(&keys(&second_config)).cloned().collect();
    let mut found: Vec<String> = all
        .iter()
        .filter(|key| !ASIDE.contains(&key.as_str()))
        .filter(|key| first_config.get(key.as_str()) != second_config.get(key.as_str()))
        .map(|key| {
            format!("{key} {} against {}", shown(&first_config, key), shown(&second_config, key))
        })
        .collect();
    let scripts = |summary: &Summary| -> Vec<(String, u32)> {
        summary.scripts.iter().map(|script| (script.name.clone(), script.weight)).collect()
    };
    if scripts(first) != scripts(second) || found.is_empty() {
        found.push("the scripts".to_owned());
    }
    found
}

fn shown(config: &Value, key: &str) -> String {
    match config.get(key) {
        None | Some(Value::Null) => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
