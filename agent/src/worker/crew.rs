//! All workers of a load: what they have in common, and how their threads are started.
//!
//! Everything that can be wrong with a plan on this host is found here, before a thread exists.

use std::sync::Arc;
use std::thread;

use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::{Share, WorkerShare};
use pgsurge_common::schedule::Window;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::clock::Timeline;
use super::gather::Gatherer;
use super::recorder::{Shape, Spares};
use super::{Command, Start, WorkerEvent, run};
use crate::load::{LoadError, LoadEvent, LoadOptions};

/// Memory that the histograms of a load may take on one host.
const HISTOGRAM_LIMIT_MIB: u64 = 1024;

/// See the module.
pub(crate) struct Crew {
    pub(crate) start: Arc<Start>,
    plan: Arc<Plan>,
    share: Share,
    spares: Spares,
}

/// What one worker starts with.
pub(super) struct Assignment {
    pub(super) plan: Arc<Plan>,
    pub(super) share: WorkerShare,
    pub(super) start: Arc<Start>,
    pub(super) timeline: Timeline,
    pub(super) spares: Spares,
    pub(super) commands: UnboundedReceiver<Command>,
    pub(super) outbox: Outbox,
}

/// A worker's way to the gatherer; never waits.
#[derive(Clone)]
pub(super) struct Outbox {
    worker: usize,
    sender: UnboundedSender<(usize, WorkerEvent)>,
}

impl Outbox {
    pub(super) fn send(&self, event: WorkerEvent) {
        // The gatherer outlives all workers, unless the process ends.
        let _ = self.sender.send((self.worker, event));
    }
}

impl Crew {
    /// Checks the plan against this host.
    pub(crate) fn new(
        plan: Arc<Plan>,
        share: &Share,
        _options: LoadOptions,
    ) -> Result<Self, LoadError> {
        if share.workers.is_empty() {
            return Err(LoadError::NoWorker);
        }
        let shape = Shape::of(&plan);
        check_memory(shape, share.workers.len())?;
        // One in progress and one on its way, for each worker.
        let spares = Spares::new(shape, 2 * share.workers.len());
        Ok(Self { start: Arc::default(), plan, share: share.clone(), spares })
    }

    /// Starts the threads; returns the way to each worker.
    pub(crate) fn begin(
        self,
        events: UnboundedSender<LoadEvent>,
    ) -> Result<Vec<UnboundedSender<Command>>, LoadError> {
        let (sender, inbox) = unbounded_channel();
        let mut workers = Vec::new();
        let mut assignments = Vec::new();
        for (worker, share) in self.share.workers.iter().enumerate() {
            let (commander, commands) = unbounded_channel();
            workers.push(commander);
            assignments.push(Assignment {
                plan: Arc::clone(&self.plan),
                share: *share,
                start: Arc::clone(&self.start),
                timeline: Timeline::new(Window::of(&self.plan.load)),
                spares: self.spares.clone(),
                commands,
                outbox: Outbox { worker, sender: sender.clone() },
            });
        }
        let gatherer =
            Gatherer { inbox, events, workers: workers.clone(), spares: self.spares.clone() };
        spawn("gather", move || gatherer.run())?;
        for assignment in assignments {
            // If a thread is refused, dropping the commanders ends those that run.
            spawn("worker", move || run::run(assignment))?;
        }
        Ok(workers)
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), LoadError> {
    thread::Builder::new().name(name.into()).spawn(body).map(drop).map_err(LoadError::Thread)
}

fn check_memory(shape: Shape, workers: usize) -> Result<(), LoadError> {
    /// In progress, on its way, being merged.
    const PER_WORKER: u64 = 3;
    const MIB: u64 = 1024 * 1024;
    let intervals = PER_WORKER * u64::try_from(workers).unwrap_or(u64::MAX / PER_WORKER);
    let needed_mib = shape.interval_bytes().saturating_mul(intervals).div_ceil(MIB);
    if needed_mib > HISTOGRAM_LIMIT_MIB {
        return Err(LoadError::TooMuchMemory { needed_mib, limit_mib: HISTOGRAM_LIMIT_MIB });
    }
    Ok(())
}
