//! The connection phase of one worker: opens its sessions inside the host's budget, tries again after
//! errors that may pass, and says how many it got and why not more.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use pgsurge_common::stats::{ErrorCounts, micros};
use tokio::task::JoinSet;

use super::gate::{Gate, pause_after};
use super::timer::Timer;
use crate::client::{Identity, Session, identify};
use crate::load::Ready;
use crate::wire::{ConnectError, Connector};

/// How sessions are opened.
#[derive(Clone)]
pub(super) struct Opener {
    pub(super) connector: Connector,
    pub(super) gate: Arc<Gate>,
    pub(super) timer: Timer,
    /// The next session that is opened is asked for the server's identity.
    pub(super) identify: Rc<Cell<bool>>,
}

/// What came of it.
pub(super) struct Opened {
    /// One place a session that was wanted.
    pub(super) sessions: Vec<Option<Session>>,
    pub(super) ready: Ready,
}

/// What came of one session.
struct Outcome {
    session: Result<(Session, Identity), Option<ConnectError>>,
    latency_us: u64,
    errors: ErrorCounts,
}

impl Opener {
    /// Opens `wanted` sessions, as many as can be had before the deadline.
    pub(super) async fn open(self, wanted: u32) -> Opened {
        let mut tasks = JoinSet::new();
        for place in 0..wanted {
            let opener = self.clone();
            tasks.spawn_local(async move { (place, opener.open_one().await) });
        }
        let mut sessions: Vec<_> = (0..wanted).map(|_| None).collect();
        let mut ready = Ready::default();
        ready.connect.wanted = wanted;
        while let Some(joined) = tasks.join_next().await {
            let Ok((place, outcome)) = joined else { continue };
            let connect = &mut ready.connect;
            connect.errors.merge(&outcome.errors);
            match outcome.session {
                Ok((session, identity)) => {
                    connect.obtained += 1;
                    connect.latency.record(outcome.latency_us);
                    connect.elapsed_us = micros(self.gate.elapsed());
                    connect.opened.record(connect.elapsed_us);
                    connect.server_identity = connect.server_identity.take().or(identity.server);
                    ready.direct = ready.direct.or(identity.direct);
                    if let Some(free) =
                        usize::try_from(place).ok().and_then(|p| sessions.get_mut(p))
                    {
                        *free = Some(session);
                    }
                }
                Err(error) => {
                    let text = error.map(|error| error.to_string());
                    connect.example = connect.example.take().or(text);
                }
            }
        }
        Opened { sessions, ready }
    }

    async fn open_one(&self) -> Outcome {
        let mut errors = ErrorCounts::default();
        let mut last = None;
        let mut first_attempt = None;
        let session = tokio::select! {
            biased;
            () = self.gate.given_up() => None,
            () = self.timer.sleep_until(self.gate.deadline()) => {
                if errors.is_empty() {
                    errors.add("timeout", 1);
                }
                None
            }
            session = self.attempts(&mut first_attempt, &mut errors, &mut last) => session,
        };
        let latency_us = first_attempt.map_or(0, |first: Instant| micros(first.elapsed()));
        Outcome { session: session.ok_or(last), latency_us, errors }
    }

    /// Tries until it succeeds or meets an error that will not pass.
    async fn attempts(
        &self,
        first_attempt: &mut Option<Instant>,
        errors: &mut ErrorCounts,
        last: &mut Option<ConnectError>,
    ) -> Option<(Session, Identity)> {
        for failures in 0.. {
            let permit = self.gate.enter(&self.timer).await;
            first_attempt.get_or_insert_with(Instant::now);
            // Boxed: this future is far larger than a client at work, and lives only here.
            let error = match Box::pin(self.connector.connect()).await {
                Ok(connection) => match self.greet(Session::new(connection)).await {
                    Some(greeted) => {
                        self.gate.succeed();
                        return Some(greeted);
                    }
                    None => continue,
                },
                Err(error) => error,
            };
            drop(permit);
            errors.add(error.kind(), 1);
            let passing = error.is_transient();
            if passing {
                self.gate.put_off(error.kind());
            }
            *last = Some(error);
            if !passing {
                self.gate.refuse();
                break;
            }
            self.timer.sleep_until(Instant::now() + pause_after(failures)).await;
        }
        None
    }

    /// Asks the first session who the server is. `None` if that broke the session.
    async fn greet(&self, mut session: Session) -> Option<(Session, Identity)> {
        if !self.identify.take() {
            return Some((session, Identity::default()));
        }
        let identity = Box::pin(identify(&mut session)).await.ok()?;
        Some((session, identity))
    }
}
