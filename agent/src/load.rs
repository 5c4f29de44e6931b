//! One agent's share of one run, executed on this host: the door to the hot path.
//!
//! Knows neither coordinator nor protocol: a session (or a test) prepares a load, arms it with an
//! instant of this host's monotonic clock and reads its events. Nothing here ever waits for the
//! reader of the events, so a frozen coordinator delays figures and loses none. Dropping a [`Load`]
//! ends it as [`Stop::Now`] does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgsurge_common::ids::{ClientId, WorkerId};
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_common::stats::{ConnectStats, Interval, Totals};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub use crate::bounds::{Forbidden, LoadOptions};
pub use crate::worker::Written as WrittenLog;
use crate::worker::{Begin, Command, Crew, Start};

/// How a load is ended before its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// No new transactions; those in flight finish and count.
    Drain,
    /// A `CancelRequest` for each busy session, then close. What was in flight is counted nowhere.
    Now,
}

/// What a load tells, in this order: any number of notices, one `Ready`, then intervals and notices,
/// at last one `Finished` after which the channel closes and no session of the load is left. A channel
/// that closes without it means that a worker died, which is a bug.
#[derive(Debug)]
pub enum LoadEvent {
    /// The connection phase is over, successfully or not; the load waits for [`Load::arm`].
    Ready(Box<Ready>),
    /// One interval, merged over this host's workers. Indices ascend without a gap within each phase,
    /// empty intervals included. The last interval of the warm-up is kept open until the last
    /// transaction that belongs to the warm-up has ended, so it may come after the first measured ones.
    Interval(Box<Interval>),
    /// A line for the user's stderr; rate limited per worker.
    Notice(Notice),
    /// A client met what ends the whole run. The load is already stopping by itself.
    AbortRun {
        /// Whose client.
        worker: WorkerId,
        /// What it met; without one a client aborted and the plan wants the end (`--exit-on-abort`).
        reason: Option<String>,
    },
    /// All sessions are closed; what the workers counted apart from their intervals.
    Finished(Box<Totals>),
}

/// The outcome of the connection phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ready {
    /// How opening the sessions went. Under `-C` clients connect for each transaction, so one session
    /// is wanted here, as proof that it can be done.
    pub connect: ConnectStats,
    /// The process id of the backend key is the server's own `pg_backend_pid()`: no pooler is in
    /// between. `None` if it could not be found out.
    pub direct: Option<bool>,
}

/// A line for the user's stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The client that it is about, if any.
    pub client: Option<ClientId>,
    /// How it is to be printed.
    pub level: NoticeLevel,
    /// One or more lines without the last line end.
    pub text: String,
}

/// How a notice is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// As it is: what the server or a script said.
    Raw,
    /// With the program's name before it.
    Info,
    /// With the program's name and `error:` before it.
    Error,
}

/// Why a load cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Agents compile the scripts again; this fails only if coordinator and agent differ.
    #[error("the scripts of the plan do not compile on this agent")]
    Script(#[from] pgsurge_common::script::ScriptError),
    /// The target cannot be used as described, such as certificates that do not parse.
    #[error("the target of the plan cannot be used on this agent")]
    Target(#[from] crate::wire::ConnectError),
    /// It asks for more than the operator of this host allows.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The figures asked for would need too much memory.
    #[error(
        "histograms of this plan would need {needed_mib} MiB on this agent, at most {limit_mib} MiB are allowed; use fewer scripts or workers"
    )]
    TooMuchMemory {
        /// What the plan needs.
        needed_mib: u64,
        /// What is allowed.
        limit_mib: u64,
    },
    /// A log file cannot be made; the words are pgbench's.
    #[error("could not open logfile \"{}\"", path.display())]
    Log {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// The operating system refused a thread.
    #[error("cannot start a worker thread")]
    Thread(#[source] std::io::Error),
    /// The share has no worker.
    #[error("the share of this agent has no worker")]
    NoWorker,
}

/// See the module.
#[derive(Debug)]
pub struct Load {
    workers: Vec<UnboundedSender<Command>>,
    start: Arc<Start>,
    logs: Vec<WrittenLog>,
}

impl Load {
    /// Compiles the scripts, starts one thread a worker and begins to open the sessions.
    ///
    /// # Errors
    /// See [`LoadError`]; nothing is left running then. Sessions that cannot be opened are no error
    /// here, the event [`LoadEvent::Ready`] tells how many were obtained and why not more.
    pub fn prepare(
        plan: Arc<Plan>,
        share: &Share,
        options: &LoadOptions,
    ) -> Result<(Self, UnboundedReceiver<LoadEvent>), LoadError> {
        let (events, receiver) = unbounded_channel();
        let crew = Crew::new(plan, share, options)?;
        let (start, logs) = (Arc::clone(&crew.start), crew.logs());
        let workers = crew.begin(events)?;
        Ok((Self { workers, start, logs }, receiver))
    }

    /// The log files that it writes; whole once it has finished.
    #[must_use]
    pub fn logs(&self) -> &[WrittenLog] {
        &self.logs
    }

    /// All clients begin at `start`; an instant in the past means at once. Before `Ready` it is kept until
    /// then; after the load has begun it means nothing.
    pub fn arm(&self, start: Instant) {
        self.join(start, Duration::ZERO);
    }

    /// The same for clients that join a run in course: time counts from `start`, its common start, and they
    /// begin `after` it. Their intervals begin with the one in which they join.
    pub fn join(&self, start: Instant, after: Duration) {
        self.start.arm(Begin { start, after });
        self.tell(Command::StartChanged);
    }

    /// Calls the instant off. Returns `false` if the load has begun: then it goes on.
    #[must_use]
    pub fn disarm(&self) -> bool {
        let in_time = self.start.disarm();
        self.tell(Command::StartChanged);
        in_time
    }

    /// Ends the load; a later [`Stop::Now`] overrides an earlier [`Stop::Drain`].
    pub fn stop(&self, stop: Stop) {
        self.tell(Command::Stop(stop));
    }

    /// A worker that is gone needs no command.
    fn tell(&self, command: Command) {
        for worker in &self.workers {
            let _ = worker.send(command);
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop(Stop::Now);
    }
}
