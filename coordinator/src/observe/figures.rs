//! What the server counted during a run, or why that cannot be told. Pure: two readings in, figures out.

use pgsurge_common::wording::counted;

use super::counters::{After, Backend, Before, EXACT_SINCE, not_checkable};
use super::sampling::Own;
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
    /// Compares; `sessions` is how many sessions the agents opened in all, `observer` what the observing added.
    #[must_use]
    pub fn between(before: &Before, after: &After, sessions: u64, observer: Own) -> Self {
        let restarted = before.identity.started_us != after.identity.started_us;
        let whole = if restarted {
            Err("the server was restarted, or another one answered".into())
        } else {
            whole(before, after, sessions + observer.sessions)
        };
        let survived = restarted && before.lineage.is_some() && before.lineage == after.lineage;
        Self {
            commits: whole
                .clone()
                .map_or_else(not_checkable, |()| commits(before, after, observer)),
            history_rows: match whole {
                Ok(()) => history_rows(before, after),
                // Others may have added rows, nobody may have taken any away.
                Err(_) if survived => at_least(history_rows(before, after)),
                Err(reason) => not_checkable(reason),
            },
            rollbacks: after.counters.rollbacks.saturating_sub(before.counters.rollbacks),
            deadlocks: after.counters.deadlocks.saturating_sub(before.counters.deadlocks),
        }
    }
}

/// Reasons that spoil every figure.
fn whole(before: &Before, after: &After, sessions: u64) -> Result<(), String> {
    if !before.direct {
        return Err("a pooler stands between, and has sessions of its own".into());
    }
    if after.lingering > 0 {
        return Err(format!(
            "{} of the run had not ended",
            counted(after.lingering as u64, "session")
        ));
    }
    if let Some(stranger) = before.present.iter().find(|known| was_active(known, &after.present)) {
        return Err(format!("another session ({}) was active", named(stranger)));
    }
    let known = |backend: &&Backend| before.present.iter().any(|known| known.pid == backend.pid);
    if let Some(stranger) = after.present.iter().find(|b| !known(b) && !is_autovacuum(b)) {
        return Err(format!("another session ({}) was opened", named(stranger)));
    }
    // Before that version this count comes late as all others do; what is left are the sessions seen.
    if before.version_num >= EXACT_SINCE
        && let (Some(first), Some(last)) = (before.counters.sessions, after.counters.sessions)
    {
        // The one that reads the counters at the end is the coordinator's.
        let others = last.saturating_sub(first).saturating_sub(1).saturating_sub(sessions);
        if others > 0 && before.counters.reset == after.counters.reset {
            return Err(format!("{} used the database", counted(others, "other session")));
        }
    }
    Ok(())
}

/// Whether a session that was there before may have added to the counts.
fn was_active(known: &Backend, present: &[Backend]) -> bool {
    // One that has left has written its counts when it did; if it was settled before, there were none but
    // those of what it did since, which nobody knows. Autovacuum is accounted for apart.
    let still = present.iter().find(|backend| backend.pid == known.pid);
    let unchanged = still.is_some_and(|s| s.activity.is_some() && s.activity == known.activity);
    !is_autovacuum(known) && (known.unsettled || !unchanged)
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

fn commits(before: &Before, after: &After, observer: Own) -> ServerCount {
    if before.version_num < EXACT_SINCE {
        let major = before.version_num / 10_000;
        return not_checkable(format!("PostgreSQL {major} may lose counts on their way"));
    }
    if before.counters.reset != after.counters.reset {
        return not_checkable("the counters were set to zero during the run");
    }
    let own = before.own_commits + after.own_commits + observer.commits;
    let Some(count) = after.counters.commits.checked_sub(before.counters.commits + own) else {
        return not_checkable("the counters went backwards");
    };
    if before.autovacuum || !observer.exact {
        ServerCount::CountedAmongOthers(count)
    } else {
        ServerCount::Counted(count)
    }
}

fn at_least(count: ServerCount) -> ServerCount {
    match count {
        ServerCount::Counted(n) => ServerCount::CountedAmongOthers(n),
        other => other,
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

#[cfg(test)]
mod tests {
    use super::super::counters::Counters;
    use super::super::facts::Identity;
    use super::*;

    fn backend(pid: &str, kind: &str, activity: &str) -> Backend {
        Backend {
            pid: pid.into(),
            kind: Some(kind.into()),
            application: "psql".into(),
            activity: Some(activity.into()),
            unsettled: false,
        }
    }

    fn readings() -> (Before, After) {
        let counters =
            Counters { commits: 1000, sessions: Some(50), reset: None, ..Counters::default() };
        let before = Before {
            version_num: 150_000,
            direct: true,
            identity: Identity::default(),
            autovacuum: false,
            counters: counters.clone(),
            history: Ok(10),
            lineage: Some("7 00000001".into()),
            present: vec![backend("7", "client backend", "idle since monday")],
            own_commits: 1,
            pid: "99".into(),
        };
        let after = After {
            identity: Identity::default(),
            counters: Counters { commits: 1108, sessions: Some(56), rollbacks: 3, ..counters },
            history: Ok(110),
            lineage: None,
            present: before.present.clone(),
            lingering: 0,
            own_commits: 2,
        };
        (before, after)
    }

    /// The figures after one thing was changed.
    fn changed(change: impl FnOnce(&mut Before, &mut After)) -> Figures {
        let (mut before, mut after) = readings();
        change(&mut before, &mut after);
        Figures::between(&before, &after, 5, Own::default())
    }

    #[test]
    fn what_is_left_after_the_coordinators_own_is_the_agents() {
        let figures = changed(|_, _| ());
        assert_eq!(figures.commits, ServerCount::Counted(105));
        assert_eq!(figures.history_rows, ServerCount::Counted(100));
        assert_eq!(figures.rollbacks, 3);
        let figures = changed(|before, _| before.autovacuum = true);
        assert_eq!(figures.commits, ServerCount::CountedAmongOthers(105));
    }

    #[test]
    fn what_the_observing_added_is_taken_off() {
        let (before, after) = readings();
        let own = Own { commits: 30, sessions: 1, exact: true };
        let figures = Figures::between(&before, &after, 4, own);
        assert_eq!(figures.commits, ServerCount::Counted(75));
        let figures = Figures::between(&before, &after, 4, Own { exact: false, ..own });
        assert_eq!(figures.commits, ServerCount::CountedAmongOthers(75));
    }

    #[test]
    fn whatever_blurs_all_counts_is_named() {
        type Change = fn(&mut Before, &mut After);
        let cases: [(&str, Change); 8] = [
            ("a pooler stands between", |before, _| before.direct = false),
            ("the server was restarted", |_, after| after.identity.started_us = 1),
            ("2 sessions of the run had not ended", |_, after| after.lingering = 2),
            ("client backend 7 of psql) was active", |_, after| after.present.clear()),
            ("client backend 7 of psql) was active", |before, _| {
                before.present[0].unsettled = true;
            }),
            ("client backend 7 of psql) was active", |before, after| {
                before.present[0].activity = None;
                after.present[0].activity = None;
            }),
            ("client backend 8 of psql) was opened", |_, after| {
                after.present.push(backend("8", "client backend", "new"));
            }),
            ("2 other sessions used the database", |_, after| after.counters.sessions = Some(58)),
        ];
        for (reason, change) in cases {
            let figures = changed(change);
            for count in [figures.commits, figures.history_rows] {
                let told = format!("{count:?}");
                assert!(told.contains(reason), "{reason}: {told}");
            }
        }
    }

    #[test]
    fn whatever_blurs_commits_alone_leaves_the_history() {
        type Change = fn(&mut Before, &mut After);
        let cases: [(&str, Change); 3] = [
            ("PostgreSQL 14 may lose counts", |before, after| {
                before.version_num = 140_011;
                after.counters.sessions = Some(49);
            }),
            ("were set to zero", |_, after| after.counters.reset = Some("today".into())),
            ("went backwards", |_, after| after.counters.commits = 999),
        ];
        for (reason, change) in cases {
            let figures = changed(change);
            let told = format!("{:?}", figures.commits);
            assert!(told.contains(reason), "{reason}: {told}");
            assert_eq!(figures.history_rows, ServerCount::Counted(100), "{reason}");
        }
    }

    #[test]
    fn what_is_committed_outlives_a_restart_of_the_same_server() {
        let restarted = |lineage: Option<&str>, rows| {
            changed(|_, after| {
                after.identity.started_us = 1;
                after.lineage = lineage.map(str::to_owned);
                after.history = Ok(rows);
            })
        };
        let figures = restarted(Some("7 00000001"), 110);
        assert_eq!(figures.history_rows, ServerCount::CountedAmongOthers(100));
        assert!(matches!(figures.commits, ServerCount::NotCheckable(_)));
        for (lineage, rows) in [(Some("7 00000002"), 110), (None, 110), (Some("7 00000001"), 9)] {
            let count = restarted(lineage, rows).history_rows;
            assert!(matches!(count, ServerCount::NotCheckable(_)), "{lineage:?}: {count:?}");
        }
    }

    #[test]
    fn the_history_has_reasons_of_its_own() {
        let removed = changed(|_, after| after.history = Ok(9));
        assert!(format!("{:?}", removed.history_rows).contains("rows were removed"));
        let unknown = changed(|before, _| before.history = Err("not asked for".into()));
        assert_eq!(unknown.history_rows, ServerCount::NotCheckable("not asked for".into()));
        assert_eq!(unknown.commits, ServerCount::Counted(105));
    }

    #[test]
    fn workers_of_autovacuum_come_and_go() {
        let figures = changed(|before, after| {
            before.present.push(backend("20", "autovacuum worker", "a"));
            after.present.push(backend("21", "autovacuum worker", "b"));
        });
        assert_eq!(figures.commits, ServerCount::Counted(105));
    }
}
