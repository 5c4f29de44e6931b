//! A client's session: the connection, and what has to be known about its state.
//!
//! Knows how statements travel and nothing of scripts. One write and one read a round trip.

use std::future::poll_fn;

use super::capture::Capture;
use super::reply::{Broken, Reply};
use crate::wire::{Connection, TransactionStatus, WireError};

/// Bytes of a pipeline that are sent without waiting for its end, as libpq does.
const PIPELINE_FLUSH: usize = 64 * 1024;

/// See the module.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) connection: Connection,
    /// State of the transaction block after the last round trip.
    pub(crate) status: TransactionStatus,
    /// Statements that this session has prepared, one bit each.
    prepared: Vec<u64>,
    /// Syncs sent in the pipeline that is open, if one is.
    pipeline: Option<u32>,
    /// Commits that the server must have counted and nobody has booked, the session's own included.
    commits: u32,
}

impl Session {
    /// A new session; opening it counts as a commit on the server.
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            status: TransactionStatus::Idle,
            prepared: Vec::new(),
            pipeline: None,
            commits: 1,
        }
    }

    /// Commits since the last call.
    pub(crate) fn take_commits(&mut self) -> u32 {
        std::mem::take(&mut self.commits)
    }

    /// A transaction block is open, failed or not.
    pub(crate) fn is_in_block(&self) -> bool {
        self.status != TransactionStatus::Idle
    }

    /// Sends what is queued and reads the answers to the end of the round trip.
    pub(crate) async fn round_trip(
        &mut self,
        capture: Option<&mut Capture>,
    ) -> Result<Reply, Broken> {
        self.round_trips(1, capture, Reply::default()).await
    }

    /// Sends what is queued and reads until `syncs` answers are complete.
    async fn round_trips(
        &mut self,
        mut syncs: u32,
        mut capture: Option<&mut Capture>,
        mut reply: Reply,
    ) -> Result<Reply, Broken> {
        self.connection.flush().await?;
        let connection = &mut self.connection;
        let done = poll_fn(|cx| reply.poll(cx, connection, &mut syncs, &mut capture)).await;
        self.commits += std::mem::take(&mut reply.commits);
        self.status = done?;
        Ok(reply)
    }

    /// Whether a statement still has to be prepared; from now on it counts as prepared, as in pgbench
    /// even if preparing it fails.
    pub(crate) fn begin_preparing(&mut self, number: u32) -> bool {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let (word, bit) = (number / 64, 1u64 << (number % 64));
        if word >= self.prepared.len() {
            self.prepared.resize(word + 1, 0);
        }
        let new = self.prepared[word] & bit == 0;
        self.prepared[word] |= bit;
        new
    }

    /// A pipeline is open.
    pub(crate) fn in_pipeline(&self) -> bool {
        self.pipeline.is_some()
    }

    /// Opens a pipeline.
    pub(crate) fn open_pipeline(&mut self) {
        self.pipeline = Some(0);
    }

    /// Queues a sync point; the pipeline stays open.
    pub(crate) fn sync_pipeline(&mut self) {
        self.connection.sync();
        self.pipeline = self.pipeline.map(|syncs| syncs + 1);
    }

    /// Sends what a pipeline has queued once it is much.
    pub(crate) async fn flush_long_pipeline(&mut self) -> Result<(), WireError> {
        if self.connection.out().len() >= PIPELINE_FLUSH {
            self.connection.flush().await?;
        }
        Ok(())
    }

    /// Ends the pipeline with a last sync point and reads all answers.
    pub(crate) async fn end_pipeline(&mut self) -> Result<Reply, Broken> {
        self.sync_pipeline();
        let syncs = self.pipeline.take().unwrap_or(1);
        self.round_trips(syncs, None, Reply::of_pipeline()).await
    }
}
