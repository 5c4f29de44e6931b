//! One agent's share of a run without a coordinator: what the load says, checked as it comes.
//!
//! Invariant: whoever gets a [`Loaded`] knows that its intervals ascend without a gap and add up to its
//! totals (I1).

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgsurge_agent::load::{Load, LoadError, LoadEvent, LoadOptions, Notice, Ready, Stop};
use pgsurge_common::ids::{RunId, WorkerId};
use pgsurge_common::plan::split::{Share, SplitRules, split};
use pgsurge_common::plan::{
    ConnectBudget, End, Load as LoadPlan, Plan, Protocol, ScriptSource, Seeds, Workload,
};
use pgsurge_common::stats::{Counts, Interval, Phase, Totals};
use pgsurge_common::target::{Address, Host, SslMode, Target};
use pgsurge_common::workload::find_builtin;
use tokio::sync::mpsc::UnboundedReceiver;

/// What is to be loaded; the fields of the plan may be changed at will.
#[derive(Clone, Debug)]
pub struct Loading {
    /// The plan.
    pub plan: Plan,
    /// Worker threads.
    pub workers: u32,
    /// What the host allows.
    pub options: LoadOptions,
}

/// A load whose sessions are open.
#[derive(Debug)]
pub struct Prepared {
    /// The load itself.
    pub load: Load,
    /// How connecting went.
    pub ready: Ready,
    notices: Vec<Notice>,
    intervals: Vec<Interval>,
    events: UnboundedReceiver<LoadEvent>,
}

/// A load that has ended.
#[derive(Debug)]
pub struct Loaded {
    /// How connecting went.
    pub ready: Ready,
    /// In the order of their coming.
    pub intervals: Vec<Interval>,
    /// Lines for the user.
    pub notices: Vec<String>,
    /// Asked for the end of the whole run.
    pub abort_run: Option<(WorkerId, Option<String>)>,
    /// The end.
    pub totals: Totals,
}

impl Loading {
    /// One client that executes a script ten times over TCP.
    #[must_use]
    pub fn script(port: u16, text: &str) -> Self {
        Self::new(port, vec![script("test", text)])
    }

    /// The same with one of pgbench's own scripts at scale 1.
    ///
    /// # Panics
    /// If there is no such script.
    #[must_use]
    pub fn builtin(port: u16, name: &str) -> Self {
        Self::new(port, vec![find_builtin(name).expect("a name of pgbench").source(1)])
    }

    fn new(port: u16, scripts: Vec<ScriptSource>) -> Self {
        let address = Address::Tcp { name: "127.0.0.1".into(), addr: None };
        let host = Host { address, port, password: None };
        let mut target = Target::new(vec![host], "postgres", "postgres");
        target.tls.mode = SslMode::Disable;
        let workload = Workload {
            scripts,
            protocol: Protocol::Simple,
            scale: 1,
            defines: Vec::new(),
            max_tries: Some(1),
            continue_on_error: false,
            exit_on_abort: false,
            verbose_errors: false,
            report_per_command: false,
        };
        let load = LoadPlan {
            clients: 1,
            end: End::Transactions(10),
            warmup: Duration::ZERO,
            rate_tps: None,
            latency_limit_us: None,
            connect_per_transaction: false,
            reconnect: false,
            connect: ConnectBudget {
                rate_per_s: None,
                concurrency: 16,
                timeout: Duration::from_secs(30),
            },
            allow_fewer_clients: false,
            drain_timeout: None,
        };
        let plan = Plan {
            run_id: RunId::new("test").expect("letters only"),
            workload,
            load,
            target,
            seeds: Seeds { random_seed: 42 },
            log: None,
        };
        Self { plan, workers: 1, options: LoadOptions::default() }
    }

    /// Another script beside the first.
    #[must_use]
    pub fn and_script(mut self, text: &str) -> Self {
        let name = format!("test {}", self.plan.workload.scripts.len() + 1);
        self.plan.workload.scripts.push(script(&name, text));
        self
    }

    /// So many clients on so many workers.
    #[must_use]
    pub fn clients(mut self, clients: u32, workers: u32) -> Self {
        self.plan.load.clients = clients;
        self.workers = workers;
        self
    }

    /// How statements travel.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.plan.workload.protocol = protocol;
        self
    }

    /// `-t`.
    #[must_use]
    pub fn transactions(mut self, count: u64) -> Self {
        self.plan.load.end = End::Transactions(count);
        self
    }

    /// `-T`.
    #[must_use]
    pub fn duration(mut self, duration: Duration) -> Self {
        self.plan.load.end = End::Duration(duration);
        self
    }

    /// The only share of the plan.
    fn share(&self) -> Share {
        let rules = SplitRules { workers_per_agent: Some(self.workers), ..SplitRules::default() };
        let shares = split(&self.plan.load, &[1], rules).expect("one agent takes all");
        shares.into_iter().next().expect("there is one agent")
    }

    /// Opens the sessions.
    ///
    /// # Errors
    /// If the load cannot be prepared at all.
    ///
    /// # Panics
    /// If the load ends without saying how connecting went.
    pub fn prepare(&self) -> Result<Prepared, LoadError> {
        self.prepare_while(|_| {})
    }

    /// The same, and something is done while sessions are being opened.
    ///
    /// # Errors
    /// If the load cannot be prepared at all.
    ///
    /// # Panics
    /// If the load ends without saying how connecting went.
    pub fn prepare_while(&self, meanwhile: impl FnOnce(&Load)) -> Result<Prepared, LoadError> {
        let plan = Arc::new(self.plan.clone());
        let (load, mut events) = Load::prepare(plan, &self.share(), &self.options)?;
        meanwhile(&load);
        let mut notices = Vec::new();
        loop {
            match events.blocking_recv().expect("Ready comes before the end") {
                LoadEvent::Ready(ready) => {
                    return Ok(Prepared {
                        load,
                        ready: *ready,
                        notices,
                        intervals: Vec::new(),
                        events,
                    });
                }
                LoadEvent::Notice(notice) => notices.push(notice),
                other => panic!("before Ready: {other:?}"),
            }
        }
    }

    /// Prepares, starts at once and waits for the end.
    ///
    /// # Panics
    /// If the load cannot be prepared.
    #[must_use]
    pub fn run(&self) -> Loaded {
        let prepared = self.prepare().unwrap_or_else(|error| panic!("prepare: {error:?}"));
        prepared.load.arm(Instant::now());
        prepared.finish()
    }
}

impl Prepared {
    /// Waits until an interval is over.
    ///
    /// # Panics
    /// If the load ends before.
    pub fn wait_for_interval(&mut self) {
        loop {
            match self.events.blocking_recv().expect("the load goes on") {
                LoadEvent::Notice(notice) => self.notices.push(notice),
                LoadEvent::Interval(interval) => return self.intervals.push(*interval),
                other => panic!("before an interval: {other:?}"),
            }
        }
    }

    /// Waits until an interval is as wanted.
    ///
    /// # Panics
    /// If the load ends before.
    pub fn wait_for(&mut self, wanted: impl Fn(&Interval) -> bool) {
        self.wait_until(|intervals| intervals.last().is_some_and(&wanted));
    }

    /// Waits until all intervals so far, the next one included, are as wanted.
    ///
    /// # Panics
    /// If the load ends before.
    pub fn wait_until(&mut self, wanted: impl Fn(&[Interval]) -> bool) {
        loop {
            self.wait_for_interval();
            if wanted(&self.intervals) {
                return;
            }
        }
    }

    /// Stops the load and waits for the end.
    #[must_use]
    pub fn stop(self, stop: Stop) -> Loaded {
        self.load.stop(stop);
        self.finish()
    }

    /// Waits for the end and checks the sums.
    ///
    /// # Panics
    /// If the load says what it must not.
    #[must_use]
    pub fn finish(mut self) -> Loaded {
        let mut intervals = self.intervals;
        let mut abort_run = None;
        let mut totals = None;
        while let Some(event) = self.events.blocking_recv() {
            assert!(totals.is_none(), "after the end: {event:?}");
            match event {
                LoadEvent::Ready(_) => panic!("ready twice"),
                LoadEvent::Interval(interval) => intervals.push(*interval),
                LoadEvent::Notice(notice) => self.notices.push(notice),
                LoadEvent::AbortRun { worker, reason } => abort_run = Some((worker, reason)),
                LoadEvent::Finished(end) => totals = Some(*end),
            }
        }
        let totals = totals.expect("a load says how it ended");
        let notices = self.notices.into_iter().map(|notice| notice.text).collect();
        let loaded = Loaded { ready: self.ready, intervals, notices, abort_run, totals };
        loaded.check_sums(Phase::Warmup, &loaded.totals.warmup);
        loaded.check_sums(Phase::Measure, &loaded.totals.measured);
        loaded
    }
}

impl Loaded {
    /// The intervals of a phase.
    pub fn phase(&self, phase: Phase) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().filter(move |interval| interval.phase == phase)
    }

    /// A notice with this text was given.
    ///
    /// # Panics
    /// If there is none.
    pub fn assert_notice(&self, part: &str) {
        let found = self.notices.iter().any(|notice| notice.contains(part));
        assert!(found, "no notice with {part:?} in {:#?}", self.notices);
    }

    /// Successful transactions by client.
    #[must_use]
    pub fn by_client(&self) -> Vec<u64> {
        self.totals.clients.iter().map(|client| client.transactions).collect()
    }

    /// All commits that the server must have counted.
    #[must_use]
    pub fn commits(&self) -> u64 {
        let totals = &self.totals;
        totals.measured.commits + totals.warmup.commits + totals.extra_commits
    }

    fn check_sums(&self, phase: Phase, expected: &Counts) {
        let mut sum = Counts::default();
        let mut values = 0;
        for (index, interval) in (0u32..).zip(self.phase(phase)) {
            assert_eq!(interval.index, index, "indices of {phase:?} ascend without a gap");
            sum.merge(&interval.counts);
            values += interval.response.len();
        }
        assert_eq!(sum, *expected, "intervals of {phase:?} against totals");
        assert_eq!(values, expected.transactions, "response times of {phase:?}");
    }
}

fn script(name: &str, text: &str) -> ScriptSource {
    ScriptSource { name: name.into(), text: text.as_bytes().to_vec(), weight: 1, builtin: false }
}
