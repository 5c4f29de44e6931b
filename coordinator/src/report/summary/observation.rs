//! What the server's own statistics say of a run; the part of the summary that holds it, and of the result, too.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Differences of the server's statistics over the measured part. Null is what this server does not count, what could
/// not be read (`problems`) or what was set to zero meanwhile (`unknown` has the reason).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// Seconds between readings; 0 is before and after only.
    pub interval_s: f64,
    /// Readings in all, each of which is in `server.csv`.
    pub readings: u64,
    /// First reading that differences are taken from, in seconds from the start of the measured part.
    pub from_s: Option<f64>,
    /// Last reading.
    pub until_s: Option<f64>,
    /// What a reading took on average.
    pub reading_mean_ms: f64,
    /// What the slowest reading took.
    pub reading_max_ms: f64,
    /// What could not be read.
    pub problems: Vec<String>,
    /// Why figures are null, by the part they are in.
    pub unknown: BTreeMap<String, String>,
    /// Blocks of the whole database.
    pub cache: Option<CacheSummary>,
    /// Tables (TOAST included) with the most blocks asked for, at most 50, then the others as one.
    pub tables: Vec<RelationSummary>,
    /// The same for indexes.
    pub indexes: Vec<RelationSummary>,
    /// Checkpoints that were begun.
    pub checkpoints: Option<CheckpointsSummary>,
    /// Who wrote buffers.
    pub buffers_written: Option<BuffersSummary>,
    /// The write-ahead log.
    pub wal: Option<WalSummary>,
    /// Commits of the database.
    pub commits: Option<u64>,
    /// Rollbacks of the database.
    pub rollbacks: Option<u64>,
    /// Deadlocks found.
    pub deadlocks: Option<u64>,
    /// Statements cancelled for the sake of recovery, on a standby.
    pub conflicts: Option<u64>,
    /// Temporary files.
    pub temp_files: Option<u64>,
    /// Bytes in them.
    pub temp_bytes: Option<u64>,
    /// What client sessions of the database were seen doing under load, most frequent first.
    pub waits: Vec<WaitSummary>,
    /// Standbys; null if there was none.
    pub replication: Option<ReplicationSummary>,
}

/// Blocks found in and missing from `shared_buffers`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CacheSummary {
    /// Found ones over all; null if none was asked for.
    pub hit_ratio: Option<f64>,
    /// Blocks found.
    pub hit: u64,
    /// Blocks asked of the operating system, which may have them cached.
    pub read: u64,
}

/// A table or an index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelationSummary {
    /// Its schema and name; `(others)` is the rest.
    pub name: String,
    /// Found ones over all; null if none was asked for.
    pub hit_ratio: Option<f64>,
    /// Blocks found in `shared_buffers`.
    pub hit: u64,
    /// Blocks asked of the operating system.
    pub read: u64,
}

/// Checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointsSummary {
    /// Begun because `checkpoint_timeout` had passed.
    pub timed: u64,
    /// Begun for another reason: the volume of WAL (`max_wal_size`) or a command.
    pub requested: u64,
    /// Time spent writing, of those that ended.
    pub write_s: Option<f64>,
    /// Time spent syncing.
    pub sync_s: Option<f64>,
    /// Seconds from one to the next on average; null below two.
    pub distance_s: Option<f64>,
    /// More were requested than timed, or they came faster than `checkpoint_warning`.
    pub too_often: bool,
    /// `checkpoint_warning`; 0 is off.
    pub checkpoint_warning_s: Option<f64>,
    /// `max_wal_size`.
    pub max_wal_size: Option<String>,
}

/// Buffers by who wrote them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuffersSummary {
    /// Checkpoints.
    pub checkpointer: Option<u64>,
    /// The background writer.
    pub background_writer: Option<u64>,
    /// Sessions themselves, which waited for it.
    pub backends: Option<u64>,
}

/// The write-ahead log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WalSummary {
    /// Bytes written.
    pub bytes: u64,
    /// Those over the run's successful transactions; null if there was none.
    pub bytes_per_transaction: Option<f64>,
    /// Records.
    pub records: Option<u64>,
    /// Full page images.
    pub full_page_images: Option<u64>,
    /// Times that `wal_buffers` were full.
    pub buffers_full: Option<u64>,
}

/// A state in which sessions were seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitSummary {
    /// `Type:Event` of a session that executes and waits, `running` if it does not wait; otherwise its state.
    pub event: String,
    /// How often a session was seen in it.
    pub seen: u64,
    /// Its share of all that was seen.
    pub share: f64,
}

/// Standbys and walsenders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplicationSummary {
    /// The most at a time.
    pub standbys: u64,
    /// The most bytes of WAL that one had not replayed; null if hidden from the role.
    pub lag_bytes_max: Option<u64>,
    /// The longest replay lag.
    pub lag_s_max: Option<f64>,
}

/// What was loaded into the server's cache before the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrewarmSummary {
    /// `pg_prewarm`, or `reads` where that could not be had.
    pub method: String,
    /// Tables and indexes.
    pub relations: u64,
    /// Blocks that were read.
    pub blocks: u64,
    /// How long it took.
    pub seconds: f64,
    /// Blocks that `shared_buffers` hold; of more than that the first are gone again.
    pub shared_buffers_blocks: u64,
    /// What could not be loaded, or not as well.
    pub problems: Vec<String>,
}
