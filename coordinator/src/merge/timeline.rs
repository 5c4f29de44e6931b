//! The measured part over time in bounded memory: one point an interval, and beyond 3600 points one for
//! every two, four, ... intervals (I7).
//!
//! Each point keeps its histogram packed (some kB), so that the percentiles of a coarsened point are
//! those of all its samples, not the mean or the greatest of the intervals' percentiles.

use std::time::Duration;

use pgsurge_common::stats::{
    Counts, ErrorCounts, Histogram, Interval, Moments, PackedHistogram, micros,
};

use super::ClusterInterval;

/// See the module.
#[derive(Clone, Debug)]
pub struct Timeline {
    interval_us: u64,
    /// Points kept at most, an even number.
    pub(super) most: usize,
    /// Intervals per point, a power of two.
    width: u32,
    points: Vec<TimelinePoint>,
}

/// One interval, or the sum of several consecutive ones.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelinePoint {
    /// The first of its intervals.
    pub first: u32,
    /// How many.
    pub intervals: u32,
    /// Counters, summed.
    pub counts: Counts,
    /// Response times of all its intervals.
    pub response: PackedHistogram,
    /// Schedule lag of all its intervals; nothing without `-R`.
    pub lag: Moments,
    /// Errors that the server or the system reported.
    pub errors: ErrorCounts,
    /// Clients at work at its end, with a session.
    pub clients: u32,
    /// Those without.
    pub disconnected: u32,
    /// Agents whose results are in it; the fewest of its intervals.
    pub agents: u32,
    /// No agent is missing in any of its intervals.
    pub complete: bool,
    /// Agents that were unreachable; the most of its intervals.
    pub unreachable: u32,
    /// Clients at work at its end that were taken over from lost agents.
    pub moved: u32,
}

impl TimelinePoint {
    fn of(ready: &ClusterInterval) -> Self {
        Self {
            first: ready.interval.index,
            intervals: 1,
            counts: ready.interval.counts,
            response: ready.interval.response.pack(),
            lag: ready.interval.lag.as_ref().map(Histogram::moments).copied().unwrap_or_default(),
            errors: ready.interval.errors.clone(),
            clients: ready.interval.clients,
            disconnected: ready.interval.disconnected,
            agents: ready.agents,
            complete: ready.complete,
            unreachable: u32::try_from(ready.unreachable.len()).unwrap_or(u32::MAX),
            moved: ready.moved,
        }
    }

    /// Adds the point that follows.
    fn extend(&mut self, next: &Self) {
        self.intervals += next.intervals;
        self.counts.merge(&next.counts);
        self.response.merge(&next.response);
        self.lag.merge(&next.lag);
        self.errors.merge(&next.errors);
        self.clients = next.clients;
        self.disconnected = next.disconnected;
        self.agents = self.agents.min(next.agents);
        self.complete &= next.complete;
        self.unreachable = self.unreachable.max(next.unreachable);
        self.moved = next.moved;
    }
}

impl Timeline {
    /// Points kept at most.
    pub const MOST: usize = 3600;

    pub(super) fn new(interval: Duration) -> Self {
        Self::with_most(interval, Self::MOST)
    }

    pub(super) fn with_most(interval: Duration, most: usize) -> Self {
        Self { interval_us: micros(interval), most, width: 1, points: Vec::new() }
    }

    /// Adds the next interval.
    pub(super) fn push(&mut self, ready: &ClusterInterval) {
        let point = TimelinePoint::of(ready);
        if let Some(last) = self.points.last_mut()
            && last.intervals < self.width
        {
            return last.extend(&point);
        }
        if self.points.len() == self.most {
            self.coarsen();
        }
        self.points.push(point);
    }

    /// Adds what an agent delivered after the interval was pushed without it. The point stays marked as
    /// incomplete, as the interval was where it was shown before.
    pub(super) fn amend(&mut self, late: &Interval) {
        if let Some(point) = self.points.get_mut((late.index / self.width) as usize) {
            point.counts.merge(&late.counts);
            point.response.merge(&late.response.pack());
            point.errors.merge(&late.errors);
            if let Some(lag) = &late.lag {
                point.lag.merge(lag.moments());
            }
        }
    }

    /// The points in order, each as long as [`Timeline::width`] says but for the last.
    #[must_use]
    pub fn points(&self) -> &[TimelinePoint] {
        &self.points
    }

    /// Intervals that a full point stands for.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// From the start of the measured part to that of the point, and the length of the point, in seconds.
    #[must_use]
    pub fn span_s(&self, point: &TimelinePoint) -> (f64, f64) {
        let seconds = |intervals: u32| f64::from(intervals) * self.interval_us as f64 / 1e6;
        (seconds(point.first), seconds(point.intervals))
    }

    /// Memory of all histograms, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.points.iter().map(|point| point.response.heap_bytes()).sum()
    }

    /// Makes one point of every two.
    fn coarsen(&mut self) {
        self.width = self.width.saturating_mul(2);
        let mut pairs = std::mem::take(&mut self.points).into_iter();
        while let Some(mut point) = pairs.next() {
            if let Some(next) = pairs.next() {
                point.extend(&next);
            }
            self.points.push(point);
        }
    }
}
