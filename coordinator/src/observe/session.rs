//! One session of the coordinator: runs statements, and counts what they commit.
//!
//! Only the simple protocol is used, one statement a message, so that each success is exactly one commit in
//! the server's own count; the verdict has to take the coordinator's part off.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use pgsurge_common::target::{Host, SessionAttrs, Target};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::{
    AsyncMessage, CancelToken, Client, Connection, CopyInSink, SimpleQueryMessage,
};

use super::connect::{self, Security};
use super::error::{TargetError, notice_message};
use super::guard::{Guard, Settled};
use super::place::Place;

/// How long the end of a session may take before it is simply dropped.
const GOODBYE: Duration = Duration::from_secs(2);

/// Where and how a session was opened; enough to reach the same server again.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) host: Host,
    pub(super) place: Place,
    pub(super) security: Security,
}

/// Rows of text values; `None` is NULL.
pub type Rows = Vec<Vec<Option<String>>>;

/// An open session on the target.
pub struct Session {
    client: Client,
    driver: JoinHandle<()>,
    notices: mpsc::UnboundedReceiver<String>,
    access: Access,
    /// Process id that the server gave with the key for cancelling.
    key_pid: i32,
    server_version: String,
    commits: u64,
}

impl Session {
    /// Opens a session on the first of the target's hosts that accepts and suits.
    pub async fn open(target: &Target) -> Result<Self, TargetError> {
        connect::open(target).await
    }

    pub(super) fn new(
        client: Client,
        mut connection: Connection<Guard, Guard>,
        key_pid: &Arc<AtomicI32>,
        access: Access,
    ) -> Self {
        let server_version = connection.parameter("server_version").unwrap_or_default().to_owned();
        let (told, notices) = mpsc::unbounded_channel();
        let driver = tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notice(notice) = message {
                    // Nobody listens any more when the session is closing.
                    let _ = told.send(notice_message(&notice));
                }
            }
        });
        let key_pid = key_pid.load(Ordering::Relaxed);
        Self { client, driver, notices, access, key_pid, server_version, commits: 0 }
    }

    /// `server_version` as reported at the start of the session.
    #[must_use]
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// Process id of the backend, if nothing stands between: a pooler hands out keys of its own.
    pub(super) fn key_pid(&self) -> i32 {
        self.key_pid
    }

    /// Commits of this session's statements so far, its own start not included.
    pub(super) fn commits(&self) -> u64 {
        self.commits
    }

    /// What the server said by the way since the last call, in libpq's layout.
    pub fn notices(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.notices.try_recv().ok()).collect()
    }

    /// Runs one statement.
    pub async fn rows(&mut self, sql: &str) -> Result<Rows, TargetError> {
        let messages = self.client.simple_query(sql).await;
        let messages = messages.map_err(|error| TargetError::postgres(&error, Some(sql)))?;
        self.commits += 1;
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|i| row.get(i).map(str::to_owned)).collect())
            }
            _ => None,
        });
        Ok(rows.collect())
    }

    /// Runs one statement whose rows nobody needs.
    pub async fn execute(&mut self, sql: &str) -> Result<(), TargetError> {
        self.rows(sql).await.map(drop)
    }

    /// Runs one statement that yields one row.
    pub async fn row(&mut self, sql: &str) -> Result<Vec<Option<String>>, TargetError> {
        let rows = self.rows(sql).await?;
        rows.into_iter().next().ok_or_else(|| TargetError::new(format!("no row came for: {sql}")))
    }

    /// Starts a `copy ... from stdin`.
    pub(crate) async fn copy_in(&self, sql: &str) -> Result<CopyInSink<Bytes>, TargetError> {
        let sink = self.client.copy_in(sql).await;
        sink.map_err(|error| TargetError::postgres(&error, Some(sql)))
    }

    /// A way to cancel what the session is doing, from outside.
    pub(crate) fn canceller(&self, target: &Target) -> Canceller {
        Canceller {
            token: self.client.cancel_token(),
            access: self.access.clone(),
            target: target.clone(),
        }
    }

    /// Whether the server is of the kind that `target_session_attrs` asks for.
    pub(super) async fn suits(&mut self, wanted: SessionAttrs) -> Result<(), TargetError> {
        if wanted == SessionAttrs::Any {
            return Ok(());
        }
        let state = self
            .row("select pg_is_in_recovery(), current_setting('default_transaction_read_only')")
            .await?;
        let standby = state.first().cloned().flatten().as_deref() == Some("t");
        let read_only = standby || state.get(1).cloned().flatten().as_deref() == Some("on");
        let problem = match wanted {
            SessionAttrs::ReadWrite if read_only => "session is read-only",
            SessionAttrs::ReadOnly if !read_only => "session is not read-only",
            SessionAttrs::Primary if standby => "server is in hot standby mode",
            SessionAttrs::Standby | SessionAttrs::PreferStandby if !standby => {
                "server is not in hot standby mode"
            }
            _ => return Ok(()),
        };
        Err(TargetError::new(problem))
    }

    /// Ends the session and waits, for a moment, until the server has been told.
    pub async fn close(self) {
        let Self { client, driver, .. } = self;
        drop(client);
        // A network that swallows the goodbye must not hold up anybody.
        let _ = tokio::time::timeout(GOODBYE, driver).await;
    }
}

/// Cancels the running statement of a session.
pub(crate) struct Canceller {
    token: CancelToken,
    access: Access,
    target: Target,
}

impl Canceller {
    /// Asks the server to stop; that it arrives is not known.
    pub(crate) async fn cancel(&self) -> Result<(), TargetError> {
        let stream = self.access.place.open(&self.target.tcp).await?;
        let link = connect::secure(&self.target, &self.access, stream).await?;
        let (guard, _) = Guard::new(link, Vec::new());
        let sent = self.token.cancel_query_raw(guard, Settled).await;
        sent.map_err(|error| TargetError::postgres(&error, None))
    }
}
