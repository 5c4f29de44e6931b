//! Load without a database: so many intervals of known content, one after the other.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pgsurge_agent::load::{LoadEvent, Ready, Stop, WrittenLog};
use pgsurge_agent::session::{Engine, RunningLoad};
use pgsurge_common::ids::WorkerId;
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_common::stats::{ClientCount, ConnectStats, Interval, LogTotals, Phase, Totals};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until};

/// One interval in real time, short so that many fit into a test.
pub const PACE: Duration = Duration::from_millis(20);

/// How a fake load behaves.
#[derive(Clone, Debug)]
pub struct Timetable {
    /// Intervals until it ends by itself.
    pub intervals: u32,
    /// Sessions that cannot be had.
    pub refused: u32,
    /// Which server it reaches.
    pub server: String,
    /// Preparing fails.
    pub fault: Option<String>,
    /// It has written a log.
    pub log: Option<FakeLog>,
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
        Self { intervals: 20, refused: 0, server: "the one".to_owned(), fault: None, log: None }
    }
}

/// What fake loads did, for all that a test started.
#[derive(Clone, Debug, Default)]
pub struct Diary(Arc<Mutex<Vec<Entry>>>);

/// See [`Diary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Load began.
    Began,
    /// Load ended: after so many transactions, at whose wish.
    Ended(u64, Option<Stop>),
}

impl Diary {
    fn add(&self, entry: Entry) {
        self.0.lock().unwrap().push(entry);
    }

    /// All entries so far.
    pub fn entries(&self) -> Vec<Entry> {
        self.0.lock().unwrap().clone()
    }

    /// Transactions of all loads that have ended.
    pub fn transactions(&self) -> u64 {
        let ended = self.entries().into_iter().filter_map(|entry| match entry {
            Entry::Ended(transactions, _) => Some(transactions),
            Entry::Began => None,
        });
        ended.sum()
    }
}

/// Makes fake loads.
#[derive(Clone, Debug, Default)]
pub struct FakeEngine {
    pub timetable: Timetable,
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

    fn ready(&self) -> ConnectStats {
        let wanted = u32::try_from(self.clients.len()).unwrap();
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
        let mut clients = vec![0; self.clients.len()];
        if self.wait_for_start().await {
            self.diary.add(Entry::Began);
            let after = self.orders.borrow().after;
            let first = u32::try_from(after.as_micros() / PACE.as_micros()).unwrap();
            totals.last_end_us = u64::try_from(after.as_micros()).unwrap();
            for index in first..self.timetable.intervals {
                sleep(PACE).await;
                if self.stop() == Some(Stop::Now) {
                    break;
                }
                let interval = self.interval(index, &mut clients);
                totals.measured.merge(&interval.counts);
                totals.last_end_us += u64::try_from(PACE.as_micros()).unwrap();
                let _ = self.events.send(LoadEvent::Interval(Box::new(interval)));
                if self.stop().is_some() {
                    break;
                }
            }
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

    /// `false` if it was stopped before.
    async fn wait_for_start(&self) -> bool {
        let mut orders = self.orders.subscribe();
        loop {
            let Orders { start, stop, .. } = *orders.borrow_and_update();
            if stop.is_some() {
                return false;
            }
            let at = start.map(tokio::time::Instant::from_std);
            tokio::select! {
                _ = orders.changed() => {}
                () = async { sleep_until(at.unwrap()).await }, if at.is_some() => {
                    // Another order may have come at the same moment.
                    let mut begun = false;
                    self.orders.send_modify(|orders| {
                        begun = orders.start == start && orders.stop.is_none();
                        orders.begun = begun;
                    });
                    if begun {
                        return true;
                    }
                }
            }
        }
    }

    /// Different for each index and client, so that a doubled or lost one cannot hide.
    fn interval(&self, index: u32, clients: &mut [u64]) -> Interval {
        let mut interval = Interval::new(Phase::Measure, index, 0, false);
        for (client, sum) in self.clients.iter().zip(clients) {
            let transactions = 1 + u64::from((index + client) % 5);
            for n in 0..transactions {
                interval.response.record(1000 + 10 * n + u64::from(index));
            }
            interval.counts.transactions += transactions;
            *sum += transactions;
        }
        interval.clients = u32::try_from(self.clients.len()).unwrap();
        interval
    }
}
