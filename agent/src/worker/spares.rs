//! Intervals that are empty again, so that a second costs no allocation, and how large one is.
//!
//! Shared by the workers and the gatherer of a load, and touched once an interval, never by a
//! transaction.

#![allow(clippy::vec_box)] // the boxes come and go through channels as they are

use std::sync::{Arc, Mutex, PoisonError};

use pgsurge_common::plan::Plan;
use pgsurge_common::stats::{Interval, Phase};

/// What the figures of a plan need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Scripts with figures of their own: none, or at least two.
    pub scripts: usize,
    /// Response time, service time and lag differ (`-R`).
    pub rate_limited: bool,
    /// Above this many microseconds a transaction is late (`-L`).
    pub latency_limit_us: Option<u64>,
}

impl Shape {
    /// What a plan asks for.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let scripts = plan.workload.scripts.len();
        Self {
            scripts: if scripts > 1 { scripts } else { 0 },
            rate_limited: plan.load.rate_tps.is_some(),
            latency_limit_us: plan.load.latency_limit_us,
        }
    }

    /// Memory of one interval in bytes, nearly all of it histograms.
    #[must_use]
    pub fn interval_bytes(&self) -> u64 {
        const HISTOGRAM: u64 = 190 * 1024;
        let histograms = 1 + 2 * usize::from(self.rate_limited) + self.scripts;
        HISTOGRAM * u64::try_from(histograms).unwrap_or(u64::MAX / HISTOGRAM)
    }
}

/// Empty intervals that wait to be used again. Touched once an interval, never by a transaction.
#[derive(Clone, Debug)]
pub struct Spares {
    shape: Shape,
    most: usize,
    waiting: Arc<Mutex<Vec<Box<Interval>>>>,
}

impl Spares {
    /// What the figures of the plan need.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// No spares yet; keeps at most `most`.
    #[must_use]
    pub fn new(shape: Shape, most: usize) -> Self {
        Self { shape, most, waiting: Arc::default() }
    }

    /// An empty interval, a spare one if there is one.
    #[must_use]
    pub fn take(&self, phase: Phase, index: u32) -> Box<Interval> {
        let spare = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(mut interval) = spare else {
            let Shape { scripts, rate_limited, .. } = self.shape;
            return Box::new(Interval::new(phase, index, scripts, rate_limited));
        };
        interval.reset(phase, index);
        interval
    }

    /// Gives an interval back.
    pub fn give(&self, interval: Box<Interval>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < self.most {
            waiting.push(interval);
        }
    }
}
