//! An agent's parts of one run: commands in, reports out, loads in between.
//!
//! Sans-IO: the caller brings commands and sends what the outbox holds. Takes every command once, in any
//! state, and answers each that has an answer.

use std::task::Poll;
use std::time::{Duration, Instant};

use pgsurge_common::ids::RunId;
use pgsurge_proto::message::{
    Ack, Command, Notice, NoticeLevel, OfPart, Ready, Report, RunMessage, Stop as WireStop,
};
use pgsurge_proto::numbering::{Arrival, Inbox, Numbered, Outbox};

use super::deliver::Delivery;
use super::engine::{Engine, RunningLoad};
use super::part::Part;
use crate::load::{self, LoadEvent, Stop, WrittenLog};

/// Time that load gets to end at once.
const END_WITHIN: Duration = Duration::from_secs(5);

/// See the module.
pub(super) struct Run<L> {
    pub id: RunId,
    pub reports: Outbox<OfPart<Report>>,
    commands: Inbox,
    /// In the order in which they were given; usually one.
    parts: Vec<Part<L>>,
    finished: bool,
    pub released: bool,
    logs_wanted: bool,
    pub delivery: Option<Delivery>,
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
            parts: Vec::new(),
            finished: false,
            released: false,
            logs_wanted: false,
            delivery: None,
        }
    }

    /// What has arrived, for acknowledgements and for coming back.
    pub fn ack(&self) -> Ack {
        Ack { run: self.id.clone(), number: self.commands.received() }
    }

    /// Load may be on, or sessions open.
    pub fn is_loaded(&self) -> bool {
        self.parts.iter().any(Part::is_loaded)
    }

    /// Everything that it had to say has arrived.
    pub fn is_heard(&self) -> bool {
        self.reports.is_empty()
    }

    /// Logs are on their way.
    pub fn is_delivering(&self) -> bool {
        self.delivery.as_ref().is_some_and(|delivery| !delivery.is_over())
    }

    /// The logs of all its parts, once if the coordinator wants them.
    pub fn logs_to_deliver(&mut self) -> Option<Vec<WrittenLog>> {
        let wanted = std::mem::take(&mut self.logs_wanted) && !self.is_loaded();
        wanted.then(|| self.parts.iter().flat_map(|part| part.logs.iter().cloned()).collect())
    }

    /// Its load ran to an end, and the coordinator has its totals.
    pub fn is_served(&self) -> bool {
        self.finished && !self.is_loaded() && !self.is_delivering() && self.is_heard()
    }

    /// Takes a command; `false` if the coordinator lost one before it.
    pub fn command<E: Engine<Load = L>>(
        &mut self,
        command: Numbered<OfPart<Command>>,
        engine: &mut E,
        epoch: Epoch,
    ) -> bool {
        match self.commands.accept(command.number) {
            Arrival::Again => return true,
            Arrival::Gap => return false,
            Arrival::New => {}
        }
        let OfPart { part: id, body } = command.body;
        let at_work = self.parts.iter().map(Part::clients).fold(0, u32::saturating_add);
        let part = self.parts.iter_mut().find(|part| part.id == id);
        let answer = match (body, part) {
            (Command::Prepare { plan, share }, None) => {
                match Part::prepare(id, engine, *plan, (&share, at_work)) {
                    Ok(part) => {
                        self.parts.push(part);
                        None
                    }
                    Err(why) => {
                        tracing::warn!(run = %self.id, "the run is refused: {why}");
                        Some(Report::Fault(why))
                    }
                }
            }
            (Command::Prepare { .. }, Some(_)) => {
                Some(Report::Fault("it was given the same part twice".to_owned()))
            }
            (Command::Start { attempt, at_ns, join_us }, Some(part)) => {
                Some(part.start(attempt, at_ns, join_us, epoch))
            }
            // It has no load that could begin, and says so.
            (Command::Start { attempt, .. }, None) => Some(Report::Armed { attempt, lead_ns: 0 }),
            (Command::CallOff { attempt }, Some(part)) => Some(part.call_off(attempt)),
            (Command::CallOff { attempt }, None) => {
                Some(Report::CalledOff { attempt, begun: false })
            }
            (Command::Stop(stop), Some(part)) => {
                part.stop(match stop {
                    WireStop::Drain => Stop::Drain,
                    WireStop::Now => Stop::Now,
                });
                None
            }
            (Command::Stop(_), None) => None,
            (Command::SendLogs, _) => {
                self.logs_wanted = true;
                None
            }
            (Command::Release, _) => {
                self.released = true;
                None
            }
        };
        if let Some(body) = answer {
            self.reports.push(OfPart { part: id, body });
        }
        true
    }

    /// The agent was told to leave: what is in flight finishes, what has not begun never will.
    pub fn leave(&mut self, reason: &str) {
        let Some(first) = self.parts.first().map(|part| part.id).filter(|_| self.is_loaded())
        else {
            return;
        };
        self.reports.push(OfPart { part: first, body: Report::Leaving(reason.to_owned()) });
        self.parts.iter().for_each(Part::leave);
    }

    /// The next event of any load, with its place; waits for ever where there is none.
    pub async fn next_event(&mut self) -> (usize, Option<LoadEvent>) {
        std::future::poll_fn(|cx| {
            for (place, part) in self.parts.iter_mut().enumerate() {
                if let Poll::Ready(event) = part.poll_event(cx) {
                    return Poll::Ready((place, event));
                }
            }
            Poll::Pending
        })
        .await
    }

    /// Takes an event of the load at this place.
    pub fn event(&mut self, place: usize, event: Option<LoadEvent>) {
        let Some(part) = self.parts.get_mut(place) else { return };
        let body = match event {
            Some(LoadEvent::Ready(ready)) => {
                let load::Ready { connect, direct } = *ready;
                Report::Ready(Box::new(Ready { connect, direct }))
            }
            Some(LoadEvent::Interval(interval)) => Report::Interval(interval),
            Some(LoadEvent::Notice(notice)) => Report::Notice(to_wire(notice)),
            Some(LoadEvent::AbortRun { worker, reason }) => Report::AbortRun { worker, reason },
            Some(LoadEvent::Finished(totals)) => {
                part.ended();
                if totals.log.is_none_or(|log| log.files == 0) {
                    // It never began, and took its empty files back.
                    part.logs.clear();
                }
                self.finished = true;
                Report::Finished(totals)
            }
            None => {
                part.ended();
                Report::Fault("its load ended without totals".to_owned())
            }
        };
        self.reports.push(OfPart { part: part.id, body });
    }

    /// The next report to be sent.
    pub fn next_report(&mut self) -> Option<RunMessage<Report>> {
        let message = self.reports.next_unsent()?;
        Some(RunMessage { run: self.id.clone(), message })
    }

    /// Ends the load at once and waits, within bounds, until it has ended.
    pub async fn end(&mut self) {
        self.parts.iter().for_each(|part| part.stop(Stop::Now));
        let ended = async {
            while self.is_loaded() {
                let (place, event) = self.next_event().await;
                self.event(place, event);
            }
        };
        if tokio::time::timeout(END_WITHIN, ended).await.is_err() {
            tracing::error!(run = %self.id, "load did not end in time and is left to itself");
        }
        if let Some(delivery) = self.delivery.take() {
            delivery.end().await;
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
