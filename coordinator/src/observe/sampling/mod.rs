//! The server's statistics before, during and after a run: a task of its own that nothing waits for.
//!
//! It looks through one session, each look with a time limit. A server that hangs or goes away costs a reading, never
//! the run; the session is opened anew at the next. Knows nothing of agents and prints nothing.

mod digest;
mod file;
mod fold;
mod held;
mod reading;
mod source;

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pgsurge_common::target::Target;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::report::summary::Observation;
use digest::Frame;
use file::Table;
use fold::Fold;
use held::Held;
use reading::Reading;

pub use held::Own;

/// How long ending the task may take; its own time limits are shorter.
const ENDED_WITHIN: Duration = Duration::from_secs(12);

/// Version since which a session that has left has been counted.
const COUNTED_AT_ONCE: u32 = 150_000;

/// How long older servers may take to count it.
const COLLECTED: Duration = Duration::from_millis(700);

/// What is to be observed, and how.
#[derive(Clone, Debug)]
pub struct Watching {
    /// The server.
    pub target: Target,
    /// `server_version_num`.
    pub version_num: u32,
    /// Time between readings; zero is before and after only.
    pub interval: Duration,
    /// Length of the warm-up, after which differences begin.
    pub warmup: Duration,
    /// Keep the session open between readings; otherwise it would take one from the clients.
    pub hold: bool,
    /// Where the readings go.
    pub file: Option<PathBuf>,
}

/// The task at work. Dropped, it ends without a result.
pub struct Observer {
    stop: CancellationToken,
    start: watch::Sender<Option<Instant>>,
    first: CancellationToken,
    task: Option<JoinHandle<Task>>,
}

/// Told when the load begins.
#[derive(Clone, Debug)]
pub struct Starts(watch::Sender<Option<Instant>>);

impl Starts {
    /// The load, warm-up included, begins at this instant; a later one replaces one that was called off.
    pub fn at(&self, instant: Instant) {
        self.0.send_replace(Some(instant));
    }
}

/// How the observer's session is called beside those of the clients, so that whoever looks at the server can tell them
/// apart.
pub(super) fn name_beside(application: &str) -> String {
    /// The server cuts what is longer.
    const LONGEST: usize = 63;
    let name = format!("{application} observer");
    if name.len() > LONGEST { application.to_owned() } else { name }
}

impl Observer {
    /// Begins with the first reading.
    #[must_use]
    pub fn start(mut watching: Watching) -> Self {
        watching.target.application_name = name_beside(&watching.target.application_name);
        let stop = CancellationToken::new();
        let (start, started) = watch::channel(None);
        let first = CancellationToken::new();
        let task = Task::new(watching).until(started, stop.clone(), first.clone());
        Self { stop, start, first, task: Some(tokio::spawn(task)) }
    }

    /// Waits until the first reading is over, one way or the other; it takes seconds at most.
    pub async fn first_reading(&self) {
        self.first.cancelled().await;
    }

    /// Who is to be told when the load begins.
    #[must_use]
    pub fn starts(&self) -> Starts {
        Starts(self.start.clone())
    }

    /// The load is over: ends the session, so that what it did is counted.
    pub async fn stop(mut self) -> Option<Observed> {
        self.stop.cancel();
        let mut task = self.task.take()?;
        let Ok(ended) = tokio::time::timeout(ENDED_WITHIN, &mut task).await else {
            task.abort();
            return None;
        };
        ended.ok().map(|task| Observed(Box::new(task)))
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// What was read until the load was over.
pub struct Observed(Box<Task>);

impl Observed {
    /// What the observing itself added to the server's counters.
    #[must_use]
    pub fn own(&self) -> Own {
        self.0.held.own()
    }

    /// Takes the last reading, which every session of the run must have left before.
    pub async fn conclude(self) -> (Observation, Result<(), (PathBuf, io::Error)>) {
        let mut task = self.0;
        if task.watching.version_num < COUNTED_AT_ONCE {
            tokio::time::sleep(COLLECTED).await;
        }
        task.open();
        task.look(false).await;
        task.held.close().await;
        task.finish()
    }
}

struct Task {
    watching: Watching,
    held: Held,
    fold: Fold,
    /// The first reading of all, for the file; until the start is known nothing is written.
    first: Option<Reading>,
    /// Start of the measured part.
    start: Option<Instant>,
    /// Differences are taken from a reading that there is: the first of all, or after a warm-up the first that follows.
    counting: bool,
    table: Option<Table>,
    unwritten: Option<(PathBuf, io::Error)>,
}

impl Task {
    fn new(watching: Watching) -> Self {
        let held = Held::new(watching.target.clone());
        Self {
            counting: watching.warmup.is_zero(),
            watching,
            held,
            fold: Fold::default(),
            first: None,
            start: None,
            table: None,
            unwritten: None,
        }
    }

    async fn until(
        mut self,
        mut started: watch::Receiver<Option<Instant>>,
        stop: CancellationToken,
        first: CancellationToken,
    ) -> Self {
        self.look(false).await;
        first.cancel();
        let mut next = Duration::ZERO;
        loop {
            let start = *started.borrow_and_update();
            self.start = start.map(|start| start + self.watching.warmup);
            let due = self.start.and_then(|start| Some(start + self.due(next)?));
            tokio::select! {
                () = stop.cancelled() => break,
                changed = started.changed() => {
                    // Whoever tells the start is gone only with the observer itself.
                    if changed.is_err() {
                        stop.cancelled().await;
                        break;
                    }
                    next = Duration::ZERO;
                }
                () = until(due) => {
                    self.open();
                    self.look(true).await;
                    next = self.after(next);
                }
            }
        }
        self.held.close().await;
        self
    }

    /// When the reading is due that is `next` after the start, if it is.
    fn due(&self, next: Duration) -> Option<Duration> {
        let first = next.is_zero() && !self.watching.warmup.is_zero();
        (first || !self.watching.interval.is_zero()).then_some(next)
    }

    /// The next multiple of the interval that is not over yet: readings that a slow server kept from being taken
    /// are left out.
    fn after(&self, next: Duration) -> Duration {
        let interval = self.watching.interval;
        if interval.is_zero() {
            return Duration::MAX / 4;
        }
        let passed = self.start.map_or(Duration::ZERO, |start| start.elapsed());
        let over = passed.as_nanos() / interval.as_nanos().max(1);
        let over = u32::try_from(over).unwrap_or(u32::MAX - 1);
        interval.saturating_mul(over + 1).max(next + interval)
    }

    async fn look(&mut self, loaded: bool) {
        let fold = &mut self.fold;
        let looked = self.held.look(&mut |problem| fold.problem(problem)).await;
        if !self.watching.hold {
            self.held.close().await;
        }
        match looked {
            Ok(reading) => {
                self.write(&reading);
                if loaded && !self.counting {
                    self.counting = true;
                    self.fold.begin(&reading);
                }
                self.fold.add(reading, loaded);
            }
            Err(error) => self.fold.problem(format!("the server could not be looked at: {error}")),
        }
    }

    /// The start is known and past: there will be something to write.
    fn open(&mut self) {
        let (Some(path), None, None) = (&self.watching.file, &self.table, &self.unwritten) else {
            return;
        };
        if self.start.is_none() {
            return;
        }
        match Table::create(path.clone()) {
            Ok(table) => self.table = Some(table),
            Err(failed) => self.unwritten = Some(failed),
        }
        if let Some(first) = self.first.clone() {
            self.write(&first);
        }
    }

    fn write(&mut self, reading: &Reading) {
        let first = self.first.get_or_insert_with(|| reading.clone());
        if let (Some(table), Some(start)) = (&mut self.table, self.start) {
            table.write(reading, first, |reading| seconds(start, reading.at));
        }
    }

    fn finish(self) -> (Observation, Result<(), (PathBuf, io::Error)>) {
        let at = |reading: &Option<Reading>| Some(seconds(self.start?, reading.as_ref()?.at));
        let reader = self.held.reader();
        let frame = Frame {
            interval_s: self.watching.interval.as_secs_f64(),
            from_s: at(&self.fold.base),
            until_s: at(&self.fold.last),
            checkpoint_warning_s: reader.and_then(|reader| reader.checkpoint_warning_s),
            max_wal_size: reader.and_then(|reader| reader.max_wal_size.clone()),
        };
        let observation = digest::observation(&self.fold, &frame);
        let written = match (self.unwritten, self.table) {
            (Some(failed), _) => Err(failed),
            (None, Some(table)) => table.finish(),
            (None, None) => Ok(()),
        };
        (observation, written)
    }
}

/// Signed, since the first reading is before the start.
fn seconds(start: Instant, at: Instant) -> f64 {
    let ahead = start.saturating_duration_since(at).as_secs_f64();
    at.saturating_duration_since(start).as_secs_f64() - ahead
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
