//! One second of results of one agent, aligned to the common start of the run.

use super::{Counts, ErrorCounts, Histogram};

/// Which part of a run an interval or a counter belongs to. A transaction belongs to the part in which
/// it was due (`-R`) or began; it is booked in the interval in which it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Load that no figure counts.
    Warmup,
    /// What the figures are about, to the end of the drain.
    Measure,
}

/// Results of one agent (or, merged, of the cluster) for one interval of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Which phase.
    pub phase: Phase,
    /// Intervals since the beginning of the phase, from 0.
    pub index: u32,
    /// Transactions that ended in it.
    pub counts: Counts,
    /// Response time: from when a transaction was due (or began, in a closed loop) to its end.
    pub response: Histogram,
    /// Service time: from when it was really begun; only under `-R`, where the two differ.
    pub service: Option<Histogram>,
    /// Schedule lag: from due to begun; only under `-R`.
    pub lag: Option<Histogram>,
    /// One entry a script where there are several; else empty.
    pub scripts: Vec<ScriptStats>,
    /// Errors that the server or the system reported.
    pub errors: ErrorCounts,
    /// Clients at work at its end that have what they need: a session, or under `-C` no trouble in
    /// getting one.
    pub clients: u32,
    /// Clients at work at its end whose session is lost (`--reconnect`).
    pub disconnected: u32,
    /// How the load host itself fared.
    pub vitals: Vitals,
}

/// Results of one script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptStats {
    /// Its transactions.
    pub counts: Counts,
    /// Their response time.
    pub response: Histogram,
}

/// Signs that the load host was the bottleneck, the worst of its workers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vitals {
    /// CPU time over wall time of the busiest worker thread, 0 to 1.
    pub cpu_fraction: f64,
    /// The longest time by which a worker's own timer fired late, in microseconds.
    pub loop_lag_us: u64,
    /// Resident memory of the process in bytes.
    pub rss_bytes: u64,
}

impl Vitals {
    /// Keeps the worse of both, figure by figure.
    pub fn worsen(&mut self, other: &Self) {
        self.cpu_fraction = self.cpu_fraction.max(other.cpu_fraction);
        self.loop_lag_us = self.loop_lag_us.max(other.loop_lag_us);
        self.rss_bytes = self.rss_bytes.max(other.rss_bytes);
    }
}

impl Interval {
    /// An empty interval with room for `scripts` scripts (0 where there is only one) and, under `-R`,
    /// service time and lag.
    #[must_use]
    pub fn new(phase: Phase, index: u32, scripts: usize, rate_limited: bool) -> Self {
        Self {
            phase,
            index,
            counts: Counts::default(),
            response: Histogram::new(),
            service: rate_limited.then(Histogram::new),
            lag: rate_limited.then(Histogram::new),
            scripts: vec![ScriptStats::default(); scripts],
            errors: ErrorCounts::default(),
            clients: 0,
            disconnected: 0,
            vitals: Vitals::default(),
        }
    }

    /// Forgets everything and becomes another interval; keeps the memory.
    pub fn reset(&mut self, phase: Phase, index: u32) {
        self.phase = phase;
        self.index = index;
        self.counts = Counts::default();
        self.response.clear();
        self.service.iter_mut().chain(&mut self.lag).for_each(Histogram::clear);
        for script in &mut self.scripts {
            script.counts = Counts::default();
            script.response.clear();
        }
        self.errors.0.clear();
        self.clients = 0;
        self.disconnected = 0;
        self.vitals = Vitals::default();
    }

    /// Adds the results of another worker or agent for the same interval; clients add up, vitals worsen.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.response.merge(&other.response);
        merge_optional(&mut self.service, other.service.as_ref());
        merge_optional(&mut self.lag, other.lag.as_ref());
        for (own, theirs) in self.scripts.iter_mut().zip(&other.scripts) {
            own.counts.merge(&theirs.counts);
            own.response.merge(&theirs.response);
        }
        self.errors.merge(&other.errors);
        self.clients = self.clients.saturating_add(other.clients);
        self.disconnected = self.disconnected.saturating_add(other.disconnected);
        self.vitals.worsen(&other.vitals);
    }
}

fn merge_optional(own: &mut Option<Histogram>, other: Option<&Histogram>) {
    match (own, other) {
        (Some(own), Some(other)) => own.merge(other),
        (own @ None, Some(other)) => *own = Some(other.clone()),
        (_, None) => {}
    }
}
