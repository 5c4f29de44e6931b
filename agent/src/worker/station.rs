//! What the clients of one worker share: time, statistics, the schedule and the worker's ear.
//!
//! Lives on one thread, so cells instead of locks; no borrow is held across an await. What must
//! survive a client that is cut off (how much it did, how to cancel its statement) stays in its seat.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use pgsurge_common::ids::{ClientId, WorkerId};
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::WorkerShare;
use pgsurge_common::random::{Generator, Streams};
use pgsurge_common::schedule::{Pacer, Rate, Turn};
use pgsurge_common::script::Program;
use pgsurge_common::stats::{ClientCount, LogTotals, Phase, StatementStats, micros};

use super::clock::{Clock, RunTime, Timeline};
use super::crew::Outbox;
use super::gate::Gate;
use super::log::{Entry, Failure, Log, Outcome};
use super::notices::Budget;
use super::recorder::Recorder;
use super::timer::Timer;
use super::{Begin, WorkerEvent, WorkerResult};
use crate::client::Rules;
use crate::load::{Notice, NoticeLevel, Stop};
use crate::wire::{CancelToken, Connector};

/// See the module.
pub(crate) struct Station {
    pub(crate) worker: WorkerId,
    pub(crate) program: Arc<Program>,
    pub(crate) rules: Rules,
    pub(crate) connector: Connector,
    pub(crate) gate: Arc<Gate>,
    pub(crate) timer: Timer,
    pub(crate) timeline: Timeline,
    pub(crate) recorder: RefCell<Recorder>,
    pub(crate) schedule: RefCell<Schedule>,
    pub(crate) seats: Box<[Seat]>,
    /// Names of prepared statements by number.
    names: Box<[Box<[u8]>]>,
    pub(crate) books: RefCell<Books>,
    pub(super) budget: Budget,
    pub(super) outbox: Outbox,
    log: RefCell<Option<Log>>,
    /// Set when the load begins.
    clock: Cell<Option<Clock>>,
    /// When its clients begin; the beginning of the run, but for those that join later.
    joined: Cell<RunTime>,
    stop: Cell<Option<Stop>>,
    /// The whole run is to end for a reason that was told.
    hopeless: Cell<bool>,
}

/// One client's place.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) client: ClientId,
    /// Its successful transactions in the measured part.
    pub(crate) transactions: Cell<u64>,
    /// It has begun and not ended.
    pub(crate) working: Cell<bool>,
    /// The server is working for it.
    pub(crate) busy: Cell<bool>,
    /// How to make the server stop that.
    pub(crate) cancel: RefCell<Option<CancelToken>>,
}

/// When transactions are due, for all clients of the worker.
#[derive(Debug)]
pub(crate) struct Schedule {
    pacer: Pacer,
    throttle: Generator,
    dropped_backlog: u64,
}

impl Schedule {
    /// The worker's part of the rate, with the worker's own stream of gaps.
    pub(super) fn new(
        plan: &Plan,
        share: &WorkerShare,
        timeline: Timeline,
        streams: &Streams,
    ) -> Self {
        let part = share.fraction(&plan.load);
        let rate = plan.load.rate_tps.map(|rate_tps| Rate {
            mean_gap_us: part.mean_gap_us(rate_tps),
            skip_beyond_us: plan.load.latency_limit_us,
        });
        Self {
            pacer: Pacer::new(*timeline.window(), rate),
            throttle: streams.worker(share.worker.0).throttle,
            dropped_backlog: 0,
        }
    }
}

/// What is counted by the client or at the end of one.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Commits that belong to no transaction.
    pub(crate) extra_commits: u64,
    /// Why the server's count cannot be predicted.
    pub(crate) unpredictable: Vec<String>,
    /// Clients that ended before their time, with the reason.
    pub(crate) aborted: Vec<(u32, String)>,
    pub(crate) aborted_clients: u32,
    /// With `-r`, one entry a command, script by script.
    pub(crate) statements: Vec<Vec<StatementStats>>,
}

/// What a worker brings to its station.
pub(super) struct Furnishing<'a> {
    pub(super) plan: &'a Plan,
    pub(super) program: Arc<Program>,
    pub(super) share: WorkerShare,
    pub(super) connector: Connector,
    pub(super) gate: Arc<Gate>,
    pub(super) timer: Timer,
    pub(super) timeline: Timeline,
    pub(super) recorder: Recorder,
    pub(super) schedule: Schedule,
    pub(super) log: Option<Log>,
    pub(super) outbox: Outbox,
}

impl Station {
    pub(super) fn new(with: Furnishing<'_>) -> Self {
        let rules = Rules::of(with.plan);
        let first = with.share.first_client.0;
        let seats = (first..first + with.share.clients).map(|client| Seat::new(ClientId(client)));
        let statements = if rules.time_commands {
            let counts = with.program.scripts().iter().map(|script| script.commands().len());
            counts.map(|count| vec![StatementStats::default(); count]).collect()
        } else {
            Vec::new()
        };
        let names = (0..with.program.statements()).map(|n| format!("P_{n}").into_bytes().into());
        Self {
            worker: with.share.worker,
            names: names.collect(),
            rules,
            seats: seats.collect(),
            books: RefCell::new(Books { statements, ..Books::default() }),
            budget: Budget::new(),
            clock: Cell::new(None),
            joined: Cell::new(RunTime::ZERO),
            stop: Cell::new(None),
            hopeless: Cell::new(false),
            program: with.program,
            connector: with.connector,
            gate: with.gate,
            timer: with.timer,
            timeline: with.timeline,
            recorder: RefCell::new(with.recorder),
            schedule: RefCell::new(with.schedule),
            log: RefCell::new(with.log),
            outbox: with.outbox,
        }
    }

    /// The load begins: time counts from the common start, statistics and schedule from when its clients
    /// join.
    pub(super) fn begin(&self, begin: Begin) {
        self.clock.set(Some(Clock::new(begin.start)));
        let joined = RunTime::after(begin.after);
        self.joined.set(joined);
        self.recorder.borrow_mut().join(joined);
        self.schedule.borrow_mut().pacer.join(joined.us());
        if let Some(log) = &mut *self.log.borrow_mut() {
            let origin = SystemTime::now().checked_sub(begin.start.elapsed());
            let since_epoch = origin.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let first_us = self.timeline.window().measure_start_us.max(joined.us());
            log.begin(since_epoch.map_or(0, micros), first_us);
        }
    }

    /// When its clients began.
    pub(crate) fn joined(&self) -> RunTime {
        self.joined.get()
    }

    /// A transaction of the measured part goes to the log, if there is one.
    pub(crate) fn log(&self, entry: &Entry) {
        let written = match &mut *self.log.borrow_mut() {
            Some(log) => log.record(entry),
            None => return,
        };
        self.log_written(written, entry.at);
    }

    /// So many transactions of a client were skipped, up to its `last`.
    pub(crate) fn log_skipped(
        &self,
        client: ClientId,
        script: usize,
        at: RunTime,
        last: u64,
        count: u64,
    ) {
        if self.log.borrow().is_none() {
            return;
        }
        for number in last - count + 1..=last {
            let outcome = Outcome::Skipped;
            self.log(&Entry { client, number, script, at, outcome, retries: 0 });
        }
    }

    /// A log that ends early is told and counted; the load goes on without it.
    fn log_written(&self, written: Result<(), Failure>, now: RunTime) {
        let Err(failure) = written else { return };
        let kind = format!("log-{}", failure.kind());
        self.recorder.borrow_mut().error(Phase::Measure, now, &kind);
        let (level, text) = (NoticeLevel::Error, failure.to_string());
        self.outbox.send(WorkerEvent::Notice(Notice { client: None, level, text }));
    }

    /// Everything that was logged goes to the file.
    fn finish_log(&self) -> Option<LogTotals> {
        let log = self.log.take()?;
        let now = self.now();
        let (totals, written) = log.finish(now);
        self.log_written(written, now);
        Some(totals)
    }

    /// The time of the run; before the beginning it is the beginning.
    pub(crate) fn now(&self) -> RunTime {
        self.clock.get().map_or(RunTime::ZERO, |clock| clock.now())
    }

    /// Sleeps until a point of the run has come or the load is stopped; returns the time after that.
    pub(crate) async fn sleep_until(&self, time: RunTime, while_draining: bool) -> RunTime {
        let deadline = self.clock.get().map_or_else(Instant::now, |clock| clock.instant(time));
        loop {
            self.timer.sleep_until(deadline).await;
            let now = self.now();
            let stopped = match self.stop.get() {
                None => false,
                Some(Stop::Drain) => !while_draining,
                Some(Stop::Now) => true,
            };
            if now >= time || stopped {
                return now;
            }
        }
    }

    /// How the load is being ended, if it is.
    pub(crate) fn stopping(&self) -> Option<Stop> {
        self.stop.get()
    }

    /// Ends the load; whoever sleeps looks up.
    pub(super) fn stop(&self, stop: Stop) {
        self.stop.set(self.stop.get().max(Some(stop)));
        self.timer.wake_all();
    }

    /// No transaction or further try may begin.
    pub(crate) fn is_closing(&self, now: RunTime) -> bool {
        self.stop.get().is_some() || self.timeline.is_over(now)
    }

    /// Returns when no transaction may begin any more; under `-t` only if the load is stopped.
    pub(crate) async fn until_closing(&self) {
        let end_us = self.timeline.window().end_us.unwrap_or(u64::MAX);
        self.sleep_until(RunTime::from_us(end_us), false).await;
    }

    /// The next due time for a client that has `remaining` transactions to do.
    pub(crate) fn next_turn(&self, now: RunTime, remaining: Option<u64>) -> Turn {
        let mut schedule = self.schedule.borrow_mut();
        let Schedule { pacer, throttle, dropped_backlog } = &mut *schedule;
        let turn = pacer.next(now.us(), remaining, || 1.0 - throttle.unit());
        *dropped_backlog += turn.dropped_backlog;
        turn
    }

    /// Says something to the user, unless too much has been said this second.
    pub(crate) fn say(&self, notice: Notice) {
        if !self.hopeless.get() && self.budget.spend() {
            self.outbox.send(WorkerEvent::Notice(notice));
        }
    }

    /// A command of a script took so long.
    pub(crate) fn time_command(&self, phase: Phase, script: usize, command: usize, us: u64) {
        self.statement(phase, script, command, |stats| stats.latency.record(us));
    }

    /// Changes the figures of a command, if such are kept; only the measured part counts.
    pub(crate) fn statement(
        &self,
        phase: Phase,
        script: usize,
        command: usize,
        change: impl FnOnce(&mut StatementStats),
    ) {
        if phase != Phase::Measure {
            return;
        }
        let mut books = self.books.borrow_mut();
        let commands = books.statements.get_mut(script);
        if let Some(stats) = commands.and_then(|commands| commands.get_mut(command)) {
            change(stats);
        }
    }

    /// A client ends before its time.
    pub(crate) fn abort(&self, client: ClientId, reason: String) {
        self.did_not_finish(client, reason);
        if self.rules.exit_on_abort && self.books.borrow().aborted_clients == 1 {
            self.outbox.send(WorkerEvent::Abort(self.worker, None));
        }
    }

    /// A client has not done all that it was to do, and the run goes on or is over all the same.
    pub(crate) fn did_not_finish(&self, client: ClientId, reason: String) {
        /// Reasons kept by a worker; the others are counted.
        const MOST: usize = 100;
        let mut books = self.books.borrow_mut();
        books.aborted_clients += 1;
        if books.aborted.len() < MOST {
            books.aborted.push((client.0, reason));
        }
    }

    /// No client of any worker can do its work, for one reason that is said once: in place of what each of
    /// them would say, here and from here on.
    pub(crate) fn abort_run(&self, reason: String) {
        if !self.hopeless.replace(true) {
            self.outbox.send(WorkerEvent::Abort(self.worker, Some(reason)));
        }
    }

    /// The name under which a statement is prepared.
    pub(crate) fn statement_name(&self, number: u32) -> &[u8] {
        usize::try_from(number).ok().and_then(|n| self.names.get(n)).map_or(b"", |name| name)
    }

    /// What the worker says at the end.
    pub(super) fn into_result(self, cpu_fraction: f64) -> WorkerResult {
        let log = self.finish_log();
        let begun = self.clock.get().map(|clock| clock.now());
        let recorder = self.recorder.into_inner();
        let books = self.books.into_inner();
        let count = |seat: &Seat| ClientCount {
            client: seat.client.0,
            transactions: seat.transactions.get(),
        };
        WorkerResult {
            tally: begun.map(|now| recorder.finish(now)).unwrap_or_default(),
            extra_commits: books.extra_commits,
            commits_unpredictable: books.unpredictable,
            aborted: books.aborted,
            aborted_clients: books.aborted_clients,
            dropped_backlog: self.schedule.into_inner().dropped_backlog,
            statements: books.statements,
            clients: self.seats.iter().map(count).collect(),
            cpu_fraction,
            log,
        }
    }
}

impl Seat {
    fn new(client: ClientId) -> Self {
        Self {
            client,
            transactions: Cell::new(0),
            working: Cell::new(false),
            busy: Cell::new(false),
            cancel: RefCell::new(None),
        }
    }
}
