//! The observer's session: opened when it is needed, given up when it fails, and accounted for.
//!
//! Whatever it commits is in the server's counters; the verdict has to take that off, or to know that it cannot.

use std::time::Duration;

use pgsurge_common::target::Target;

use super::reading::{Reader, Reading};
use crate::observe::error::TargetError;
use crate::observe::session::{Canceller, Session};

/// How long opening the session and one reading may take together.
const WITHIN: Duration = Duration::from_secs(5);
/// How long a request to stop what hangs may take on its way.
const CANCELLED_WITHIN: Duration = Duration::from_secs(2);

/// What the observing itself added to the server's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Commits, those of the starts of sessions included.
    pub commits: u64,
    /// Sessions.
    pub sessions: u64,
    /// False if a session was lost in the middle of something, so that there may be more of both.
    pub exact: bool,
}

impl Default for Own {
    fn default() -> Self {
        Self { commits: 0, sessions: 0, exact: true }
    }
}

pub(super) struct Held {
    target: Target,
    session: Option<(Session, Canceller)>,
    /// How to read the server that the session is on; of the last one while there is none.
    reader: Option<Reader>,
    fresh: bool,
    own: Own,
}

impl Held {
    pub(super) fn new(target: Target) -> Self {
        Self { target, session: None, reader: None, fresh: false, own: Own::default() }
    }

    pub(super) fn own(&self) -> Own {
        self.own
    }

    pub(super) fn reader(&self) -> Option<&Reader> {
        self.reader.as_ref()
    }

    /// Takes a reading, over a new session if there is none.
    pub(super) async fn look(
        &mut self,
        problem: &mut impl FnMut(String),
    ) -> Result<Reading, TargetError> {
        match tokio::time::timeout(WITHIN, self.try_look(problem)).await {
            Ok(Ok(reading)) => Ok(reading),
            Ok(Err(error)) => {
                // One that was refused is none.
                if self.session.is_some() {
                    self.give_up().await;
                }
                Err(error)
            }
            Err(_) => {
                if let Some((_, canceller)) = &self.session {
                    let _ = tokio::time::timeout(CANCELLED_WITHIN, canceller.cancel()).await;
                }
                self.give_up().await;
                Err(TargetError::new(format!("no answer within {} s", WITHIN.as_secs())))
            }
        }
    }

    async fn try_look(&mut self, problem: &mut impl FnMut(String)) -> Result<Reading, TargetError> {
        if self.session.is_none() {
            let session = Session::open(&self.target).await?;
            let canceller = session.canceller(&self.target);
            self.session = Some((session, canceller));
            self.fresh = true;
        }
        let (session, _) = self.session.as_mut().expect("it was opened above");
        // Another server may have answered this time.
        if self.fresh || self.reader.is_none() {
            self.reader = Some(Reader::new(session, problem).await?);
            self.fresh = false;
        }
        self.reader.as_mut().expect("it was made above").read(session, problem).await
    }

    async fn give_up(&mut self) {
        self.own.exact = false;
        self.close().await;
    }

    /// Ends the session, if there is one.
    pub(super) async fn close(&mut self) {
        if let Some((session, _)) = self.session.take() {
            self.own.commits += 1 + session.commits();
            self.own.sessions += 1;
            session.close().await;
        }
    }
}
