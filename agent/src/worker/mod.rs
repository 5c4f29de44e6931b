//! One OS thread with its own single-threaded runtime, its share of the clients, and statistics that
//! nobody else writes to.
//!
//! In reading order: time ([`clock`], [`timer`], [`start`]), what comes out ([`recorder`],
//! [`spares`], [`notices`], [`log`]), how workers are started and heard ([`crew`], [`gather`]), what one does ([`run`]): opening
//! sessions ([`gate`], [`open`]), then its clients at work ([`station`], [`shift`]).
//! Workers share nothing on the hot path; they meet where sessions are opened and once a second.

mod clock;
mod crew;
mod fullness;
mod gate;
mod gather;
mod log;
mod notices;
mod open;
mod recorder;
mod run;
mod shift;
mod spares;
mod start;
mod station;
mod timer;

use pgsurge_common::ids::WorkerId;
use pgsurge_common::stats::{ClientCount, Interval, LogTotals, StatementStats};

pub(crate) use clock::RunTime;
pub(crate) use crew::Crew;
pub(crate) use gate::pause_after;
pub(crate) use log::Entry;
pub use log::Written;
pub(crate) use recorder::{Ended, Sample};
pub(crate) use start::{Begin, Start};
pub(crate) use station::{Seat, Station};

use crate::load::{Notice, Ready, Stop};

/// What the owner of a load tells each worker.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Command {
    /// The common start was named or called off; see [`Start`].
    StartChanged,
    /// End.
    Stop(Stop),
}

/// What a worker tells the gatherer.
pub(crate) enum WorkerEvent {
    /// Its sessions are open, or as many as could be had.
    Connected(Box<Ready>),
    /// An interval is over.
    Interval(Box<Interval>),
    /// A line for the user.
    Notice(Notice),
    /// The whole run is to end: for a reason, or because a client aborted.
    Abort(WorkerId, Option<String>),
    /// Its sessions are closed.
    Done(Box<WorkerResult>),
    /// It ended otherwise.
    Died,
}

/// What a worker counted apart from its intervals.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerResult {
    tally: recorder::Tally,
    extra_commits: u64,
    commits_unpredictable: Vec<String>,
    aborted: Vec<(u32, String)>,
    aborted_clients: u32,
    dropped_backlog: u64,
    statements: Vec<Vec<StatementStats>>,
    clients: Vec<ClientCount>,
    cpu_fraction: f64,
    log: Option<LogTotals>,
}
