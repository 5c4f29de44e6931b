//! What `-l` asks for: which log, how much of it, under which name.
//!
//! Knows no file: agents write, the coordinator only says what and how. A file's name is made of numbers behind
//! the user's prefix, so that no two files of one run have the same name and none leads out of its folder.

use serde::{Deserialize, Serialize};

use crate::ids::WorkerId;

/// The log of transactions that every worker writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Log {
    /// `--log-prefix`: what the names of the files begin with.
    pub prefix: String,
    /// What a line stands for.
    pub kind: LogKind,
    /// `--failures-detailed`: failures are told apart.
    pub failures_detailed: bool,
    /// `--collect-logs`: agents hand their files over after the run.
    pub collect: bool,
}

/// What a line of a log stands for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogKind {
    /// A transaction.
    Transactions {
        /// `--sampling-rate`: the share of transactions that is logged, above 0 and at most 1; all if absent.
        sampling_rate: Option<f64>,
    },
    /// So many seconds (`--aggregate-interval`), at least one.
    Aggregates(u32),
}

impl Log {
    /// pgbench's prefix where none is given.
    pub const DEFAULT_PREFIX: &str = "pgbench_log";

    /// The name of a worker's file below a prefix, as pgbench names its threads' files: `PREFIX.PID` for the first
    /// worker and `PREFIX.PID.N` for worker N. Workers count over the whole cluster, so that names differ also
    /// where process ids repeat, as in containers.
    #[must_use]
    pub fn file_name(prefix: &str, process: u32, worker: WorkerId) -> String {
        match worker {
            WorkerId(0) => format!("{prefix}.{process}"),
            WorkerId(n) => format!("{prefix}.{process}.{n}"),
        }
    }

    /// The prefix without the folders that it leads through.
    #[must_use]
    pub fn last_of_prefix(&self) -> &str {
        self.prefix.rsplit('/').next().unwrap_or_default()
    }

    /// The files lie in the working folder of their writer or below it.
    #[must_use]
    pub fn stays_below(&self) -> bool {
        !self.prefix.starts_with('/') && !self.prefix.split('/').any(|part| part == "..")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_process_and_worker() {
        let name = |prefix, worker| Log::file_name(prefix, 42, WorkerId(worker));
        assert_eq!(name("pgbench_log", 0), "pgbench_log.42");
        assert_eq!(name("logs/a", 3), "logs/a.42.3");
        assert_eq!(name("", 0), ".42");
    }

    #[test]
    fn a_prefix_is_told_apart_by_where_it_leads() {
        for (prefix, last, below) in [
            ("pgbench_log", "pgbench_log", true),
            ("a/b", "b", true),
            ("a/", "", true),
            ("a..b/..c", "..c", true),
            ("../a", "a", false),
            ("a/../../b", "b", false),
            ("..", "..", false),
            ("/tmp/x", "x", false),
        ] {
            let kind = LogKind::Aggregates(1);
            let log = Log { prefix: prefix.into(), kind, failures_detailed: false, collect: false };
            assert_eq!((log.last_of_prefix(), log.stays_below()), (last, below), "{prefix}");
        }
    }
}
