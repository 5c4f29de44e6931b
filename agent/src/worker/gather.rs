//! One thread an agent that merges what its workers say before anything is sent out.
//!
//! Emits intervals in order within each phase, each as soon as every worker that is still at work
//! has closed it. Invariant I1: an interval of a worker enters exactly one merged interval.

#![allow(clippy::vec_box)] // the boxes come and go through channels as they are

use std::collections::VecDeque;

use pgsurge_common::stats::{Interval, Phase, Totals};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::spares::Spares;
use super::{Command, WorkerEvent, WorkerResult};
use crate::load::{LoadEvent, Ready, Stop};
use crate::vitals;

/// See the module.
pub struct Gatherer {
    /// From all workers.
    pub inbox: UnboundedReceiver<(usize, WorkerEvent)>,
    /// To the owner of the load.
    pub events: UnboundedSender<LoadEvent>,
    /// To each worker, for ends that a worker asks for.
    pub workers: Vec<UnboundedSender<Command>>,
    /// Where merged intervals go to be used again.
    pub spares: Spares,
}

impl Gatherer {
    /// Runs until all workers are done. The owner may have gone; then its events go nowhere.
    pub fn run(mut self) {
        let mut ready = Gathered::<Ready>::new(self.workers.len());
        let mut results = Gathered::<WorkerResult>::new(self.workers.len());
        let mut warmup = Merging::new(self.workers.len());
        let mut measure = Merging::new(self.workers.len());
        while let Some((worker, event)) = self.inbox.blocking_recv() {
            match event {
                WorkerEvent::Connected(part) => {
                    if let Some(parts) = ready.add(worker, *part) {
                        self.tell(LoadEvent::Ready(Box::new(merge_ready(parts))));
                    }
                }
                WorkerEvent::Interval(part) => {
                    let merging = match part.phase {
                        Phase::Warmup => &mut warmup,
                        Phase::Measure => &mut measure,
                    };
                    merging.add(worker, part, &self.spares);
                    self.emit(merging.complete());
                }
                WorkerEvent::Notice(notice) => self.tell(LoadEvent::Notice(notice)),
                WorkerEvent::Abort(worker, reason) => {
                    self.stop_all();
                    self.tell(LoadEvent::AbortRun { worker, reason });
                }
                WorkerEvent::Died => {
                    // Its figures are lost, so there is no end that could be told.
                    self.stop_all();
                    return;
                }
                WorkerEvent::Done(part) => {
                    self.emit(warmup.finish(worker));
                    self.emit(measure.finish(worker));
                    if let Some(parts) = results.add(worker, *part) {
                        let connect = ready.parts.iter().flatten();
                        let totals = merge_results(parts, connect);
                        self.tell(LoadEvent::Finished(Box::new(totals)));
                        return;
                    }
                }
            }
        }
    }

    fn emit(&self, complete: Vec<Box<Interval>>) {
        for mut interval in complete {
            interval.vitals.rss_bytes = vitals::resident_bytes();
            self.tell(LoadEvent::Interval(interval));
        }
    }

    fn stop_all(&self) {
        for worker in &self.workers {
            // A worker that is gone needs no command.
            let _ = worker.send(Command::Stop(Stop::Now));
        }
    }

    fn tell(&self, event: LoadEvent) {
        // Nobody listens after the owner dropped the load; the workers are ending then.
        let _ = self.events.send(event);
    }
}

/// One part of each worker; complete with the last.
struct Gathered<T> {
    parts: Vec<Option<T>>,
}

impl<T: Clone> Gathered<T> {
    fn new(workers: usize) -> Self {
        Self { parts: vec![None; workers] }
    }

    fn add(&mut self, worker: usize, part: T) -> Option<Vec<T>> {
        self.parts[worker] = Some(part);
        self.parts.iter().cloned().collect()
    }
}

/// The intervals of one phase that some worker has closed and not all.
struct Merging {
    /// The index that each worker closes next; `None` when it is done.
    next: Vec<Option<u32>>,
    /// Index of the first one waiting; that of the first one of all is any worker's first.
    first: Option<u32>,
    waiting: VecDeque<Box<Interval>>,
}

impl Merging {
    fn new(workers: usize) -> Self {
        Self { next: vec![Some(0); workers], first: None, waiting: VecDeque::new() }
    }

    fn add(&mut self, worker: usize, part: Box<Interval>, spares: &Spares) {
        self.next[worker] = Some(part.index + 1);
        let first = *self.first.get_or_insert(part.index);
        let place = usize::try_from(part.index - first).unwrap_or(usize::MAX);
        if let Some(merged) = self.waiting.get_mut(place) {
            merged.merge(&part);
            spares.give(part);
        } else {
            self.waiting.push_back(part);
        }
    }

    fn finish(&mut self, worker: usize) -> Vec<Box<Interval>> {
        self.next[worker] = None;
        self.complete()
    }

    fn complete(&mut self) -> Vec<Box<Interval>> {
        let closed = self.next.iter().flatten().min().copied().unwrap_or(u32::MAX);
        let Some(first) = &mut self.first else { return Vec::new() };
        // Workers that have closed none yet of clients that joined later are before the first.
        let count = usize::try_from(closed.saturating_sub(*first)).unwrap_or(usize::MAX);
        let over: Vec<_> = self.waiting.drain(..count.min(self.waiting.len())).collect();
        *first += u32::try_from(over.len()).unwrap_or(u32::MAX);
        over
    }
}

fn merge_ready(parts: Vec<Ready>) -> Ready {
    let mut merged = Ready::default();
    for part in parts {
        merged.connect.merge(&part.connect);
        merged.direct = merged.direct.or(part.direct);
    }
    merged
}

fn merge_results<'a>(parts: Vec<WorkerResult>, ready: impl Iterator<Item = &'a Ready>) -> Totals {
    /// Aborted clients that are named; the others are only counted.
    const MOST_NAMED: usize = 100;
    let mut totals = Totals::default();
    ready.for_each(|part| totals.connect.merge(&part.connect));
    let mut first_lateness_us = None;
    for part in parts {
        let tally = part.tally;
        totals.measured.merge(&tally.measured);
        totals.warmup.merge(&tally.warmup);
        totals.errors.merge(&tally.errors);
        totals.outages.merge(&tally.outages);
        if let Some(reconnecting) = &tally.reconnecting {
            totals.reconnecting.merge(reconnecting);
        }
        totals.extra_commits += part.extra_commits;
        totals.aborted_clients += part.aborted_clients;
        totals.aborted.extend(part.aborted);
        first_lateness_us = first_lateness_us.max(tally.first_lateness_us);
        totals.last_end_us = totals.last_end_us.max(tally.last_end_us);
        totals.inherited_backlog += part.dropped_backlog;
        merge_statements(&mut totals.statements, part.statements);
        totals.clients.extend(part.clients);
        totals.cpu_fraction = totals.cpu_fraction.max(part.cpu_fraction);
        if let Some(log) = part.log {
            totals.log.get_or_insert_default().merge(&log);
        }
        for reason in part.commits_unpredictable {
            if !totals.commits_unpredictable.contains(&reason) {
                totals.commits_unpredictable.push(reason);
            }
        }
    }
    totals.start_offset_us =
        first_lateness_us.map_or(0, |lateness| i64::try_from(lateness).unwrap_or(i64::MAX));
    totals.aborted.truncate(MOST_NAMED);
    totals.clients.sort_by_key(|client| client.client);
    totals
}

fn merge_statements(
    own: &mut Vec<Vec<pgsurge_common::stats::StatementStats>>,
    other: Vec<Vec<pgsurge_common::stats::StatementStats>>,
) {
    if own.is_empty() {
        *own = other;
        return;
    }
    for (own, other) in own.iter_mut().flatten().zip(other.into_iter().flatten()) {
        own.latency.merge(&other.latency);
        own.failures += other.failures;
        own.retries += other.retries;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::spares::Shape;
    use super::*;

    fn spares() -> Spares {
        let shape = Shape { scripts: 0, rate_limited: false, latency_limit_us: None };
        Spares::new(shape, 2)
    }

    fn interval(index: u32, transactions: u64) -> Box<Interval> {
        let mut interval = Interval::new(Phase::Measure, index, 0, false);
        interval.counts.transactions = transactions;
        Box::new(interval)
    }

    proptest! {
        #[test]
        fn intervals_come_out_in_order_each_once_whatever_the_order_of_the_workers(
            lengths in prop::collection::vec(0u32..6, 1..4),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 30),
            joined in 0u32..100,
        ) {
            let mut merging = Merging::new(lengths.len());
            let mut sent = vec![0; lengths.len()];
            let mut out = Vec::new();
            let mut picks = picks.into_iter();
            loop {
                let open: Vec<_> =
                    (0..lengths.len()).filter(|w| merging.next[*w].is_some()).collect();
                if open.is_empty() { break }
                let worker = open[picks.next().map_or(0, |pick| pick.index(open.len()))];
                if sent[worker] < lengths[worker] {
                    merging.add(worker, interval(joined + sent[worker], 1), &spares());
                    sent[worker] += 1;
                    out.extend(merging.complete());
                } else {
                    out.extend(merging.finish(worker));
                }
            }
            let longest = lengths.iter().max().copied().unwrap_or(0);
            prop_assert_eq!(out.len(), usize::try_from(longest).unwrap_or(0));
            for (index, merged) in (0..longest).zip(&out) {
                prop_assert_eq!(merged.index, joined + index);
                let workers = lengths.iter().filter(|length| **length > index).count();
                prop_assert_eq!(merged.counts.transactions, workers as u64);
            }
        }
    }
}
