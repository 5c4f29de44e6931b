//! The server's own counters around a run, read so that every commit in between is accounted for.
//!
//! A server of version 15 or later writes a session's counts to shared memory when the session ends, and this
//! session's own when it is asked to. So both readings are exact: all else has left, and the own part is
//! known. Older servers lose messages of their collector; theirs are read all the same, and not judged.

use std::time::Duration;

use pgsurge_common::target::Target;
use tokio::time::Instant;

use super::error::TargetError;
use super::facts::{Facts, Identity};
use super::sampling;
use super::session::Session;
use crate::report::ServerCount;

/// First version whose counts can be relied on.
pub(super) const EXACT_SINCE: u32 = 150_000;
/// How long counting `pgbench_history` may take; it is read in full.
const COUNTING: &str = "10s";
/// How long what an earlier run left behind may take to go.
const LEFTOVERS: Duration = Duration::from_secs(3);
pub(super) const POLL: Duration = Duration::from_millis(20);

/// Counters of the target's database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Transactions committed.
    pub commits: u64,
    /// Transactions rolled back.
    pub rollbacks: u64,
    /// Deadlocks found.
    pub deadlocks: u64,
    /// Sessions begun; unknown before version 14.
    pub sessions: Option<u64>,
    /// When they were last set to zero, as the server words it.
    pub reset: Option<String>,
}

/// A session of somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Backend {
    pub(super) pid: String,
    /// What kind of process it is; unknown where the role may not see it.
    pub(super) kind: Option<String>,
    pub(super) application: String,
    /// Changes with whatever the session does; unknown where the role may not see it.
    pub(super) activity: Option<String>,
    /// Busy, or so short a time ago that its counts may not be written yet.
    pub(super) unsettled: bool,
}

/// The target before a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    pub(super) version_num: u32,
    pub(super) direct: bool,
    pub(super) identity: Identity,
    /// Workers of autovacuum may commit at any time.
    pub(super) autovacuum: bool,
    /// The counters.
    pub counters: Counters,
    /// Rows of `pgbench_history`, if they were asked for.
    pub history: Result<u64, String>,
    /// What a server has in common with a later life of its own that lost no row.
    pub(super) lineage: Option<String>,
    pub(super) present: Vec<Backend>,
    /// Commits of the session that read this, after it had read the counters.
    pub(super) own_commits: u64,
    pub(super) pid: String,
}

/// The target after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    pub(super) identity: Identity,
    /// The counters.
    pub counters: Counters,
    /// Rows of `pgbench_history`, if they were asked for.
    pub history: Result<u64, String>,
    pub(super) lineage: Option<String>,
    pub(super) present: Vec<Backend>,
    /// Sessions of the run that were still there when patience ended.
    pub(super) lingering: usize,
    /// Commits of the session that read this, up to its reading of the counters.
    pub(super) own_commits: u64,
}

impl Before {
    /// Reads everything and ends the session, `history` asking for the rows of `pgbench_history`. Nothing else
    /// of the run may have a session yet.
    pub async fn read(
        mut session: Session,
        facts: &Facts,
        history: bool,
    ) -> Result<Self, TargetError> {
        alone(&mut session, facts.direct).await?;
        let lineage = lineage(&mut session, history).await;
        let history = history_rows(&mut session, history).await;
        let pid = session.row("select pg_catalog.pg_backend_pid()").await?;
        let autovacuum = session.row("select current_setting('autovacuum')").await?;
        // A pooler's sessions stay, whoever uses them.
        let patience = if facts.direct { LEFTOVERS } else { Duration::ZERO };
        let present = without_leftovers(&mut session, patience).await?;
        let counters = counters(&mut session, facts.version_num).await?;
        // The reading itself is not among what it read.
        let own_commits = 1;
        session.close().await;
        Ok(Self {
            version_num: facts.version_num,
            direct: facts.direct,
            identity: facts.identity.clone(),
            autovacuum: autovacuum.into_iter().next().flatten().as_deref() != Some("off"),
            counters,
            history,
            lineage,
            present,
            own_commits,
            pid: pid.into_iter().next().flatten().unwrap_or_default(),
        })
    }
}

impl After {
    /// Waits until the run's sessions are gone, at most for `patience`, and reads everything.
    pub async fn read(
        target: &Target,
        before: &Before,
        patience: Duration,
    ) -> Result<Self, TargetError> {
        let mut session = open(target, patience).await?;
        alone(&mut session, before.direct).await?;
        let patience = if before.direct { patience } else { Duration::ZERO };
        let deadline = Instant::now() + patience;
        let (present, lingering) = loop {
            let present = backends(&mut session).await?;
            let lingering = before.sessions_of_the_run(&present, &target.application_name);
            if lingering == 0 || Instant::now() >= deadline {
                break (present, lingering);
            }
            tokio::time::sleep(POLL).await;
        };
        let facts = identity(&mut session).await?;
        let lineage = lineage(&mut session, before.lineage.is_some()).await;
        let history = history_rows(&mut session, before.history.is_ok()).await;
        let commits_before_reading = session.commits();
        let counters = counters(&mut session, before.version_num).await?;
        let flushed = u64::from(before.version_num >= EXACT_SINCE);
        session.close().await;
        Ok(Self {
            identity: Identity {
                system_identifier: before.identity.system_identifier.clone(),
                ..facts
            },
            counters,
            history,
            lineage,
            present,
            lingering,
            // One for the start of the session, and the statement that had them written out.
            own_commits: 1 + commits_before_reading + flushed,
        })
    }
}

impl Before {
    /// Sessions that have our name and were not there before: agents' clients, and this reader's own.
    fn sessions_of_the_run(&self, present: &[Backend], application: &str) -> usize {
        let observer = sampling::name_beside(application);
        let known = |backend: &Backend| self.present.iter().any(|known| known.pid == backend.pid);
        let ours = |backend: &&Backend| {
            let name = &backend.application;
            backend.pid == self.pid
                || ((name == application || *name == observer) && !known(backend))
        };
        present.iter().filter(ours).count()
    }
}

/// A session on a target that may be coming up again after a restart.
async fn open(target: &Target, patience: Duration) -> Result<Session, TargetError> {
    /// Starting up or shutting down; no slot free as long as the last sessions leave.
    const PASSING: [&str; 2] = ["57P03", "53300"];
    let deadline = Instant::now() + patience;
    loop {
        let opened = tokio::time::timeout_at(deadline, Session::open(target)).await;
        match opened {
            Err(_) => {
                let seconds = patience.as_secs_f64();
                return Err(TargetError::new(format!("no answer within {seconds} s")));
            }
            Ok(Err(error)) if error.sqlstate.as_deref().is_some_and(|s| PASSING.contains(&s)) => {
                tokio::time::sleep(POLL).await;
            }
            Ok(opened) => return opened,
        }
    }
}

/// Keeps the session's statements in one process: a parallel worker commits twice as it starts, which nobody could
/// take off the server's count. Behind a pooler that count is not looked at, and somebody else would inherit this.
async fn alone(session: &mut Session, direct: bool) -> Result<(), TargetError> {
    if direct {
        let sql = "select pg_catalog.set_config('max_parallel_workers_per_gather', '0', false)";
        session.execute(sql).await?;
    }
    Ok(())
}

/// The server's files and timeline, if what it has committed to `pgbench_history` outlives a crash. Two lives
/// with the same are one server that was restarted, not a replica that took its place with less.
async fn lineage(session: &mut Session, wanted: bool) -> Option<String> {
    if !wanted {
        return None;
    }
    let rows = session
        .rows(
            "select system_identifier || ' ' || \
               substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8) \
             from pg_catalog.pg_control_system() \
             where current_setting('fsync') = 'on' and current_setting('synchronous_commit') <> 'off' \
               and (select relpersistence = 'p' from pg_catalog.pg_class \
                    where oid = pg_catalog.to_regclass('pgbench_history'))",
        )
        .await;
    // Whoever may not ask, or asks a standby, cannot tell.
    rows.ok()?.into_iter().next()?.into_iter().next()?
}

async fn identity(session: &mut Session) -> Result<Identity, TargetError> {
    let row = session
        .row("select (extract(epoch from pg_catalog.pg_postmaster_start_time()) * 1000000)::bigint")
        .await?;
    let started = row.into_iter().next().flatten().and_then(|v| v.parse().ok());
    Ok(Identity { started_us: started.unwrap_or(0), system_identifier: None })
}

async fn counters(session: &mut Session, version_num: u32) -> Result<Counters, TargetError> {
    if version_num >= EXACT_SINCE {
        session.execute("select pg_catalog.pg_stat_force_next_flush()").await?;
    }
    let sessions = if version_num >= 140_000 { "sessions" } else { "null" };
    let row = session
        .row(&format!(
            "select xact_commit, xact_rollback, deadlocks, {sessions}, stats_reset \
             from pg_catalog.pg_stat_database where datname = current_database()"
        ))
        .await
        .map_err(|error| error.of("could not read the server's counters"))?;
    let number = |i: usize| row.get(i).and_then(|v| v.as_deref()?.parse().ok());
    Ok(Counters {
        commits: number(0).unwrap_or(0),
        rollbacks: number(1).unwrap_or(0),
        deadlocks: number(2).unwrap_or(0),
        sessions: number(3),
        reset: row.get(4).cloned().flatten(),
    })
}

/// Everybody else on the database, once sessions with our own name have had a moment to go.
async fn without_leftovers(
    session: &mut Session,
    patience: Duration,
) -> Result<Vec<Backend>, TargetError> {
    let own = session.row("select current_setting('application_name')").await?;
    let own = own.into_iter().next().flatten().unwrap_or_default();
    let deadline = Instant::now() + patience;
    loop {
        let present = backends(session).await?;
        let observer = sampling::name_beside(&own);
        let ours = |name: &String| *name == own || *name == observer;
        let left = present.iter().any(|backend| ours(&backend.application));
        if !left || Instant::now() >= deadline {
            return Ok(present);
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Everybody else on the database. A session that fell idle writes its counts within ten seconds.
async fn backends(session: &mut Session) -> Result<Vec<Backend>, TargetError> {
    let rows = session
        .rows(
            "select pid, backend_type, application_name, \
               concat_ws('/', backend_start, xact_start, query_start, state_change, state), \
               coalesce(state <> 'idle' or state_change > clock_timestamp() - interval '11 s', true) \
             from pg_catalog.pg_stat_activity \
             where datname = current_database() and pid <> pg_catalog.pg_backend_pid()",
        )
        .await
        .map_err(|error| error.of("could not read the server's sessions"))?;
    let backend = |row: Vec<Option<String>>| {
        let mut row = row.into_iter();
        Backend {
            pid: row.next().flatten().unwrap_or_default(),
            kind: row.next().flatten(),
            application: row.next().flatten().unwrap_or_default(),
            activity: row.next().flatten().filter(|text| !text.is_empty()),
            unsettled: row.next().flatten().as_deref() != Some("f"),
        }
    };
    Ok(rows.into_iter().map(backend).collect())
}

async fn history_rows(session: &mut Session, wanted: bool) -> Result<u64, String> {
    if !wanted {
        return Err("not asked for".into());
    }
    // One message is one transaction: the limit cannot outlive it, not even in a session that a pooler
    // hands to somebody else.
    let sql =
        format!("set local statement_timeout = '{COUNTING}'; select count(*) from pgbench_history");
    let row = session.row(&sql).await.map_err(|error| match error.sqlstate.as_deref() {
        Some("57014") => format!("counting pgbench_history takes more than {COUNTING}"),
        _ => format!("pgbench_history cannot be counted: {}", error.message),
    })?;
    row.into_iter()
        .next()
        .flatten()
        .and_then(|count| count.parse().ok())
        .ok_or_else(|| "pgbench_history cannot be counted".to_owned())
}

/// A reason not to judge.
pub(super) fn not_checkable(reason: impl Into<String>) -> ServerCount {
    ServerCount::NotCheckable(reason.into())
}
