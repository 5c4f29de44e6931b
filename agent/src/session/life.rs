//! The session's loop: what can happen next, and what it means.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use pgsurge_proto::ReceiveError;
use pgsurge_proto::message::{Ack, AgentMessage, CoordinatorMessage, Token, Welcome};
use tokio::sync::mpsc::{OwnedPermit, Sender};
use tokio::time::{Interval, MissedTickBehavior};

use super::backoff::Backoff;
use super::dial::{DialError, Dialler};
use super::engine::Engine;
use super::link::Link;
use super::run::{Epoch, Run};
use super::{AgentError, AgentExit, AgentOptions, Shutdown};
use crate::load::LoadEvent;

/// Lease and heartbeat are looked at so often.
const TICK: Duration = Duration::from_millis(100);

/// A coordinator that is silent for so long is dialled anew: its heartbeats come far more often.
const SILENT: Duration = Duration::from_secs(3);

/// Time to say what is left to say when leaving.
const FAREWELL_WITHIN: Duration = Duration::from_secs(1);

type Dialling = Pin<Box<dyn Future<Output = Result<(Link, Welcome), DialError>> + Send>>;

/// See the module.
pub(super) struct Life<E: Engine> {
    pub(super) options: AgentOptions,
    pub(super) engine: E,
    pub(super) dialler: Dialler,
    pub(super) epoch: Epoch,
    pub(super) link: Option<Link>,
    pub(super) dialling: Option<Dialling>,
    pub(super) backoff: Backoff,
    /// The session at the coordinator, also while there is no connection to it.
    pub(super) token: Option<Token>,
    pub(super) run: Option<Run<E::Load>>,
    /// Where the last run ended, in case its end was not heard.
    pub(super) last_run: Option<Ack>,
    pub(super) ack_due: Option<Ack>,
    pub(super) lease: Duration,
    pub(super) heartbeat: Duration,
    pub(super) heard: Instant,
    beaten: Instant,
    pub(super) alone_since: Instant,
    pub(super) last_error: String,
    pub(super) served: bool,
    pub(super) leaving: bool,
}

/// What happened.
enum Step {
    Tick,
    Abort,
    Drain,
    Message(Result<Option<CoordinatorMessage>, ReceiveError>),
    Attached(Result<(Link, Welcome), DialError>),
    /// The connection takes another message, or none any more.
    Room(Option<OwnedPermit<AgentMessage>>),
    Load((usize, Option<LoadEvent>)),
}

impl<E: Engine> Life<E> {
    pub fn new(options: AgentOptions, engine: E, dialler: Dialler) -> Self {
        let now = Instant::now();
        Self {
            options,
            engine,
            dialler,
            epoch: Epoch(now),
            link: None,
            dialling: None,
            backoff: Backoff::default(),
            token: None,
            run: None,
            last_run: None,
            ack_due: None,
            // Replaced by the first welcome; before it there is no load.
            lease: Duration::MAX,
            heartbeat: Duration::from_secs(1),
            heard: now,
            beaten: now,
            alone_since: now,
            last_error: String::new(),
            served: false,
            leaving: false,
        }
    }

    pub async fn live(mut self, shutdown: Shutdown) -> Result<AgentExit, AgentError> {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if let Some(exit) = self.exit() {
                self.farewell().await;
                return Ok(exit);
            }
            self.dial_unless_linked();
            match self.next(&mut ticks, &shutdown).await {
                Step::Tick => self.tick().await?,
                Step::Abort => {
                    self.abort().await;
                    return Ok(AgentExit::Aborted);
                }
                Step::Drain => self.leave(),
                Step::Message(message) => self.message(message).await,
                Step::Attached(Ok((link, welcome))) => self.attached(link, welcome).await,
                Step::Attached(Err(error)) => self.not_attached(error).await?,
                Step::Room(Some(room)) => self.send(room),
                Step::Room(None) => self.unlink("it takes nothing any more"),
                Step::Load((place, event)) => {
                    if let Some(run) = &mut self.run {
                        run.event(place, event);
                    }
                }
            }
        }
    }

    /// Waits for the next thing to happen.
    async fn next(&mut self, ticks: &mut Interval, shutdown: &Shutdown) -> Step {
        let Self { link, dialling, run, ack_due, leaving, .. } = self;
        let unsent = ack_due.is_some() || run.as_ref().is_some_and(|run| run.reports.has_unsent());
        let outgoing = link.as_ref().filter(|_| unsent).map(|link| link.outgoing.clone());
        tokio::select! {
            // The lease is looked at before anything that could renew it: a process that was stopped must
            // not take what waited in its socket for a sign of life.
            biased;
            _ = ticks.tick() => Step::Tick,
            () = shutdown.abort.cancelled() => Step::Abort,
            () = shutdown.drain.cancelled(), if !*leaving => Step::Drain,
            message = optional(link.as_mut().map(|link| link.incoming.next())) => {
                Step::Message(message)
            }
            attached = optional(dialling.as_mut()) => Step::Attached(attached),
            room = optional(outgoing.map(Sender::reserve_owned)) => {
                Step::Room(room.ok())
            }
            event = optional(run.as_mut().map(Run::next_event)) => Step::Load(event),
        }
    }

    fn exit(&self) -> Option<AgentExit> {
        let told = self.ack_due.is_none() || self.link.is_none();
        let idle = self.run.as_ref().is_none_or(|run| {
            let alone = self.link.is_none() && self.heard.elapsed() > self.lease;
            !run.is_loaded() && !run.is_delivering() && (run.is_heard() || alone)
        });
        if self.leaving && idle && told {
            Some(AgentExit::Drained)
        } else if self.options.once && told && (self.served || self.is_abandoned_after_serving()) {
            Some(AgentExit::ServedOnce)
        } else {
            None
        }
    }

    /// The coordinator has all it wanted and left before its release arrived.
    fn is_abandoned_after_serving(&self) -> bool {
        self.link.is_none() && self.run.as_ref().is_some_and(Run::is_served)
    }

    async fn tick(&mut self) -> Result<(), AgentError> {
        let silent = self.heard.elapsed();
        if silent > self.lease && self.run.as_ref().is_some_and(Run::is_loaded) {
            tracing::warn!(
                lease_s = self.lease.as_secs_f64(),
                "the lease is over, load ends since the coordinator was not heard"
            );
            self.end_run().await;
            self.unlink("the lease is over");
            // What is being dialled would go on with a run that is not there any more.
            self.dialling = None;
        } else if silent > SILENT.max(3 * self.heartbeat) && self.link.is_some() {
            self.unlink("the coordinator is silent");
        }
        if let Some(link) = &self.link
            && self.beaten.elapsed() >= self.heartbeat
        {
            self.beaten = Instant::now();
            let _ = link.outgoing.try_send(AgentMessage::Heartbeat);
        }
        match self.options.give_up_after {
            Some(after) if self.link.is_none() && self.alone_since.elapsed() >= after => {
                self.end_run().await;
                let (address, last) = (self.dialler.address.clone(), self.last_error.clone());
                Err(AgentError::GaveUp { address, after, last })
            }
            _ => Ok(()),
        }
    }

    /// No load of the run is left afterwards, if there was one.
    pub(super) async fn end_run(&mut self) {
        if let Some(mut run) = self.run.take() {
            run.end().await;
            self.last_run = Some(run.ack());
        }
    }

    fn leave(&mut self) {
        self.leaving = true;
        if let Some(run) = &mut self.run {
            tracing::info!("told to leave, draining");
            run.leave("it was told to leave");
        }
    }

    /// Ends everything at once, and still says so if there is someone to say it to.
    async fn abort(&mut self) {
        if let Some(run) = &mut self.run {
            run.leave("it was told to leave at once");
            run.end().await;
        }
        if let (Some(link), Some(run)) = (&self.link, &mut self.run) {
            let rest = async {
                while let Some(report) = run.next_report() {
                    if link.outgoing.send(AgentMessage::Report(report)).await.is_err() {
                        return;
                    }
                }
            };
            let _ = tokio::time::timeout(FAREWELL_WITHIN, rest).await;
        }
        self.farewell().await;
    }

    /// Closes the stream and waits, within bounds, until the coordinator has read it to its end.
    async fn farewell(&mut self) {
        let Some(Link { outgoing, mut incoming }) = self.link.take() else { return };
        let end = async {
            let _ = outgoing.send(AgentMessage::Goodbye).await;
            drop(outgoing);
            while let Ok(Some(_)) = incoming.next().await {}
        };
        let _ = tokio::time::timeout(FAREWELL_WITHIN, end).await;
    }
}

/// A future that may not be there, and then never resolves.
async fn optional<F: Future>(future: Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}
