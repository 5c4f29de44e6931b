//! From folded readings to the figures of the report. Pure.

use std::cmp::Reverse;

use super::fold::{Fold, whole};
use super::source::{BGWRITER, CHECKPOINTER, DATABASE, INDEX, IO, TABLE, WAL, WAL_POSITION};
use crate::report::summary::{
    BuffersSummary, CacheSummary, CheckpointsSummary, Observation, RelationSummary,
    ReplicationSummary, WaitSummary, WalSummary,
};

/// Relations of a kind, and waits, that are listed.
const MOST_LISTED: usize = 50;

/// What is known of a run besides the readings.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub(super) interval_s: f64,
    pub(super) from_s: Option<f64>,
    pub(super) until_s: Option<f64>,
    pub(super) checkpoint_warning_s: Option<f64>,
    pub(super) max_wal_size: Option<String>,
}

/// The figures.
pub(super) fn observation(fold: &Fold, frame: &Frame) -> Observation {
    let database = |name| count(fold, DATABASE, "", name);
    let mut unknown = std::collections::BTreeMap::new();
    let parts = [
        ("database", DATABASE),
        ("checkpoints", checkpoint_source(fold)),
        ("wal", WAL),
        ("io", IO),
        ("tables", TABLE),
        ("indexes", INDEX),
    ];
    for (part, source) in parts {
        if let Err(reason) = fold.known(source)
            && !reason.is_empty()
        {
            unknown.insert(part.to_owned(), reason);
        }
    }
    let readings = fold.readings.max(1) as f64;
    Observation {
        interval_s: frame.interval_s,
        readings: fold.readings,
        from_s: frame.from_s,
        until_s: frame.until_s,
        reading_mean_ms: fold.took_s / readings * 1000.0,
        reading_max_ms: fold.took_most_s * 1000.0,
        problems: fold.problems.clone(),
        unknown,
        cache: database("blks_hit").zip(database("blks_read")).map(|(hit, read)| CacheSummary {
            hit_ratio: ratio(hit, read),
            hit,
            read,
        }),
        tables: relations(fold, TABLE, &["heap", "toast", "tidx"]),
        indexes: relations(fold, INDEX, &["idx"]),
        checkpoints: checkpoints(fold, frame),
        buffers_written: buffers(fold),
        wal: wal(fold),
        commits: database("xact_commit"),
        rollbacks: database("xact_rollback"),
        deadlocks: database("deadlocks"),
        conflicts: database("conflicts"),
        temp_files: database("temp_files"),
        temp_bytes: database("temp_bytes"),
        waits: waits(fold),
        replication: (fold.standbys > 0.0).then(|| ReplicationSummary {
            standbys: whole(fold.standbys),
            lag_bytes_max: fold.lag_bytes.map(whole),
            lag_s_max: fold.lag_s,
        }),
    }
}

fn count(fold: &Fold, source: &str, object: &str, name: &str) -> Option<u64> {
    fold.grew(source, object, name).ok().map(whole)
}

fn ratio(hit: u64, read: u64) -> Option<f64> {
    (hit + read > 0).then(|| hit as f64 / (hit + read) as f64)
}

/// Which of the two has the checkpoints depends on the version.
fn checkpoint_source(fold: &Fold) -> &'static str {
    let has = |name| fold.last.as_ref().is_some_and(|last| last.reset(name).is_some());
    if has(CHECKPOINTER) { CHECKPOINTER } else { BGWRITER }
}

fn checkpoints(fold: &Fold, frame: &Frame) -> Option<CheckpointsSummary> {
    let source = checkpoint_source(fold);
    let [timed, requested, write, sync] = if source == CHECKPOINTER {
        ["num_timed", "num_requested", "write_time", "sync_time"]
    } else {
        ["checkpoints_timed", "checkpoints_req", "checkpoint_write_time", "checkpoint_sync_time"]
    };
    let (timed, requested) = (count(fold, source, "", timed)?, count(fold, source, "", requested)?);
    let seconds = |name| fold.grew(source, "", name).ok().map(|ms| ms / 1000.0);
    let span = frame.from_s.zip(frame.until_s).map(|(from, until)| until - from);
    let all = timed + requested;
    let distance_s = span.filter(|_| all > 1).map(|span| span / all as f64);
    let below = |warning: f64| distance_s.is_some_and(|distance| distance < warning);
    Some(CheckpointsSummary {
        timed,
        requested,
        write_s: seconds(write),
        sync_s: seconds(sync),
        distance_s,
        too_often: requested > timed
            || (requested > 1 && frame.checkpoint_warning_s.is_some_and(below)),
        checkpoint_warning_s: frame.checkpoint_warning_s,
        max_wal_size: frame.max_wal_size.clone(),
    })
}

fn buffers(fold: &Fold) -> Option<BuffersSummary> {
    let first = |places: [(&str, &str); 2]| {
        places.into_iter().find_map(|(source, name)| count(fold, source, "", name))
    };
    let checkpointer = first([(CHECKPOINTER, "buffers_written"), (BGWRITER, "buffers_checkpoint")]);
    let background_writer = count(fold, BGWRITER, "", "buffers_clean");
    // Up to version 16 there is a count of what sessions wrote; since then they are in pg_stat_io.
    let backends =
        count(fold, BGWRITER, "", "buffers_backend").or_else(|| written_by_clients(fold));
    let any = checkpointer.or(background_writer).or(backends);
    any.map(|_| BuffersSummary { checkpointer, background_writer, backends })
}

fn written_by_clients(fold: &Fold) -> Option<u64> {
    fold.known(IO).ok()?;
    let of_clients = |object: &&str| object.starts_with("client backend/relation/");
    let writes = fold.objects(IO).filter(of_clients).filter_map(|o| count(fold, IO, o, "writes"));
    Some(writes.sum())
}

fn wal(fold: &Fold) -> Option<WalSummary> {
    let figure = |name| count(fold, WAL, "", name);
    let bytes = match fold.known(WAL) {
        Err(reason) if !reason.is_empty() => None,
        // Before version 14 the position in the log has to do.
        _ => figure("wal_bytes").or_else(|| count(fold, WAL_POSITION, "", "position_bytes")),
    };
    Some(WalSummary {
        bytes: bytes?,
        bytes_per_transaction: None,
        records: figure("wal_records"),
        full_page_images: figure("wal_fpi"),
        buffers_full: figure("wal_buffers_full"),
    })
}

fn relations(fold: &Fold, source: &'static str, parts: &[&str]) -> Vec<RelationSummary> {
    if fold.known(source).is_err() {
        return Vec::new();
    }
    let sum = |object: &str, what: &str| -> u64 {
        let figures = parts
            .iter()
            .filter_map(|part| count(fold, source, object, &format!("{part}_blks_{what}")));
        figures.sum()
    };
    let relation = |name: &str, hit, read| RelationSummary {
        name: name.to_owned(),
        hit_ratio: ratio(hit, read),
        hit,
        read,
    };
    let mut all: Vec<RelationSummary> = fold
        .objects(source)
        .map(|object| relation(object, sum(object, "hit"), sum(object, "read")))
        .filter(|relation| relation.hit + relation.read > 0)
        .collect();
    all.sort_by_key(|relation| Reverse(relation.hit + relation.read));
    if all.len() > MOST_LISTED {
        let rest = all.split_off(MOST_LISTED);
        let (hit, read) = rest.iter().fold((0, 0), |(hit, read), r| (hit + r.hit, read + r.read));
        all.push(relation("(others)", hit, read));
    }
    all
}

fn waits(fold: &Fold) -> Vec<WaitSummary> {
    let all: u64 = fold.waits.values().sum();
    let wait = |(event, seen): (&String, &u64)| WaitSummary {
        event: event.clone(),
        seen: *seen,
        share: *seen as f64 / all.max(1) as f64,
    };
    let mut waits: Vec<WaitSummary> = fold.waits.iter().map(wait).collect();
    waits.sort_by_key(|wait| Reverse(wait.seen));
    waits.truncate(MOST_LISTED);
    waits
}

#[cfg(test)]
mod tests {
    use super::super::fold::tests::reading;
    use super::super::reading::Row;
    use super::*;

    fn frame() -> Frame {
        Frame {
            interval_s: 5.0,
            from_s: Some(0.0),
            until_s: Some(60.0),
            checkpoint_warning_s: Some(30.0),
            max_wal_size: Some("1GB".into()),
        }
    }

    fn folded(first: &[(&'static str, f64)], last: &[(&'static str, f64)]) -> Fold {
        let mut fold = Fold::default();
        for (wal, figures) in [(100.0, first), (160.0, last)] {
            let mut reading = reading(wal, wal);
            let row = Row { source: BGWRITER, object: String::new(), figures: figures.to_vec() };
            reading.rows.push(row);
            reading.read.push((BGWRITER, None));
            fold.add(reading, true);
        }
        fold
    }

    #[test]
    fn figures_are_differences() {
        let fold = folded(&[("buffers_backend", 3.0)], &[("buffers_backend", 10.0)]);
        let told = observation(&fold, &frame());
        let cache = told.cache.expect("the counters are there");
        assert_eq!((cache.hit, cache.read, cache.hit_ratio), (60, 0, Some(1.0)));
        assert_eq!(told.tables.len(), 1);
        assert_eq!((told.tables[0].name.as_str(), told.tables[0].hit), ("public.t", 60));
        assert_eq!(told.wal.map(|wal| wal.bytes), Some(60));
        assert_eq!(told.buffers_written.and_then(|written| written.backends), Some(7));
        assert_eq!((told.waits[0].seen, told.waits[0].share), (6, 1.0));
        assert_eq!(told.deadlocks, None, "what is not counted is not zero");
        assert!(told.unknown.is_empty(), "{:?}", told.unknown);
    }

    #[test]
    fn checkpoints_come_too_often_as_the_server_sees_it() {
        let cases = [
            ((0.0, 0.0), false),
            ((1.0, 0.0), false),
            ((0.0, 1.0), true),
            ((1.0, 1.0), false),
            // Every 15 s, which is below checkpoint_warning.
            ((2.0, 2.0), true),
            ((4.0, 0.0), false),
        ];
        for ((timed, requested), too_often) in cases {
            let at =
                |timed, requested| [("checkpoints_timed", timed), ("checkpoints_req", requested)];
            let fold = folded(&at(5.0, 5.0), &at(5.0 + timed, 5.0 + requested));
            let told = checkpoints(&fold, &frame()).expect("they are counted");
            assert_eq!(told.too_often, too_often, "{timed} timed, {requested} requested");
        }
    }

    #[test]
    fn what_was_set_to_zero_is_null_with_a_reason() {
        let mut fold = folded(&[], &[]);
        let mut later = reading(170.0, 170.0);
        later.started_us = 2;
        fold.add(later, false);
        let told = observation(&fold, &frame());
        assert_eq!((&told.cache, &told.wal, told.tables.len()), (&None, &None, 0));
        assert!(told.unknown["wal"].contains("restarted"), "{:?}", told.unknown);
    }
}
