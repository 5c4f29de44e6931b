//! All workers of a load: what they have in common, and how their threads are started.
//!
//! Everything that can be wrong with a plan on this host is found here, before a thread exists.

use std::sync::Arc;
use std::thread;

use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::{Share, WorkerShare};
use pgsurge_common::random::Streams;
use pgsurge_common::schedule::Window;
use pgsurge_common::script::Program;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::clock::Timeline;
use super::gate::Gate;
use super::gather::Gatherer;
use super::log::{File as LogFile, Place as LogPlace, Written};
use super::spares::{Shape, Spares};
use super::{Command, Start, WorkerEvent, run};
use crate::client::unpredictable_commits;
use crate::load::{LoadError, LoadEvent, LoadOptions};
use crate::wire::Connector;

/// Memory that the histograms of a load may take on one host.
const HISTOGRAM_LIMIT_MIB: u64 = 1024;

/// See the module.
pub(crate) struct Crew {
    pub(crate) start: Arc<Start>,
    plan: Arc<Plan>,
    program: Arc<Program>,
    unpredictable: Vec<String>,
    connector: Connector,
    share: Share,
    spares: Spares,
    /// One a worker; empty without `-l`.
    logs: Vec<LogFile>,
}

/// What one worker starts with.
pub(super) struct Assignment {
    pub(super) plan: Arc<Plan>,
    pub(super) program: Arc<Program>,
    pub(super) streams: Streams,
    pub(super) share: WorkerShare,
    /// How often these clients have changed their agent.
    pub(super) moves: u32,
    pub(super) connector: Connector,
    pub(super) gate: Arc<Gate>,
    /// This worker asks who the server is.
    pub(super) identifies: bool,
    /// Why the server's commits cannot be predicted.
    pub(super) unpredictable: Vec<String>,
    pub(super) start: Arc<Start>,
    pub(super) timeline: Timeline,
    pub(super) spares: Spares,
    pub(super) commands: UnboundedReceiver<Command>,
    /// Where its transactions are logged, until it sets to work.
    pub(super) log: Option<LogFile>,
    /// The load was ended before its start.
    pub(super) stopped: bool,
    pub(super) outbox: Outbox,
}

impl Assignment {
    /// Sessions to open before the start. Under `-C` one is proof enough.
    pub(super) fn sessions_wanted(&self) -> u32 {
        if self.plan.load.connect_per_transaction {
            u32::from(self.identifies)
        } else {
            self.share.clients
        }
    }
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
        options: &LoadOptions,
    ) -> Result<Self, LoadError> {
        if share.workers.is_empty() {
            return Err(LoadError::NoWorker);
        }
        let program = Program::compile(&plan.workload)?;
        options.check(&plan, share, &program)?;
        let connector = Connector::new(&plan.target)?;
        let figures = Shape::of(&plan);
        check_memory(figures, share.workers.len())?;
        // One in progress and one on its way, for each worker.
        let spares = Spares::new(figures, 2 * share.workers.len());
        let logs = open_logs(&plan, share, options)?;
        Ok(Self {
            start: Arc::default(),
            unpredictable: unpredictable_commits(&program),
            program: Arc::new(program),
            connector,
            share: share.clone(),
            spares,
            logs,
            plan,
        })
    }

    /// The files that the load will write.
    pub(crate) fn logs(&self) -> Vec<Written> {
        self.logs.iter().map(LogFile::written).collect()
    }

    /// Starts the threads; returns the way to each worker.
    pub(crate) fn begin(
        self,
        events: UnboundedSender<LoadEvent>,
    ) -> Result<Vec<UnboundedSender<Command>>, LoadError> {
        let (sender, inbox) = unbounded_channel();
        let workload = &self.plan.workload;
        let streams = Streams::new(
            self.plan.seeds.random_seed,
            self.plan.load.clients,
            Program::presets_default_seed(workload),
        );
        let gate = Arc::new(Gate::new(&self.plan, &self.share));
        let first = self.share.workers.iter().position(|worker| worker.clients > 0);
        let mut workers = Vec::new();
        let mut logs = self.logs.into_iter();
        let mut assignments = Vec::new();
        for (worker, share) in self.share.workers.iter().enumerate() {
            let (commander, commands) = unbounded_channel();
            workers.push(commander);
            assignments.push(Assignment {
                plan: Arc::clone(&self.plan),
                program: Arc::clone(&self.program),
                streams,
                share: *share,
                moves: self.share.moves,
                connector: self.connector.clone(),
                gate: Arc::clone(&gate),
                identifies: first == Some(worker),
                unpredictable: self.unpredictable.clone(),
                start: Arc::clone(&self.start),
                timeline: Timeline::new(Window::of(&self.plan.load)),
                spares: self.spares.clone(),
                commands,
                log: logs.next(),
                stopped: false,
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

/// Makes the log files of all workers, or none.
fn open_logs(plan: &Plan, share: &Share, options: &LoadOptions) -> Result<Vec<LogFile>, LoadError> {
    let Some(log) = &plan.log else { return Ok(Vec::new()) };
    let place = LogPlace { log, run: &plan.run_id, anywhere: options.log_anywhere };
    let opened = share.workers.iter().map(|worker| place.open(worker.worker));
    opened
        .collect::<Result<_, _>>()
        .map_err(|refused| LoadError::Log { path: refused.path().to_owned(), error: refused.error })
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn figures_that_would_take_too_much_memory_are_refused_with_the_figure() {
        let shape = |scripts| Shape { scripts, rate_limited: true, latency_limit_us: None };
        assert!(check_memory(shape(0), 64).is_ok());
        assert!(check_memory(shape(128), 14).is_ok());
        assert_eq!(
            check_memory(shape(128), 15).unwrap_err().to_string(),
            "histograms of this plan would need 1094 MiB on this agent, at most 1024 MiB are allowed; use fewer scripts or workers"
        );
    }
}
