//! What the session says to the coordinator, and what it makes of what it hears.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use pgsurge_proto::ReceiveError;
use pgsurge_proto::message::{
    AgentMessage, ClockEcho, Command, CoordinatorMessage, LogSender, Resume, RunMessage, Welcome,
};
use tokio::sync::mpsc::OwnedPermit;

use super::deliver::Delivery;
use super::dial::DialError;
use super::engine::Engine;
use super::life::Life;
use super::link::{Link, attach};
use super::run::Run;
use super::{AgentError, host};

impl<E: Engine> Life<E> {
    pub(super) fn dial_unless_linked(&mut self) {
        if self.link.is_some() || self.dialling.is_some() {
            return;
        }
        let run = self.run.as_ref().map(Run::ack);
        let resume = self.token.clone().map(|token| Resume { token, run });
        let hello = host::hello(&self.options, resume);
        let dialler = self.dialler.clone();
        let pause = if self.last_error.is_empty() {
            Duration::ZERO
        } else {
            // Any number that differs between agents will do.
            let chance = RandomState::new().hash_one(&self.options.name);
            self.backoff.next(u32::try_from(chance >> 32).unwrap_or(u32::MAX))
        };
        self.dialling = Some(Box::pin(async move {
            tokio::time::sleep(pause).await;
            attach(dialler, hello).await
        }));
    }

    pub(super) async fn attached(&mut self, link: Link, welcome: Welcome) {
        let Welcome { token, name, lease, heartbeat, resumed } = welcome;
        tracing::info!(coordinator = self.dialler.address, name, "attached");
        (self.link, self.dialling) = (Some(link), None);
        (self.lease, self.heartbeat, self.heard) = (lease, heartbeat, Instant::now());
        self.backoff.reset();
        self.last_error.clear();
        self.token = Some(token);
        if resumed.is_none() {
            self.last_run = None;
        }
        let theirs = resumed.and_then(|resumed| resumed.run);
        match (&mut self.run, theirs) {
            (Some(run), Some(ack)) if ack.run == run.id => {
                run.reports.rewind(ack.number);
                self.ack_due = Some(run.ack());
            }
            (Some(run), _) => {
                tracing::warn!(run = %run.id, "the coordinator does not know the run, load ends");
                self.end_run().await;
            }
            (None, _) => self.ack_due.clone_from(&self.last_run),
        }
    }

    pub(super) async fn not_attached(&mut self, error: DialError) -> Result<(), AgentError> {
        self.dialling = None;
        // An agent that was welcome once waits for the certificates that make it welcome again.
        if error.for_good && !(error.renewable && self.token.is_some()) {
            self.end_run().await;
            return Err(AgentError::Dial(error));
        }
        if error.reason == self.last_error {
            tracing::debug!("{error}");
        } else {
            tracing::warn!("{error}, trying again");
        }
        self.last_error = error.reason;
        Ok(())
    }

    pub(super) fn unlink(&mut self, why: &str) {
        if self.link.take().is_some() {
            tracing::info!(coordinator = self.dialler.address, why, "connection ended");
            self.alone_since = Instant::now();
            why.clone_into(&mut self.last_error);
        }
    }

    pub(super) async fn message(
        &mut self,
        message: Result<Option<CoordinatorMessage>, ReceiveError>,
    ) {
        let message = match message {
            Ok(Some(message)) => message,
            Ok(None) => return self.unlink("the coordinator has closed it"),
            Err(error) => return self.unlink(&error.to_string()),
        };
        self.heard = Instant::now();
        match message {
            CoordinatorMessage::Heartbeat => {}
            CoordinatorMessage::ClockProbe(probe) => {
                let now_ns = self.epoch.now_ns();
                let echo = ClockEcho { probe, received_ns: now_ns, sent_ns: now_ns };
                if let Some(link) = &self.link {
                    let _ = link.outgoing.try_send(AgentMessage::ClockEcho(echo));
                }
            }
            CoordinatorMessage::Ack(ack) => {
                if let Some(run) = self.run.as_mut().filter(|run| run.id == ack.run) {
                    run.reports.acknowledge(ack.number);
                }
            }
            CoordinatorMessage::Command(command) => self.command(command).await,
            CoordinatorMessage::Welcome(_) => self.unlink("it sent a second welcome"),
        }
    }

    pub(super) async fn command(&mut self, command: RunMessage<Command>) {
        let RunMessage { run: id, message } = command;
        if self.run.as_ref().is_none_or(|run| run.id != id) {
            if let Some(last) = self.last_run.as_ref().filter(|last| last.run == id) {
                self.ack_due = Some(last.clone());
                return;
            }
            self.end_run().await;
            tracing::info!(run = %id, "run begins");
            self.run = Some(Run::new(id));
        }
        let Some(run) = &mut self.run else { return };
        if !run.command(message, &mut self.engine, self.epoch) {
            return self.unlink("a command is missing");
        }
        self.ack_due = Some(run.ack());
        if let (Some(logs), Some(token)) = (run.logs_to_deliver(), &self.token) {
            let sender = LogSender { token: token.clone(), run: run.id.clone() };
            run.delivery = Some(Delivery::begin(self.dialler.clone(), sender, logs));
        }
        if run.released {
            self.end_run().await;
            self.served = true;
            self.ack_due.clone_from(&self.last_run);
            tracing::info!("run is over");
        } else if self.leaving {
            run.leave("it was told to leave");
        }
    }

    /// Puts one message on its way.
    pub(super) fn send(&mut self, room: OwnedPermit<AgentMessage>) {
        if let Some(ack) = self.ack_due.take() {
            room.send(AgentMessage::Ack(ack));
        } else if let Some(report) = self.run.as_mut().and_then(Run::next_report) {
            room.send(AgentMessage::Report(report));
        }
    }
}
