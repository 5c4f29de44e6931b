//! What is asked of the server's statistics views, in SQL fitted to the columns that a server has.
//!
//! Views gain, lose and rename columns from version to version, so the catalog is asked which there are and what
//! the role may read; nothing here depends on a version number. Pure.

use std::collections::BTreeMap;

/// Relations of one kind that a reading holds at most.
pub(super) const MOST_RELATIONS: usize = 1000;

/// How the figures of a source behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only grow until they are set to zero; what matters is by how much.
    Counters,
    /// The same for each relation of the database.
    Relations,
    /// States of a moment.
    Moment,
}

/// A view, and what of it is worth keeping.
#[derive(Debug)]
pub(super) struct Source {
    /// As `server.csv` names it.
    pub(super) name: &'static str,
    pub(super) view: &'static str,
    /// SQL of what a row is about.
    object: &'static str,
    /// Columns or, where the view gives no figure itself, SQL with a name.
    counters: &'static [&'static str],
    /// What follows the view's name.
    rest: &'static str,
    pub(super) kind: Kind,
}

pub(super) const DATABASE: &str = "database";
pub(super) const BGWRITER: &str = "bgwriter";
pub(super) const CHECKPOINTER: &str = "checkpointer";
pub(super) const WAL: &str = "wal";
pub(super) const WAL_POSITION: &str = "wal_position";
pub(super) const IO: &str = "io";
pub(super) const TABLE: &str = "table";
pub(super) const INDEX: &str = "index";
pub(super) const WAIT: &str = "wait";
pub(super) const REPLICATION: &str = "replication";

/// Everything that is asked for, in the order of asking: waits first, so that they are of the moment that the reading
/// is dated by.
pub(super) const SOURCES: &[Source] = &[
    Source {
        name: WAIT,
        view: "pg_stat_activity",
        // A session that is still being let in has no state either, before version 18.
        object: "case when state = 'active' then coalesce(wait_event_type || ':' || wait_event, 'running') \
                 when state is null and query = '<insufficient privilege>' then 'hidden' \
                 else coalesce(state, 'starting') end",
        counters: &["count(*) as sessions"],
        rest: "where datname = current_database() and pid <> pg_catalog.pg_backend_pid() \
               and coalesce(backend_type, 'client backend') = 'client backend' \
               group by 1 order by 2 desc limit 100",
        kind: Kind::Moment,
    },
    Source {
        name: DATABASE,
        view: "pg_stat_database",
        object: "''",
        counters: &[
            "xact_commit",
            "xact_rollback",
            "blks_read",
            "blks_hit",
            "tup_returned",
            "tup_fetched",
            "tup_inserted",
            "tup_updated",
            "tup_deleted",
            "conflicts",
            "temp_files",
            "temp_bytes",
            "deadlocks",
            "blk_read_time",
            "blk_write_time",
            "session_time",
            "active_time",
            "idle_in_transaction_time",
        ],
        rest: "where datname = current_database()",
        kind: Kind::Counters,
    },
    Source {
        name: BGWRITER,
        view: "pg_stat_bgwriter",
        object: "''",
        counters: &[
            "checkpoints_timed",
            "checkpoints_req",
            "checkpoint_write_time",
            "checkpoint_sync_time",
            "buffers_checkpoint",
            "buffers_clean",
            "maxwritten_clean",
            "buffers_backend",
            "buffers_backend_fsync",
            "buffers_alloc",
        ],
        rest: "",
        kind: Kind::Counters,
    },
    Source {
        name: CHECKPOINTER,
        view: "pg_stat_checkpointer",
        object: "''",
        counters: &[
            "num_timed",
            "num_requested",
            "num_done",
            "restartpoints_timed",
            "restartpoints_req",
            "restartpoints_done",
            "write_time",
            "sync_time",
            "buffers_written",
            "slru_written",
        ],
        rest: "",
        kind: Kind::Counters,
    },
    Source {
        name: WAL,
        view: "pg_stat_wal",
        object: "''",
        counters: &[
            "wal_records",
            "wal_fpi",
            "wal_bytes",
            "wal_buffers_full",
            "wal_write",
            "wal_sync",
            "wal_write_time",
            "wal_sync_time",
        ],
        rest: "",
        kind: Kind::Counters,
    },
    Source {
        name: WAL_POSITION,
        view: "",
        object: "''",
        counters: &["pg_catalog.pg_wal_lsn_diff(case when pg_catalog.pg_is_in_recovery() \
             then pg_catalog.pg_last_wal_replay_lsn() else pg_catalog.pg_current_wal_lsn() end, '0/0') \
             as position_bytes"],
        rest: "",
        kind: Kind::Counters,
    },
    Source {
        name: IO,
        view: "pg_stat_io",
        object: "backend_type || '/' || object || '/' || context",
        counters: &[
            "reads",
            "read_bytes",
            "read_time",
            "writes",
            "write_bytes",
            "write_time",
            "writebacks",
            "extends",
            "extend_bytes",
            "extend_time",
            "hits",
            "evictions",
            "reuses",
            "fsyncs",
            "fsync_time",
        ],
        rest: "where coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(hits, 0) \
               + coalesce(fsyncs, 0) > 0",
        kind: Kind::Counters,
    },
    Source {
        name: TABLE,
        view: "pg_statio_user_tables",
        object: "schemaname || '.' || relname",
        counters: &[
            "heap_blks_read",
            "heap_blks_hit",
            "idx_blks_read",
            "idx_blks_hit",
            "toast_blks_read",
            "toast_blks_hit",
            "tidx_blks_read",
            "tidx_blks_hit",
        ],
        // One more than are kept, to learn that there are more.
        rest: "where heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0) > 0 \
               order by heap_blks_read + heap_blks_hit desc limit 1001",
        kind: Kind::Relations,
    },
    Source {
        name: INDEX,
        view: "pg_statio_user_indexes",
        object: "schemaname || '.' || indexrelname",
        counters: &["idx_blks_read", "idx_blks_hit"],
        rest: "where idx_blks_read + idx_blks_hit > 0 order by idx_blks_read + idx_blks_hit desc limit 1001",
        kind: Kind::Relations,
    },
    Source {
        name: REPLICATION,
        view: "pg_stat_replication",
        object: "''",
        counters: &[
            "count(*) as standbys",
            "count(*) filter (where replay_lsn is null) as standbys_hidden",
            "max(pg_catalog.pg_wal_lsn_diff(case when pg_catalog.pg_is_in_recovery() \
             then pg_catalog.pg_last_wal_receive_lsn() else pg_catalog.pg_current_wal_lsn() end, replay_lsn)) \
             as lag_bytes",
            "max(extract(epoch from replay_lag)) as lag_s",
        ],
        rest: "where coalesce(state, '') <> 'backup'",
        kind: Kind::Moment,
    },
];

/// A statement, and the names of the figures in its rows, which follow the object and the time of the last reset.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) names: Vec<&'static str>,
}

/// Columns of the views, with whether the role may read them.
#[derive(Debug, Default)]
pub(super) struct Catalog(BTreeMap<String, BTreeMap<String, bool>>);

impl Catalog {
    /// Asks for view, column, right to read.
    pub(super) fn sql() -> String {
        let views: Vec<String> =
            SOURCES.iter().map(|source| format!("'{}'", source.view)).collect();
        format!(
            "select c.relname, a.attname, pg_catalog.has_column_privilege(c.oid, a.attnum, 'select') \
             from pg_catalog.pg_class c join pg_catalog.pg_attribute a on a.attrelid = c.oid \
             where c.relnamespace = 'pg_catalog'::regnamespace and a.attnum > 0 and c.relname in ({})",
            views.join(", ")
        )
    }

    /// Takes the answer.
    pub(super) fn from_rows(rows: Vec<Vec<Option<String>>>) -> Self {
        let mut views: BTreeMap<String, BTreeMap<String, bool>> = BTreeMap::new();
        for row in rows {
            let mut row = row.into_iter().flatten();
            if let (Some(view), Some(column), Some(right)) = (row.next(), row.next(), row.next()) {
                views.entry(view).or_default().insert(column, right == "t");
            }
        }
        Self(views)
    }

    /// What to ask of a source; nothing where the server has no such view.
    ///
    /// # Errors
    /// The view is there, and the role may not read it.
    pub(super) fn statement(&self, source: &Source) -> Result<Option<Statement>, String> {
        let Source { view, object, counters, rest, .. } = source;
        if view.is_empty() {
            return Ok(Some(statement(object, "null", counters, "")));
        }
        let Some(columns) = self.0.get(*view) else { return Ok(None) };
        if columns.values().any(|readable| !readable) {
            return Err(format!("the role may not read {view}"));
        }
        let known = |counter: &&&str| counter.contains('(') || columns.contains_key(**counter);
        let counters: Vec<&'static str> = counters.iter().filter(known).copied().collect();
        let reset = if columns.contains_key("stats_reset") { "stats_reset" } else { "null" };
        Ok(Some(statement(object, reset, &counters, &format!("from pg_catalog.{view} {rest}"))))
    }
}

fn statement(object: &str, reset: &str, counters: &[&'static str], from: &str) -> Statement {
    // Waits are ordered by their second column, so the reset comes last.
    let sql = format!("select {object}, {}, {reset} {from}", counters.join(", "));
    let sql = if from.contains("group by") { sql.replacen(", null from", " from", 1) } else { sql };
    let names = counters.iter().map(|counter| counter.rsplit(' ').next().unwrap_or(counter));
    Statement { sql, names: names.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns that differ between versions 13 to 18, as the servers' own catalogs list them.
    fn catalog(version: u32) -> Catalog {
        let mut rows = Vec::new();
        let mut add = |view: &str, columns: &str| {
            for column in columns.split(' ') {
                rows.push([view, column, "t"].map(|text| Some(text.to_owned())).to_vec());
            }
        };
        add("pg_stat_activity", "datname pid state wait_event wait_event_type backend_type");
        add("pg_stat_database", "datname xact_commit blks_read blks_hit deadlocks stats_reset");
        if version >= 17 {
            add("pg_stat_bgwriter", "buffers_clean maxwritten_clean buffers_alloc stats_reset");
            add("pg_stat_checkpointer", "num_timed num_requested buffers_written stats_reset");
        } else {
            add(
                "pg_stat_bgwriter",
                "checkpoints_timed checkpoints_req buffers_backend stats_reset",
            );
        }
        if version >= 18 {
            add("pg_stat_checkpointer", "num_done slru_written");
            add("pg_stat_io", "read_bytes");
        }
        if version >= 14 {
            add("pg_stat_wal", "wal_records wal_fpi wal_bytes wal_buffers_full stats_reset");
        }
        if (14..18).contains(&version) {
            add("pg_stat_wal", "wal_write wal_sync");
        }
        if version >= 16 {
            add("pg_stat_io", "backend_type object context reads writes hits stats_reset");
        }
        Catalog::from_rows(rows)
    }

    fn source(name: &str) -> &'static Source {
        SOURCES.iter().find(|source| source.name == name).expect("it is one")
    }

    fn names(version: u32, name: &str) -> Option<String> {
        let statement = catalog(version).statement(source(name)).expect("it may be read");
        statement.map(|statement| statement.names.join(" "))
    }

    #[test]
    fn each_version_is_asked_for_what_it_has() {
        let old = "checkpoints_timed checkpoints_req buffers_backend";
        let new = "buffers_clean maxwritten_clean buffers_alloc";
        let wal = "wal_records wal_fpi wal_bytes wal_buffers_full";
        let cases = [
            (13, old, None, None, None),
            (14, old, None, Some("wal_write wal_sync"), None),
            (15, old, None, Some("wal_write wal_sync"), None),
            (16, old, None, Some("wal_write wal_sync"), Some("reads writes hits")),
            (17, new, Some(""), Some("wal_write wal_sync"), Some("reads writes hits")),
            (18, new, Some(" slru_written"), Some(""), Some("reads read_bytes writes hits")),
        ];
        for (version, bgwriter, checkpointer, more_wal, io) in cases {
            assert_eq!(names(version, BGWRITER).as_deref(), Some(bgwriter), "{version}");
            let done = if version >= 18 { " num_done" } else { "" };
            let expected = checkpointer
                .map(|more| format!("num_timed num_requested{done} buffers_written{more}"));
            assert_eq!(names(version, CHECKPOINTER), expected, "{version}");
            let expected = more_wal.map(|more| format!("{wal} {more}").trim_end().to_owned());
            assert_eq!(names(version, WAL), expected, "{version}");
            assert_eq!(names(version, IO).as_deref(), io, "{version}");
        }
    }

    #[test]
    fn a_statement_names_its_object_its_figures_and_its_reset() {
        let statement = |name| catalog(18).statement(source(name)).ok().flatten().map(|s| s.sql);
        assert_eq!(
            statement(DATABASE).as_deref(),
            Some(
                "select '', xact_commit, blks_read, blks_hit, deadlocks, stats_reset \
                 from pg_catalog.pg_stat_database where datname = current_database()"
            )
        );
        let waits = statement(WAIT).unwrap_or_default();
        assert!(waits.contains("count(*) as sessions from pg_catalog.pg_stat_activity"), "{waits}");
        assert!(statement(WAL_POSITION).is_some_and(|sql| !sql.contains("from pg_catalog")));
    }

    #[test]
    fn a_view_that_may_not_be_read_is_named() {
        let row = ["pg_stat_wal", "wal_bytes", "f"].map(|text| Some(text.to_owned())).to_vec();
        let refused = Catalog::from_rows(vec![row]).statement(source(WAL));
        assert_eq!(refused, Err("the role may not read pg_stat_wal".to_owned()));
    }
}
