//! A worker's statistics: the interval in progress of each phase, and totals counted apart from them.
//!
//! Owned by one worker, so nothing here locks. Intervals roll when something ends after their own
//! end (that time has been read already) and by the worker's clock when nothing happens. Recording
//! allocates nothing: intervals that were merged come back as spares.

mod absence;

use pgsurge_common::ids::ClientId;
use pgsurge_common::outcome::ErrorClass;
use pgsurge_common::stats::{Counts, ErrorCounts, Histogram, Interval, Outages, Phase};

use absence::Absence;

use super::clock::{RunTime, Timeline};
use super::spares::{Shape, Spares};

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It is done.
    Success,
    /// It failed for good, without ending its client.
    Failed(ErrorClass),
}

/// One transaction, as it is booked.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The phase in which it was due.
    pub phase: Phase,
    /// Number of its script.
    pub script: usize,
    /// When it was due (`-R`) or began.
    pub due: RunTime,
    /// When it began.
    pub begun: RunTime,
    /// When it ended.
    pub end: RunTime,
    /// How it ended.
    pub ended: Ended,
    /// Tries beyond the first.
    pub retries: u32,
    /// Commits that the server must have counted for it.
    pub commits: u32,
}

/// Counted apart from the intervals, so that the two check each other (I1).
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The measured part.
    pub measured: Counts,
    /// The warm-up.
    pub warmup: Counts,
    /// Errors of the whole run.
    pub errors: ErrorCounts,
    /// Worst lateness of the first transaction against its due time.
    pub first_lateness_us: Option<u64>,
    /// End of the last transaction, since the measured part began.
    pub last_end_us: u64,
    /// When clients were without their sessions.
    pub outages: Outages,
    /// From the loss of each session to the next one; only where any was lost.
    pub reconnecting: Option<Histogram>,
}

/// See the module. `close` receives each interval when it is over.
pub struct Recorder {
    timeline: Timeline,
    shape: Shape,
    spares: Spares,
    close: Box<dyn FnMut(Box<Interval>)>,
    warmup: Option<Box<Interval>>,
    measure: Box<Interval>,
    /// Transactions of the warm-up that were begun (or are waited for) and have not ended.
    warmup_in_flight: u32,
    /// Clients still at work.
    clients: u32,
    /// Those of them that have lost their session.
    absence: Absence,
    tally: Tally,
}

impl Recorder {
    /// A recorder without clients yet. `close` gets each interval that is over, with everything
    /// but its vitals filled in.
    pub fn new(timeline: Timeline, spares: Spares, close: Box<dyn FnMut(Box<Interval>)>) -> Self {
        let warmup = timeline.has_warmup().then(|| spares.take(Phase::Warmup, 0));
        let measure = spares.take(Phase::Measure, 0);
        let shape = spares.shape();
        let tally = Tally::default();
        Self {
            timeline,
            shape,
            spares,
            close,
            warmup,
            measure,
            warmup_in_flight: 0,
            clients: 0,
            absence: Absence::default(),
            tally,
        }
    }

    /// Clients begin at `at`: there are no intervals before. Must come before anything is booked.
    pub fn join(&mut self, at: RunTime) {
        let index = |phase| self.timeline.index(phase, at);
        if self.timeline.is_measuring(at) {
            self.measure.reset(Phase::Measure, index(Phase::Measure));
            self.warmup = None;
        } else if let Some(warmup) = &mut self.warmup {
            warmup.reset(Phase::Warmup, self.timeline.index(Phase::Warmup, at));
        }
    }

    /// A transaction is under way (or its client waits for its due time).
    pub fn enter(&mut self, phase: Phase) {
        self.warmup_in_flight += u32::from(phase == Phase::Warmup);
    }

    /// A transaction that was due begins; only the first of the worker matters.
    pub fn begun(&mut self, due: RunTime, begun: RunTime) {
        if self.tally.first_lateness_us.is_none() {
            self.tally.first_lateness_us = Some(begun.us_since(due));
        }
    }

    /// The transaction that was entered has ended, whether it is booked or not.
    pub fn leave(&mut self, phase: Phase) {
        self.warmup_in_flight -= u32::from(phase == Phase::Warmup);
    }

    /// Books a transaction in the interval in which it ended.
    pub fn book(&mut self, sample: &Sample) {
        let shape = self.shape;
        self.tally_up(sample);
        let interval = self.interval_at(sample.phase, sample.end);
        count(&mut interval.counts, sample, shape.latency_limit_us);
        if let Some(script) = interval.scripts.get_mut(sample.script) {
            count(&mut script.counts, sample, shape.latency_limit_us);
            if sample.ended == Ended::Success {
                script.response.record(sample.end.us_since(sample.due));
            }
        }
        if sample.ended != Ended::Success {
            return;
        }
        interval.response.record(sample.end.us_since(sample.due));
        if let Some(service) = &mut interval.service {
            service.record(sample.end.us_since(sample.begun));
        }
        if let Some(lag) = &mut interval.lag {
            lag.record(sample.begun.us_since(sample.due));
        }
    }

    /// Books transactions that were never sent, since they would have been too late.
    pub fn skip(&mut self, phase: Phase, script: usize, now: RunTime, count: u64) {
        self.tally_of(phase).skipped += count;
        let interval = self.interval_at(phase, now);
        interval.counts.skipped += count;
        if let Some(script) = interval.scripts.get_mut(script) {
            script.counts.skipped += count;
        }
    }

    fn tally_of(&mut self, phase: Phase) -> &mut Counts {
        match phase {
            Phase::Warmup => &mut self.tally.warmup,
            Phase::Measure => &mut self.tally.measured,
        }
    }

    fn tally_up(&mut self, sample: &Sample) {
        let limit = self.shape.latency_limit_us;
        count(self.tally_of(sample.phase), sample, limit);
        if sample.phase == Phase::Measure {
            self.tally.last_end_us =
                self.tally.last_end_us.max(self.timeline.us_measured(sample.end));
        }
    }

    /// A client spent time on opening (then `opened` is 1) or closing a session between transactions.
    pub fn connection(&mut self, phase: Phase, at: RunTime, opened: u64, us: u64) {
        let own = self.tally_of(phase);
        own.connects += opened;
        own.connect_us += us;
        let interval = self.interval_at(phase, at);
        interval.counts.connects += opened;
        interval.counts.connect_us += us;
    }

    /// The server or the system reported an error.
    pub fn error(&mut self, phase: Phase, at: RunTime, kind: &str) {
        self.tally.errors.add(kind, 1);
        self.interval_at(phase, at).errors.add(kind, 1);
    }

    /// A client has lost its session, or failed to get one; `true` if it is the first one that is without.
    pub fn lost(&mut self, client: ClientId, at: RunTime, error: &str) -> bool {
        self.roll(at);
        let at_us = self.timeline.us_from_start(at);
        self.absence.begin(client, at_us, error)
    }

    /// Another attempt to open a session has failed.
    pub fn still_lost(&mut self, error: &str) {
        self.absence.go_on(error);
    }

    /// A client that lost its session at `lost` has another one; `true` if it was the last one without.
    pub fn back(&mut self, lost: RunTime, now: RunTime) -> bool {
        self.roll(now);
        let phase = self.timeline.phase(now);
        self.tally_of(phase).reconnects += 1;
        self.interval_at(phase, now).counts.reconnects += 1;
        let reconnecting = self.tally.reconnecting.get_or_insert_with(Histogram::new);
        reconnecting.record(now.us_since(lost));
        self.absence.end_one(self.timeline.us_from_start(now), true)
    }

    /// A client that is without a session ends, with all its work done or not.
    pub fn ended_lost(&mut self, now: RunTime, done: bool) {
        self.roll(now);
        self.absence.end_one(self.timeline.us_from_start(now), done);
    }

    /// Books the time that passed for the clients without a session.
    fn pass(&mut self, now: RunTime) {
        let Some((since, clients)) = self.absence.pass(now) else { return };
        let border = RunTime::from_us(self.timeline.window().measure_start_us);
        let parts =
            [(Phase::Warmup, since, now.min(border)), (Phase::Measure, since.max(border), now)];
        for (phase, from, to) in parts {
            let us = u64::from(clients) * to.us_since(from);
            self.tally_of(phase).unreachable_us += us;
            self.current(phase).counts.unreachable_us += us;
        }
    }

    /// A client begins.
    pub fn client_joined(&mut self) {
        self.clients += 1;
    }

    /// A client is done.
    pub fn client_left(&mut self) {
        self.clients -= 1;
    }

    /// Closes all intervals that are over at `now`.
    pub fn roll(&mut self, now: RunTime) {
        if self.timeline.is_measuring(now) && self.warmup_in_flight == 0 {
            self.end_warmup();
        } else if self.warmup.is_some() {
            self.interval_at(Phase::Warmup, now);
        }
        if self.timeline.is_measuring(now) {
            self.interval_at(Phase::Measure, now);
        }
        self.pass(now);
    }

    /// Closes what is left, at the end of the load.
    pub fn finish(mut self, now: RunTime) -> Tally {
        self.warmup_in_flight = 0;
        self.roll(now);
        if !self.timeline.is_measuring(now)
            && let Some(last) = self.warmup.take()
        {
            self.hand_over(last);
        }
        let Self { timeline, measure, mut close, absence, mut tally, .. } = self;
        tally.outages = absence.finish(timeline.us_from_start(now));
        if timeline.is_measuring(now) {
            close(measure);
        }
        tally
    }

    fn end_warmup(&mut self) {
        if self.warmup.is_some() {
            let beginning = RunTime::from_us(self.timeline.window().measure_start_us);
            self.interval_at(Phase::Warmup, beginning);
            self.pass(beginning);
        }
        if let Some(last) = self.warmup.take() {
            self.hand_over(last);
        }
    }

    /// The interval of `phase` in which something ends at `end`, after closing those before it.
    fn interval_at(&mut self, phase: Phase, end: RunTime) -> &mut Interval {
        let index = self.timeline.index(phase, end);
        while self.current(phase).index < index {
            let next = self.current(phase).index + 1;
            if self.absence.is_any() {
                self.pass(self.timeline.beginning(phase, next));
            }
            let next = self.spares.take(phase, next);
            let over = std::mem::replace(self.current(phase), next);
            self.hand_over(over);
        }
        self.current(phase)
    }

    fn current(&mut self, phase: Phase) -> &mut Box<Interval> {
        match (phase, &mut self.warmup) {
            (Phase::Warmup, Some(warmup)) => warmup,
            // Without a warm-up nothing can be due in it.
            (Phase::Warmup, None) | (Phase::Measure, _) => &mut self.measure,
        }
    }

    fn hand_over(&mut self, mut over: Box<Interval>) {
        over.disconnected = self.absence.clients();
        over.clients = self.clients.saturating_sub(over.disconnected);
        (self.close)(over);
    }
}

/// Adds one transaction to counters.
fn count(counts: &mut Counts, sample: &Sample, latency_limit_us: Option<u64>) {
    match sample.ended {
        Ended::Success => {
            counts.transactions += 1;
            let response = sample.end.us_since(sample.due);
            counts.late += u64::from(latency_limit_us.is_some_and(|limit| response > limit));
        }
        Ended::Failed(ErrorClass::Serialization) => counts.serialization_failures += 1,
        Ended::Failed(ErrorClass::Deadlock) => counts.deadlock_failures += 1,
        Ended::Failed(ErrorClass::Other) => counts.other_failures += 1,
        Ended::Failed(ErrorClass::Connection) => counts.connection_failures += 1,
    }
    counts.retried += u64::from(sample.retries > 0);
    counts.retries += u64::from(sample.retries);
    counts.commits += u64::from(sample.commits);
}

#[cfg(test)]
mod tests;
