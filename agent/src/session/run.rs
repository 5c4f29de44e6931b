//! An agent's part in one run: commands in, reports out, load in between.
//!
//! Sans-IO: the caller brings commands and sends what the outbox holds. Takes every command once, in any
//! state, and answers each that has an answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pgsurge_common::ids::RunId;
use pgsurge_proto::message::{
    Ack, Command, Notice, NoticeLevel, Ready, Report, RunMessage, Stop as WireStop,
};
use pgsurge_proto::numbering::{Arrival, Inbox, Numbered, Outbox};
use tokio::sync::mpsc::UnboundedReceiver;

use super::engine::{Engine, RunningLoad};
use crate::load::{self, LoadEvent, Stop};

/// Time that load gets to end at once.
const END_WITHIN: Duration = Duration::from_secs(5);

/// See the module.
pub(super) struct Run<L> {
    pub id: RunId,
    pub reports: Outbox<Report>,
    commands: Inbox,
    load: Option<L>,
    events: Option<UnboundedReceiver<LoadEvent>>,
    begins: Option<Instant>,
    finished: bool,
    pub released: bool,
}

/// The agent's process began; instants of commands count from here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epoch(pub Instant);

impl Epoch {
    /// Nanoseconds since.
    pub fn now_ns(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl<L: RunningLoad> Run<L> {
    pub fn new(id: RunId) -> Self {
        Self {
            id,
            reports: Outbox::default(),
            commands: Inbox::default(),
            load: None,
            events: None,
            begins: None,
            finished: false,
            released: false,
        }
    }

    /// What has arrived, for acknowledgements and for coming back.
    pub fn ack(&self) -> Ack {
        Ack { run: self.id.clone(), number: self.commands.received() }
    }

    /// Load may be on, or sessions open.
    pub fn is_loaded(&self) -> bool {
        self.load.is_some()
    }

    /// Everything that it had to say has arrived.
    pub fn is_heard(&self) -> bool {
        self.reports.is_empty()
    }

    /// Its load ran to an end, and the coordinator has its totals.
    pub fn is_served(&self) -> bool {
        self.finished && self.is_heard()
    }

    /// Takes a command; `false` if the coordinator lost one before it.
    pub fn command<E: Engine<Load = L>>(
        &mut self,
        command: Numbered<Command>,
        engine: &mut E,
        epoch: Epoch,
    ) -> bool {
        match self.commands.accept(command.number) {
            Arrival::Again => return true,
            Arrival::Gap => return false,
            Arrival::New => {}
        }
        match command.body {
            Command::Prepare { plan, share } => match engine.prepare(Arc::new(*plan), &share) {
                Ok((load, events)) => (self.load, self.events) = (Some(load), Some(events)),
                Err(why) => {
                    tracing::warn!(run = %self.id, "the run is refused: {why}");
                    self.reports.push(Report::Fault(why));
                }
            },
            Command::Start { attempt, at_ns } => self.start(attempt, at_ns, epoch),
            Command::CallOff { attempt } => self.call_off(attempt),
            Command::Stop(WireStop::Drain) => self.stop(Stop::Drain),
            Command::Stop(WireStop::Now) => self.stop(Stop::Now),
            Command::Release => self.released = true,
        }
        true
    }

    fn start(&mut self, attempt: u32, at_ns: u64, epoch: Epoch) {
        let now_ns = epoch.now_ns();
        let at = epoch.0.checked_add(Duration::from_nanos(at_ns));
        let lead_ns = i64::try_from(i128::from(at_ns) - i128::from(now_ns)).unwrap_or(i64::MAX);
        if let (Some(load), Some(at), true) = (&self.load, at, lead_ns > 0) {
            load.arm(at);
            self.begins = Some(at);
        }
        self.reports.push(Report::Armed { attempt, lead_ns });
    }

    fn call_off(&mut self, attempt: u32) {
        let armed = self.begins.take().is_some();
        let begun = armed && self.load.as_ref().is_some_and(|load| !load.disarm());
        self.reports.push(Report::CalledOff { attempt, begun });
    }

    /// Ends the load in one way or the other.
    pub fn stop(&self, stop: Stop) {
        if let Some(load) = &self.load {
            load.stop(stop);
        }
    }

    /// The agent was told to leave: what is in flight finishes, what has not begun never will.
    pub fn leave(&mut self, reason: &str) {
        if !self.is_loaded() {
            return;
        }
        let on = self.begins.is_some_and(|begins| begins <= Instant::now());
        self.reports.push(Report::Leaving(reason.to_owned()));
        self.stop(if on { Stop::Drain } else { Stop::Now });
    }

    /// The next event of the load; waits for ever where there is none.
    pub async fn next_event(&mut self) -> Option<LoadEvent> {
        match &mut self.events {
            Some(events) => events.recv().await,
            None => std::future::pending().await,
        }
    }

    /// Takes an event of the load.
    pub fn event(&mut self, event: Option<LoadEvent>) {
        let report = match event {
            Some(LoadEvent::Ready(ready)) => {
                let load::Ready { connect, direct } = *ready;
                Report::Ready(Box::new(Ready { connect, direct }))
            }
            Some(LoadEvent::Interval(interval)) => Report::Interval(interval),
            Some(LoadEvent::Notice(notice)) => Report::Notice(to_wire(notice)),
            Some(LoadEvent::AbortRun { worker, reason }) => Report::AbortRun { worker, reason },
            Some(LoadEvent::Finished(totals)) => {
                (self.load, self.events) = (None, None);
                self.finished = true;
                Report::Finished(totals)
            }
            None => {
                (self.load, self.events) = (None, None);
                Report::Fault("its load ended without totals".to_owned())
            }
        };
        self.reports.push(report);
    }

    /// The next report to be sent.
    pub fn next_report(&mut self) -> Option<RunMessage<Report>> {
        let message = self.reports.next_unsent()?;
        Some(RunMessage { run: self.id.clone(), message })
    }

    /// Ends the load at once and waits, within bounds, until it has ended.
    pub async fn end(&mut self) {
        self.stop(Stop::Now);
        let ended = async {
            while self.is_loaded() {
                let event = self.next_event().await;
                self.event(event);
            }
        };
        if tokio::time::timeout(END_WITHIN, ended).await.is_err() {
            tracing::error!(run = %self.id, "load did not end in time and is left to itself");
        }
    }
}

fn to_wire(notice: load::Notice) -> Notice {
    let level = match notice.level {
        load::NoticeLevel::Raw => NoticeLevel::Raw,
        load::NoticeLevel::Info => NoticeLevel::Info,
        load::NoticeLevel::Error => NoticeLevel::Error,
    };
    Notice { client: notice.client.map(|client| client.0), level, text: notice.text }
}
