//! What the server counted during a run, or why that cannot be told. Pure: two readings in, figures out.

use super::counters::{After, Backend, Before, EXACT_SINCE, not_checkable};
use crate::report::ServerCount;

/// The server's own figures of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Commits on the database, the coordinator's own taken off.
    pub commits: ServerCount,
    /// Rows added to `pgbench_history`.
    pub history_rows: ServerCount,
    /// Transactions rolled back on the database, whoever did it.
    pub rollbacks: u64,
    /// Deadlocks found on the database.
    pub deadlocks: u64,
}

impl Figures {
    /// Compares; `sessions` is how many sessions the agents opened in all.
    #[must_use]
    pub fn between(before: &Before, after: &After, sessions: u64) -> Self {
        let whole = whole(before, after, sessions);
        Self {
            commits: whole.clone().map_or_else(not_checkable, |()| commits(before, after)),
            history_rows: whole.map_or_else(not_checkable, |()| history_rows(before, after)),
            rollbacks: after.counters.rollbacks.saturating_sub(before.counters.rollbacks),
            deadlocks: after.counters.deadlocks.saturating_sub(before.counters.deadlocks),
        }
    }
}

/// Reasons that spoil every figure.
fn whole(before: &Before, after: &After, sessions: u64) -> Result<(), String> {
    if before.identity.started_us != after.identity.started_us {
        return Err("the server was restarted, or another one answered".into());
    }
    if after.lingering > 0 {
        return Err(format!("{} sessions of the run had not ended", after.lingering));
    }
    if let Some(stranger) = before.present.iter().find(|known| was_active(known, &after.present)) {
        return Err(format!("another session ({}) was active", named(stranger)));
    }
    let known = |backend: &&Backend| before.present.iter().any(|known| known.pid == backend.pid);
    if let Some(stranger) = after.present.iter().find(|b| !known(b) && !is_autovacuum(b)) {
        return Err(format!("another session ({}) was opened", named(stranger)));
    }
    if let (true, Some(first), Some(last)) =
        (before.direct, before.counters.sessions, after.counters.sessions)
    {
        // The one that reads the counters at the end is the coordinator's.
        let others = last.saturating_sub(first).saturating_sub(1).saturating_sub(sessions);
        if others > 0 && before.counters.reset == after.counters.reset {
            return Err(format!("{others} other sessions used the database"));
        }
    }
    Ok(())
}

fn was_active(known: &Backend, present: &[Backend]) -> bool {
    let still = present.iter().find(|backend| backend.pid == known.pid);
    // One that left said goodbye after having done who knows what; autovacuum is accounted for apart.
    !is_autovacuum(known)
        && still.is_none_or(|s| s.activity.is_none() || s.activity != known.activity)
}

fn is_autovacuum(backend: &Backend) -> bool {
    backend.kind.as_deref() == Some("autovacuum worker")
}

fn named(backend: &Backend) -> String {
    let kind = backend.kind.as_deref().unwrap_or("session");
    match backend.application.as_str() {
        "" => format!("{kind} {}", backend.pid),
        application => format!("{kind} {} of {application}", backend.pid),
    }
}

fn commits(before: &Before, after: &After) -> ServerCount {
    if before.version_num < EXACT_SINCE {
        let major = before.version_num / 10_000;
        return not_checkable(format!("PostgreSQL {major} may lose counts on their way"));
    }
    if !before.direct {
        return not_checkable("a pooler stands between, and has sessions of its own");
    }
    if before.counters.reset != after.counters.reset {
        return not_checkable("the counters were set to zero during the run");
    }
    let own = before.own_commits + after.own_commits;
    let Some(count) = after.counters.commits.checked_sub(before.counters.commits + own) else {
        return not_checkable("the counters went backwards");
    };
    if before.autovacuum {
        ServerCount::CountedAmongOthers(count)
    } else {
        ServerCount::Counted(count)
    }
}

fn history_rows(before: &Before, after: &After) -> ServerCount {
    match (&before.history, &after.history) {
        (Ok(first), Ok(last)) => last.checked_sub(*first).map_or_else(
            || not_checkable("rows were removed from pgbench_history during the run"),
            ServerCount::Counted,
        ),
        (Err(reason), _) | (_, Err(reason)) => not_checkable(reason.clone()),
    }
}
