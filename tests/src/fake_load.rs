//! Load without a database: so many intervals of known content, one after the other, each when its time is over.
//!
//! Takes the place of an agent's engine, below the session: everything above is the real thing. What it produced is
//! in its [`Diary`], so that a lost or doubled interval shows.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pgsurge_agent::load::{LoadEvent, Ready, Stop, WrittenLog};
use pgsurge_agent::session::{Engine, RunningLoad};
use pgsurge_common::ids::WorkerId;
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_common::random::Generator;
use pgsurge_common::stats::{ClientCount, ConnectStats, Interval, LogTotals, Phase, Totals};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::sleep_until;

/// One interval in real time, short so that many fit into a test.
pub const PACE: Duration = Duration::from_millis(20);

/// How a fake load behaves.
#[derive(Clone, Debug)]
pub struct Timetable {
    /// Intervals until it ends by itself.
    pub intervals: u32,
    /// Length of one.
    pub pace: Duration,
    /// What is in them.
    pub content: Content,
    /// Sessions that cannot be had.
    pub refused: u32,
    /// Which server it reaches.
    pub server: String,
    /// Preparing fails.
    pub fault: Option<String>,
    /// It has written a log.
    pub log: Option<FakeLog>,
}

/// What is in an interval.
#[derive(Clone, Copy, Debug)]
pub enum Content {
    /// Few transactions, different for each index and client, so that a doubled or lost one cannot hide.
    Traceable,
    /// So many of each client, give or take some, with response times as a server's: most around a
    /// millisecond, a tail of tens.
    Plausible(u32),
}

/// A log file as an agent tells of it.
#[derive(Clone, Debug)]
pub struct FakeLog {
    /// Where it should be.
    pub path: PathBuf,
    /// Bytes that it should have.
    pub counted: u64,
    /// A worker that the agent does not have has written it.
    pub of_stranger: bool,
}

impl Default for Timetable {
    fn default() -> Self {
        Self {
            intervals: 20,
            pace: PACE,
            content: Content::Traceable,
            refused: 0,
            server: "the one".to_owned(),
            fault: None,
            log: None,
        }
    }
}

/// What fake loads did, for all that a test started.
#[derive(Clone, Debug, Default)]
pub struct Diary(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    entries: Vec<Entry>,
    /// When load was due to begin, as the first that began was told.
    start: Option<Instant>,
    /// When the last of them had an interval, by index.
    intervals: Vec<Instant>,
}

/// See [`Diary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Load began.
    Began,
    /// Load ended: after so many transactions, at whose wish.
    Ended(u64, Option<Stop>),
}

impl Diary {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, entry: Entry) {
        self.lock().entries.push(entry);
    }

    fn began(&self, start: Instant) {
        let mut kept = self.lock();
        kept.entries.push(Entry::Began);
        kept.start.get_or_insert(start);
    }

    fn made(&self, index: u32) {
        let (mut kept, now) = (self.lock(), Instant::now());
        let index = index as usize;
        let room = kept.intervals.len().max(index + 1);
        kept.intervals.resize(room, now);
        kept.intervals[index] = now;
    }

    /// All entries so far.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry> {
        self.lock().entries.clone()
    }

    /// Transactions of all loads that have ended.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        let ended = self.entries().into_iter().filter_map(|entry| match entry {
            Entry::Ended(transactions, _) => Some(transactions),
            Entry::Began => None,
        });
        ended.sum()
    }

    /// The common start, once load is on.
    #[must_use]
    pub fn start(&self) -> Option<Instant> {
        self.lock().start
    }

    /// When the last agent had each interval ready to be sent.
    #[must_use]
    pub fn intervals(&self) -> Vec<Instant> {
        self.lock().intervals.clone()
    }
}

/// Makes fake loads.
#[derive(Clone, Debug, Default)]
pub struct FakeEngine {
    /// How they behave.
    pub timetable: Timetable,
    /// What they did.
    pub diary: Diary,
}

/// What a fake load was told.
#[derive(Clone, Copy, Debug, Default)]
struct Orders {
    start: Option<Instant>,
    /// Clients join so long after the common start.
    after: Duration,
    stop: Option<Stop>,
    begun: bool,
}

/// A load that does nothing but report.
#[derive(Debug)]
pub struct FakeLoad(Arc<watch::Sender<Orders>>, Vec<WrittenLog>);

impl Engine for FakeEngine {
    type Load = FakeLoad;

    fn prepare(
        &mut self,
        _: Arc<Plan>,
        share: &Share,
        _: u32,
    ) -> Result<(FakeLoad, UnboundedReceiver<LoadEvent>), String> {
        if let Some(fault) = &self.timetable.fault {
            return Err(fault.clone());
        }
        let (events, receiver) = unbounded_channel();
        let orders = Arc::new(watch::Sender::new(Orders::default()));
        let work = Work {
            timetable: self.timetable.clone(),
            diary: self.diary.clone(),
            clients: share
                .workers
                .iter()
                .flat_map(|w| (0..w.clients).map(|n| n + w.first_client.0))
                .collect(),
            orders: Arc::clone(&orders),
            events,
        };
        tokio::spawn(work.run());
        let log = self.timetable.log.as_ref().map(|log| WrittenLog {
            path: log.path.clone(),
            worker: if log.of_stranger { WorkerId(99) } else { share.workers[0].worker },
        });
        Ok((FakeLoad(orders, log.into_iter().collect()), receiver))
    }
}

impl RunningLoad for FakeLoad {
    fn join(&self, start: Instant, after: Duration) {
        self.0.send_modify(|orders| (orders.start, orders.after) = (Some(start + after), after));
    }

    fn disarm(&self) -> bool {
        let mut in_time = false;
        self.0.send_modify(|orders| {
            in_time = !orders.begun;
            if in_time {
                orders.start = None;
            }
        });
        in_time
    }

    fn stop(&self, stop: Stop) {
        self.0.send_modify(|orders| orders.stop = orders.stop.max(Some(stop)));
    }

    fn logs(&self) -> Vec<WrittenLog> {
        self.1.clone()
    }
}

impl Drop for FakeLoad {
    fn drop(&mut self) {
        self.stop(Stop::Now);
    }
}

struct Work {
    timetable: Timetable,
    diary: Diary,
    clients: Vec<u32>,
    orders: Arc<watch::Sender<Orders>>,
    events: UnboundedSender<LoadEvent>,
}

impl Work {
    fn stop(&self) -> Option<Stop> {
        self.orders.borrow().stop
    }

    fn wanted(&self) -> u32 {
        u32::try_from(self.clients.len()).expect("clients are numbered by 32 bits")
    }

    fn ready(&self) -> ConnectStats {
        let wanted = self.wanted();
        let refused = self.timetable.refused.min(wanted);
        let mut connect =
            ConnectStats { wanted, obtained: wanted - refused, ..ConnectStats::default() };
        if refused > 0 {
            connect.errors.add("53300", u64::from(refused));
            connect.example = Some("sorry, too many clients already".to_owned());
        }
        connect.server_identity = Some(self.timetable.server.clone());
        connect
    }

    async fn run(self) {
        let ready = Ready { connect: self.ready(), direct: Some(true) };
        let _ = self.events.send(LoadEvent::Ready(Box::new(ready)));
        let log = self.timetable.log.as_ref().map(|log| LogTotals {
            files: 1,
            bytes: log.counted,
            ..LogTotals::default()
        });
        let mut totals = Totals { connect: self.ready(), log, ..Totals::default() };
        totals.commits_unpredictable.push("a fake load commits nothing".to_owned());
        let mut clients = vec![0; self.clients.len()];
        if let Some(start) = self.wait_for_start().await {
            self.diary.began(start);
            let late = start.elapsed().as_micros();
            totals.start_offset_us = i64::try_from(late).unwrap_or(i64::MAX);
            self.work(start, &mut totals, &mut clients).await;
        }
        totals.clients = self
            .clients
            .iter()
            .zip(clients)
            .map(|(&client, transactions)| ClientCount { client, transactions })
            .collect();
        self.diary.add(Entry::Ended(totals.measured.transactions, self.stop()));
        let _ = self.events.send(LoadEvent::Finished(Box::new(totals)));
    }

    /// Interval after interval, from the first one at `start`.
    async fn work(&self, start: Instant, totals: &mut Totals, clients: &mut [u64]) {
        let pace = self.timetable.pace;
        let after = self.orders.borrow().after;
        let first = u32::try_from(after.as_micros() / pace.as_micros()).unwrap_or(u32::MAX);
        totals.last_end_us = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
        for index in first..self.timetable.intervals {
            sleep_until((start + pace * (index - first + 1)).into()).await;
            if self.stop() == Some(Stop::Now) {
                return;
            }
            let interval = self.interval(index, clients);
            totals.measured.merge(&interval.counts);
            totals.last_end_us += u64::try_from(pace.as_micros()).unwrap_or(u64::MAX);
            let _ = self.events.send(LoadEvent::Interval(Box::new(interval)));
            self.diary.made(index);
            if self.stop().is_some() {
                return;
            }
        }
    }

    /// Nothing if it was stopped before.
    async fn wait_for_start(&self) -> Option<Instant> {
        let mut orders = self.orders.subscribe();
        loop {
            let Orders { start, stop, .. } = *orders.borrow_and_update();
            if stop.is_some() {
                return None;
            }
            let due = async {
                match start {
                    Some(start) => sleep_until(start.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = orders.changed() => {}
                () = due => {
                    // Another order may have come at the same moment.
                    let mut begun = false;
                    self.orders.send_modify(|orders| {
                        begun = orders.start == start && orders.stop.is_none();
                        orders.begun = begun;
                    });
                    if begun {
                        return start;
                    }
                }
            }
        }
    }

    fn interval(&self, index: u32, clients: &mut [u64]) -> Interval {
        let mut interval = Interval::new(Phase::Measure, index, 0, false);
        for (&client, sum) in self.clients.iter().zip(clients) {
            let transactions = self.timetable.content.of(client, index, &mut interval);
            interval.counts.transactions += transactions;
            *sum += transactions;
        }
        interval.clients = self.wanted();
        interval
    }
}

impl Content {
    /// Records what a client did; how many transactions that were.
    fn of(self, client: u32, index: u32, interval: &mut Interval) -> u64 {
        match self {
            Self::Traceable => {
                let transactions = 1 + u64::from((index + client) % 5);
                for n in 0..transactions {
                    interval.response.record(1000 + 10 * n + u64::from(index));
                }
                transactions
            }
            Self::Plausible(about) => {
                let mut chance = Generator::from_seed(u64::from(client) << 32 | u64::from(index));
                let transactions = u64::from(about / 2) + chance.bounded(about.into());
                for _ in 0..transactions {
                    interval.response.record(response_us(&mut chance));
                }
                transactions
            }
        }
    }
}

/// Around a millisecond, one in a hundred up to ten times as long.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, and seconds at most
fn response_us(chance: &mut Generator) -> u64 {
    let usual = 800.0 * (0.35 * chance.normal()).exp();
    let factor = if chance.bounded(99) == 0 { 1 + chance.bounded(9) } else { 1 };
    usual as u64 * factor
}
