//! Readings, folded into what happened since the first of them. Pure; memory does not grow with the run (I7).
//!
//! A counter that was set to zero in between has no difference that means anything, so each source knows why it
//! cannot be told: a reset, a restart, a value that went backwards. It is never guessed.

use std::collections::BTreeMap;

use super::reading::{Reading, Row};
use super::source::{DATABASE, INDEX, Kind, REPLICATION, SOURCES, TABLE, WAIT};

/// Problems that are kept; more would repeat themselves.
const MOST_PROBLEMS: usize = 20;
/// Kinds of waits that are kept.
const MOST_WAITS: usize = 500;

/// What the readings come to.
#[derive(Debug, Default)]
pub(super) struct Fold {
    pub(super) base: Option<Reading>,
    pub(super) last: Option<Reading>,
    /// Why the differences of a source cannot be told.
    broken: BTreeMap<&'static str, String>,
    /// Relations whose counters went backwards.
    backwards: Vec<(&'static str, String)>,
    /// Sessions seen in each state.
    pub(super) waits: BTreeMap<String, u64>,
    /// The most standbys, bytes and seconds behind.
    pub(super) standbys: f64,
    pub(super) lag_bytes: Option<f64>,
    pub(super) lag_s: Option<f64>,
    pub(super) readings: u64,
    pub(super) took_s: f64,
    pub(super) took_most_s: f64,
    pub(super) problems: Vec<String>,
}

impl Fold {
    /// Counts from this reading on, whatever was before.
    pub(super) fn begin(&mut self, reading: &Reading) {
        self.broken.clear();
        self.backwards.clear();
        self.last = None;
        self.base = Some(reading.clone());
    }

    /// The next reading; `loaded` if the load was on.
    pub(super) fn add(&mut self, reading: Reading, loaded: bool) {
        self.readings += 1;
        self.took_s += reading.took_s;
        self.took_most_s = self.took_most_s.max(reading.took_s);
        if let Some(last) = self.last.take() {
            self.compare(&last, &reading);
        }
        self.moment(&reading, loaded);
        for source in &reading.curtailed {
            self.problem(format!(
                "of each {source} only those used most are looked at: there are too many"
            ));
        }
        if self.base.is_none() {
            self.begin(&reading);
        }
        self.last = Some(reading);
    }

    /// Something that could not be read; said once.
    pub(super) fn problem(&mut self, text: String) {
        if self.problems.len() < MOST_PROBLEMS && !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }

    fn compare(&mut self, last: &Reading, reading: &Reading) {
        let restarted = last.started_us != reading.started_us;
        for source in SOURCES.iter().filter(|source| source.kind != Kind::Moment) {
            let reason = if restarted {
                Some("the server was restarted, or another one answered".to_owned())
            } else {
                reset(source.name, last, reading)
            };
            if let Some(reason) = reason {
                self.broken.entry(source.name).or_insert(reason);
            }
        }
        for row in &reading.rows {
            let before =
                last.rows.iter().find(|r| r.source == row.source && r.object == row.object);
            let Some(before) = before.filter(|before| fell(before, row)) else { continue };
            match kind(row.source) {
                Kind::Moment => {}
                Kind::Counters => {
                    let reason = "its counters went backwards".to_owned();
                    self.broken.entry(row.source).or_insert(reason);
                }
                Kind::Relations => {
                    let relation = (row.source, before.object.clone());
                    if !self.backwards.contains(&relation) {
                        self.backwards.push(relation);
                    }
                }
            }
        }
    }

    fn moment(&mut self, reading: &Reading, loaded: bool) {
        for row in &reading.rows {
            let figure = |name| row.figure(name);
            if row.source == WAIT && loaded {
                let room = self.waits.len() < MOST_WAITS;
                if room || self.waits.contains_key(&row.object) {
                    let sessions = figure("sessions").unwrap_or(0.0);
                    *self.waits.entry(row.object.clone()).or_default() += whole(sessions);
                }
                if row.object == "hidden" {
                    self.problem(
                        "waits of other roles' sessions are hidden (pg_monitor shows them)".into(),
                    );
                }
            }
            if row.source == REPLICATION {
                self.standbys = self.standbys.max(figure("standbys").unwrap_or(0.0));
                self.lag_bytes = greater(self.lag_bytes, figure("lag_bytes"));
                self.lag_s = greater(self.lag_s, figure("lag_s"));
                if figure("standbys_hidden").is_some_and(|hidden| hidden > 0.0) {
                    self.problem(
                        "the lag of standbys is hidden or not known (pg_monitor shows it)".into(),
                    );
                }
            }
        }
    }

    /// By how much a counter grew.
    ///
    /// # Errors
    /// It cannot be told, with the reason; empty where the server has no such counter.
    pub(super) fn grew(&self, source: &str, object: &str, name: &str) -> Result<f64, String> {
        self.known(source)?;
        let last = self.last.as_ref().and_then(|last| last.figure(source, object, name));
        let last = last.ok_or_else(String::new)?;
        let base = self.base.as_ref().and_then(|base| base.figure(source, object, name));
        // What was not listed at first had no figures then.
        let grew = last - base.unwrap_or(0.0);
        if grew < 0.0 { Err("its counters went backwards".into()) } else { Ok(grew) }
    }

    /// Whether the differences of a source can be told at all.
    pub(super) fn known(&self, source: &str) -> Result<(), String> {
        if let Some(reason) = self.broken.get(source) {
            return Err(reason.clone());
        }
        let (Some(base), Some(last)) = (&self.base, &self.last) else {
            return Err("there was no reading".into());
        };
        match (base.reset(source), last.reset(source)) {
            (Some(_), Some(_)) => Ok(()),
            (None, None) => Err(String::new()),
            (None, _) => Err("there was no reading before the load".into()),
            (_, None) => Err("there was no reading after the load".into()),
        }
    }

    /// Objects of a source whose counters can be told.
    pub(super) fn objects(&self, source: &'static str) -> impl Iterator<Item = &str> {
        let last = self.last.iter().flat_map(|last| &last.rows);
        let base = self.base.as_ref();
        let curtailed = base.is_some_and(|base| base.curtailed.contains(&source));
        last.filter(move |row| row.source == source).filter_map(move |row| {
            let known = !curtailed
                || base.is_some_and(|b| {
                    b.rows.iter().any(|r| r.source == source && r.object == row.object)
                });
            let forwards =
                !self.backwards.iter().any(|(s, object)| *s == source && *object == row.object);
            (known && forwards).then_some(row.object.as_str())
        })
    }
}

/// The server's counts are whole, and below what an f64 holds exactly.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made not to be negative"
)]
pub(super) fn whole(count: f64) -> u64 {
    count.round().max(0.0) as u64
}

fn kind(source: &str) -> Kind {
    SOURCES.iter().find(|known| known.name == source).map_or(Kind::Moment, |source| source.kind)
}

/// The database's reset takes the counters of its relations along.
fn reset(source: &str, last: &Reading, reading: &Reading) -> Option<String> {
    let of = if [TABLE, INDEX].contains(&source) { DATABASE } else { source };
    let (before, after) = (last.reset(of)?, reading.reset(of)?);
    (before != after).then(|| "its counters were set to zero meanwhile".to_owned())
}

fn fell(before: &Row, row: &Row) -> bool {
    row.figures
        .iter()
        .any(|(name, value)| before.figure(name).is_some_and(|before| before > *value))
}

fn greater(known: Option<f64>, more: Option<f64>) -> Option<f64> {
    match (known, more) {
        (Some(known), Some(more)) => Some(known.max(more)),
        (known, more) => known.or(more),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Instant;

    use super::*;
    use crate::observe::sampling::source::WAL;

    /// A reading of WAL, a table and a wait.
    pub(in crate::observe::sampling) fn reading(wal: f64, table: f64) -> Reading {
        let row = |source, object: &str, figures: &[(&'static str, f64)]| Row {
            source,
            object: object.into(),
            figures: figures.to_vec(),
        };
        Reading {
            at: Instant::now(),
            took_s: 0.01,
            started_us: 1,
            rows: vec![
                row(WAL, "", &[("wal_bytes", wal)]),
                row(DATABASE, "", &[("blks_read", 10.0), ("blks_hit", table)]),
                row(TABLE, "public.t", &[("heap_blks_hit", table), ("heap_blks_read", 1.0)]),
                row(WAIT, "running", &[("sessions", 3.0)]),
            ],
            read: vec![(WAL, None), (DATABASE, None), (TABLE, None), (WAIT, None)],
            curtailed: Vec::new(),
        }
    }

    fn folded(change: impl FnOnce(&mut Reading)) -> Fold {
        let mut fold = Fold::default();
        fold.add(reading(100.0, 7.0), false);
        let mut second = reading(150.0, 9.0);
        change(&mut second);
        fold.add(second, true);
        fold.add(reading(160.0, 12.0), false);
        fold
    }

    #[test]
    fn counters_are_told_by_their_growth() {
        let fold = folded(|_| ());
        assert_eq!(fold.grew(WAL, "", "wal_bytes"), Ok(60.0));
        assert_eq!(fold.grew(TABLE, "public.t", "heap_blks_hit"), Ok(5.0));
        assert_eq!(fold.objects(TABLE).collect::<Vec<_>>(), ["public.t"]);
        assert_eq!(fold.waits.get("running"), Some(&3), "only under load");
        assert_eq!(fold.readings, 3);
    }

    #[test]
    fn whatever_the_server_does_not_have_has_no_reason() {
        assert_eq!(folded(|_| ()).grew("io", "", "reads"), Err(String::new()));
        assert_eq!(folded(|_| ()).grew(WAL, "", "wal_fpi"), Err(String::new()));
    }

    #[test]
    fn a_difference_over_a_reset_is_never_told() {
        type Change = fn(&mut Reading);
        let cases: [(&str, Change); 4] = [
            ("restarted", |reading| reading.started_us = 2),
            ("set to zero", |reading| reading.read[0].1 = Some("today".into())),
            ("went backwards", |reading| reading.rows[0].figures[0].1 = 5.0),
            ("restarted", |reading| {
                reading.started_us = 2;
                reading.rows.clear();
            }),
        ];
        for (reason, change) in cases {
            let told = folded(change).grew(WAL, "", "wal_bytes");
            assert!(told.as_ref().is_err_and(|told| told.contains(reason)), "{reason}: {told:?}");
        }
    }

    #[test]
    fn a_reset_of_the_database_is_one_of_its_tables() {
        let fold = folded(|reading| reading.read[1].1 = Some("today".into()));
        assert!(fold.grew(TABLE, "public.t", "heap_blks_hit").is_err());
        assert_eq!(fold.grew(WAL, "", "wal_bytes"), Ok(60.0));
        let fold = folded(|reading| reading.rows[2].figures[0].1 = 0.0);
        assert_eq!(fold.objects(TABLE).count(), 0, "this table only");
        assert!(fold.known(TABLE).is_ok());
    }

    #[test]
    fn counting_begins_anew_where_it_is_told_to() {
        let mut fold = folded(|reading| reading.started_us = 2);
        fold.begin(&reading(160.0, 12.0));
        fold.add(reading(160.0, 12.0), true);
        fold.add(reading(170.0, 12.0), true);
        assert_eq!(fold.grew(WAL, "", "wal_bytes"), Ok(10.0));
    }

    #[test]
    fn a_problem_is_said_once() {
        let mut fold = Fold::default();
        for _ in 0..3 {
            fold.problem("no".into());
        }
        assert_eq!(fold.problems, ["no"]);
    }
}
