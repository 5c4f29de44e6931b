//! The server over the same time, by its own counters.

use crate::picture::chart::{Chart, Mark};
use crate::picture::series::Points;
use crate::picture::server::{Counter, ServerRecord};

/// Waits that have lines of their own.
const WAITS: usize = 5;
/// More marks of checkpoints would cover the line.
const MARKS_MOST: usize = 20;
/// Said of counters of sessions.
const DELAYED: &str = "A busy session adds to the server's counters once a second at most.";

/// Those for which there are readings.
pub(super) fn of(record: &ServerRecord) -> Vec<Chart> {
    type Question = fn(&ServerRecord) -> Option<Chart>;
    let questions: [Question; 5] = [cache, wal, commits, waits, temporary];
    questions.into_iter().filter_map(|question| question(record)).collect()
}

/// Said where points stand for several readings.
fn joined(record: &ServerRecord) -> String {
    match record.group() {
        1 => String::new(),
        n => format!(" Each point stands for {n} readings."),
    }
}

/// Something was counted.
fn grew(points: &Points) -> bool {
    points.iter().any(|(_, rate)| rate.is_some_and(|rate| rate > 0.0))
}

fn cache(record: &ServerRecord) -> Option<Chart> {
    let (hit, read) = (record.rate(Counter::Hit), record.rate(Counter::Read));
    let title = "Blocks that the server needed";
    let chart = || Chart::over_time("cache", title, "blocks per second, logarithmic").log_y();
    grew(&hit).then(|| {
        let note = format!("{DELAYED} None is not on this scale.{}", joined(record));
        chart().noted(note).line("found in its cache", &hit).line("read from outside", &read)
    })
}

fn wal(record: &ServerRecord) -> Option<Chart> {
    let bytes = record.rate(Counter::Wal);
    let megabytes: Points =
        bytes.iter().map(|(t, rate)| (*t, rate.map(|rate| rate / 1e6))).collect();
    let checkpoints = record.growths(Counter::Checkpoints).into_iter().take(MARKS_MOST);
    let marks: Vec<Mark> = checkpoints
        .map(|(from_s, until_s)| Mark { from_s, until_s, label: "checkpoint begun".to_owned() })
        .collect();
    let chart = || Chart::over_time("wal", "WAL written", "MB per second");
    (grew(&bytes) || !marks.is_empty()).then(|| {
        chart()
            .noted(format!("By the whole server.{}", joined(record)))
            .line("WAL", &megabytes)
            .marked(&marks)
    })
}

fn commits(record: &ServerRecord) -> Option<Chart> {
    let (commits, rollbacks) = (record.rate(Counter::Commits), record.rate(Counter::Rollbacks));
    let title = "Transactions by the server's count";
    let chart = || {
        Chart::over_time("commits", title, "transactions per second")
            .noted(format!("{DELAYED}{}", joined(record)))
    };
    grew(&commits).then(|| {
        let chart = chart().line("committed", &commits);
        if grew(&rollbacks) { chart.line("rolled back", &rollbacks) } else { chart }
    })
}

fn waits(record: &ServerRecord) -> Option<Chart> {
    let waits = record.waits(WAITS);
    let note = "What the database's sessions were doing when the server was looked at; running means waiting \
                for nothing that the server knows of.";
    let chart =
        Chart::over_time("waits", "Sessions by what they waited for", "sessions").noted(note);
    let chart = waits.iter().fold(chart, |chart, (event, points)| chart.line(event, points));
    (!waits.is_empty()).then_some(chart)
}

fn temporary(record: &ServerRecord) -> Option<Chart> {
    let bytes = record.rate(Counter::Temporary);
    let megabytes: Points =
        bytes.iter().map(|(t, rate)| (*t, rate.map(|rate| rate / 1e6))).collect();
    let deadlocks = record.growths(Counter::Deadlocks).into_iter().take(MARKS_MOST);
    let marks: Vec<Mark> = deadlocks
        .map(|(from_s, until_s)| Mark { from_s, until_s, label: "deadlock".to_owned() })
        .collect();
    let chart = || Chart::over_time("temporary", "Temporary files", "MB per second");
    (grew(&bytes) || !marks.is_empty()).then(|| {
        let note =
            "Written by sorts and joins that work_mem was too little for; deadlocks are marked.";
        chart().noted(note).line("temporary files", &megabytes).marked(&marks)
    })
}
