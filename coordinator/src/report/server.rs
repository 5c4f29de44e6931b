//! What the server's own statistics say of the run, in a few lines of the cluster's block.

use std::io::{self, Write};

use pgsurge_common::wording::counted;

use super::RunResult;
use super::cluster::fact;
use super::summary::{CheckpointsSummary, Observation, PrewarmSummary, WaitSummary};

/// Waits that are shown; the summary has more.
const WAITS: usize = 5;
/// Tables and indexes that are shown, and the misses that make them worth it.
const RELATIONS: usize = 3;

/// Prints them, if the server was observed.
pub(super) fn report(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    if let Some(warmed) = &run.server.prewarm {
        let PrewarmSummary { method, relations, blocks, seconds, .. } = warmed;
        let text = format!(
            "{blocks} blocks of {relations} tables and indexes in {seconds:.3} s by {method}"
        );
        fact(out, "prewarmed", &text)?;
    }
    let Some(seen) = &run.server.observation else { return Ok(()) };
    let parts = counters(seen);
    if !parts.is_empty() {
        fact(out, "server", &parts.join(", "))?;
    }
    if !seen.waits.is_empty() {
        let waits: Vec<String> = seen.waits.iter().take(WAITS).map(wait).collect();
        fact(out, "sessions seen", &waits.join(", "))?;
    }
    let misses = misses(seen);
    if !misses.is_empty() {
        fact(out, "read most", &misses.join(", "))?;
    }
    if let Some(replication) = &seen.replication {
        let bytes = replication.lag_bytes_max.map_or("hidden".into(), |bytes| size(bytes as f64));
        let seconds = replication.lag_s_max.map_or(String::new(), |s| format!(", {s:.3} s"));
        let standbys = counted(replication.standbys, "standby");
        fact(out, "replication", &format!("{standbys}, at most {bytes}{seconds} behind"))?;
    }
    if let Some(checkpoints) = seen.checkpoints.as_ref().filter(|checkpoints| checkpoints.too_often)
    {
        writeln!(out, "  note: {}", too_often(checkpoints))?;
    }
    for (part, reason) in &seen.unknown {
        writeln!(out, "  note: {part} of the server cannot be told: {reason}")?;
    }
    for problem in &seen.problems {
        writeln!(out, "  note: {}", problem.lines().next().unwrap_or_default())?;
    }
    Ok(())
}

fn counters(seen: &Observation) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(ratio) = seen.cache.as_ref().and_then(|cache| cache.hit_ratio) {
        parts.push(format!("cache hit {}", percent(ratio)));
    }
    if let Some(checkpoints) = &seen.checkpoints {
        let all = counted(checkpoints.timed + checkpoints.requested, "checkpoint");
        let requested = checkpoints.requested;
        parts.push(if requested > 0 { format!("{all} ({requested} requested)") } else { all });
    }
    if let Some(wal) = &seen.wal {
        let each =
            wal.bytes_per_transaction.map(|bytes| format!(" ({} a transaction)", size(bytes)));
        parts.push(format!("WAL {}{}", size(wal.bytes as f64), each.unwrap_or_default()));
    }
    match (seen.temp_files, seen.temp_bytes) {
        (Some(0), _) => parts.push("temp files none".into()),
        (Some(files), Some(bytes)) => {
            parts.push(format!("temp files {files} ({})", size(bytes as f64)));
        }
        _ => {}
    }
    parts.extend(seen.deadlocks.map(|deadlocks| format!("deadlocks {deadlocks}")));
    parts.extend(
        seen.rollbacks.filter(|&n| n > 0).map(|rollbacks| format!("rollbacks {rollbacks}")),
    );
    parts.extend(
        seen.conflicts.filter(|&n| n > 0).map(|conflicts| format!("conflicts {conflicts}")),
    );
    parts
}

fn wait(wait: &WaitSummary) -> String {
    format!("{} {}", wait.event, percent(wait.share))
}

/// Relations that missed most.
fn misses(seen: &Observation) -> Vec<String> {
    let mut all: Vec<_> =
        seen.tables.iter().chain(&seen.indexes).filter(|relation| relation.read > 0).collect();
    all.sort_by_key(|relation| std::cmp::Reverse(relation.read));
    let told = all.into_iter().take(RELATIONS).map(|relation| {
        let ratio = relation.hit_ratio.map_or("-".into(), percent);
        format!("{} {} (cache hit {ratio})", relation.name, counted(relation.read, "block"))
    });
    told.collect()
}

fn too_often(checkpoints: &CheckpointsSummary) -> String {
    let all = counted(checkpoints.timed + checkpoints.requested, "checkpoint");
    let distance = checkpoints.distance_s.map_or(String::new(), |distance| {
        let warning = checkpoints.checkpoint_warning_s.filter(|warning| distance < *warning);
        let warning =
            warning.map_or(String::new(), |s| format!(", below checkpoint_warning = {s} s"));
        format!(", one in {distance:.1} s{warning}")
    });
    let size =
        checkpoints.max_wal_size.as_ref().map_or(String::new(), |size| format!(" (now {size})"));
    let requested = checkpoints.requested;
    format!(
        "{requested} of {all} requested by the volume of WAL or a command{distance}: consider raising max_wal_size{size}"
    )
}

/// One digit more near 100, where it matters.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 99.0 && share < 1.0 {
        format!("{percent:.2} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Bytes in the unit that leaves few digits.
fn size(bytes: f64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut value = bytes;
    let mut unit = "bytes";
    for larger in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "bytes" { format!("{bytes:.0} bytes") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::fixture;
    use super::super::summary::{CacheSummary, RelationSummary, WalSummary};
    use super::*;

    fn observation() -> Observation {
        let table =
            RelationSummary { name: "public.t".into(), hit_ratio: Some(0.5), hit: 7, read: 7 };
        Observation {
            cache: Some(CacheSummary { hit_ratio: Some(0.992), hit: 992, read: 8 }),
            tables: vec![table],
            checkpoints: Some(CheckpointsSummary {
                timed: 1,
                requested: 2,
                write_s: None,
                sync_s: None,
                distance_s: Some(20.0),
                too_often: true,
                checkpoint_warning_s: Some(30.0),
                max_wal_size: Some("1GB".into()),
            }),
            wal: Some(WalSummary {
                bytes: 1_288_490_188,
                bytes_per_transaction: Some(2150.0),
                records: None,
                full_page_images: None,
                buffers_full: None,
            }),
            temp_files: Some(0),
            temp_bytes: Some(0),
            deadlocks: Some(0),
            waits: vec![WaitSummary { event: "IO:WALSync".into(), seen: 3, share: 0.3 }],
            unknown: BTreeMap::from([(
                "io".into(),
                "its counters were set to zero meanwhile".into(),
            )]),
            ..Observation::default()
        }
    }

    #[test]
    fn the_server_has_a_few_lines() {
        let mut run = fixture::local();
        run.server.observation = Some(observation());
        let mut out = Vec::new();
        report(&mut out, &run).expect("memory takes it");
        let expected = "\
server          cache hit 99.20 %, 3 checkpoints (2 requested), WAL 1.2 GB (2.1 kB a transaction), temp files none, deadlocks 0
sessions seen   IO:WALSync 30.0 %
read most       public.t 7 blocks (cache hit 50.0 %)
  note: 2 of 3 checkpoints requested by the volume of WAL or a command, one in 20.0 s, below checkpoint_warning = 30 s: consider raising max_wal_size (now 1GB)
  note: io of the server cannot be told: its counters were set to zero meanwhile
";
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn a_run_without_observation_has_none() {
        let mut out = Vec::new();
        report(&mut out, &fixture::local()).expect("memory takes it");
        assert!(out.is_empty());
    }
}
