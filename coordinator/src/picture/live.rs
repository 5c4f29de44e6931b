//! The charts of a run that still goes on: the same as those of its page, point by point.

use pgsurge_common::stats::{Phase, ScriptStats};
use serde::Serialize;
use serde_json::value::RawValue;

use super::charts::over_time;
use super::record::{IntervalRow, Part, PartRow, Record, Shows};
use crate::merge::{ClusterInterval, PartInterval};

/// So many agents have lines; with more of them the page gets heavy and nobody can tell them apart.
const AGENTS_MOST: usize = 12;

/// Charts that grow with each interval.
#[derive(Debug)]
pub struct Growing {
    record: Record,
    interval_s: f64,
}

/// A chart with all its points so far.
#[derive(Debug, Serialize)]
pub struct Drawn {
    id: &'static str,
    title: String,
    note: String,
    /// Data, layout and configuration for the charting library.
    chart: Box<RawValue>,
}

/// The next point of each line of a chart.
#[derive(Debug, Serialize, PartialEq)]
pub struct Next {
    id: &'static str,
    t: f64,
    y: Vec<Option<f64>>,
}

/// What the charts are of.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    /// Length of an interval in seconds.
    pub interval_s: f64,
    /// Under `-R`.
    pub rate_limited: bool,
    /// Under `-R` with `-L` transactions may be skipped.
    pub skips: bool,
    /// Names of the scripts, where there are several; else empty.
    pub scripts: &'a [String],
}

impl Growing {
    /// Empty ones.
    #[must_use]
    pub fn new(kind: Kind<'_>, agents: &[String]) -> Self {
        let shows = Shows { failed: true, skipped: kind.skips, rate_limited: kind.rate_limited };
        let mut record = Record::new(shows);
        record.agents = agents.iter().take(AGENTS_MOST).map(|name| Part::new(name)).collect();
        record.scripts = kind.scripts.iter().map(|name| Part::new(name)).collect();
        Self { record, interval_s: kind.interval_s }
    }

    /// Adds an interval of the measured part; returns what the charts have to be given. `None` where they have to be
    /// drawn anew.
    pub fn push(&mut self, ready: &ClusterInterval) -> Option<Vec<Next>> {
        if ready.interval.phase != Phase::Measure {
            return Some(Vec::new());
        }
        let was_empty = self.record.intervals.rows().is_empty();
        let mut newest = self.empty();
        for record in [&mut self.record, &mut newest] {
            let row = IntervalRow::of(&ready.interval, self.interval_s);
            let (t_s, width_s) = (row.t_s, row.width_s);
            record.intervals.push(row);
            for part in &ready.parts {
                if let Some(agent) = record.agents.get_mut(part.part.0 as usize) {
                    agent.rows.push(PartRow::of_agent(part, t_s, width_s));
                }
            }
            for (script, stats) in record.scripts.iter_mut().zip(&ready.interval.scripts) {
                script.rows.push(PartRow::of_script(stats, t_s, width_s));
            }
        }
        let t = newest.intervals.rows()[0].t_s;
        let next = over_time(&newest).into_iter();
        let next = next.map(|chart| Next { id: chart.id, t, y: chart.newest().to_vec() }).collect();
        (!was_empty).then_some(next)
    }

    /// The measured part is over after so many seconds: its last interval ends there.
    pub fn end_at(&mut self, end_s: f64) {
        let left = |t_s: f64, width_s: f64| match end_s - t_s {
            left_s if left_s > 0.0 => width_s.min(left_s),
            _ => width_s,
        };
        if let Some(row) = self.record.intervals.last_mut() {
            row.width_s = left(row.t_s, row.width_s);
        }
        for part in self.record.agents.iter_mut().chain(&mut self.record.scripts) {
            if let Some(row) = part.rows.last_mut() {
                row.width_s = left(row.t_s, row.width_s);
            }
        }
        self.record.leave_out_tail(self.interval_s);
    }

    /// All charts.
    #[must_use]
    pub fn charts(&self) -> Vec<Drawn> {
        let drawn = |chart: super::chart::Chart| {
            let (id, title, note) = (chart.id, chart.title.clone(), chart.note.clone());
            let chart = RawValue::from_string(chart.json()).expect("the library makes JSON");
            Drawn { id, title, note, chart }
        };
        over_time(&self.record).into_iter().map(drawn).collect()
    }

    /// The same lines without points.
    fn empty(&self) -> Record {
        let mut record = Record::new(self.record.shows);
        let parts = |parts: &[Part]| parts.iter().map(|part| Part::new(&part.name)).collect();
        record.agents = parts(&self.record.agents);
        record.scripts = parts(&self.record.scripts);
        record
    }
}

impl PartRow {
    fn of_agent(part: &PartInterval, t_s: f64, width_s: f64) -> Self {
        let p99_ms = part.response_us.map(|[_, p99, _]| p99 as f64 / 1000.0);
        let cpu_fraction = Some(part.vitals.cpu_fraction);
        let transactions = part.counts.transactions;
        Self { t_s, transactions, p99_ms, cpu_fraction, width_s, ..Self::default() }
    }

    fn of_script(stats: &ScriptStats, t_s: f64, width_s: f64) -> Self {
        let response = Some(&stats.response).filter(|h| !h.is_empty());
        let p99_ms = response.map(|h| h.quantile_us(0.99) as f64 / 1000.0);
        Self { t_s, transactions: stats.counts.transactions, p99_ms, width_s, ..Self::default() }
    }
}
