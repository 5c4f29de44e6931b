//! What the coordinator sees of a target is what is there, and it changes nothing but what it says.

use std::time::Duration;

use pgsurge_coordinator::observe::{After, Before, Facts, Figures, Own, Session, Tables, upkeep};
use pgsurge_coordinator::report::{Partitions, ServerCount};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::eventually;

use crate::{block_on, target};

const PATIENCE: Duration = Duration::from_secs(30);

fn facts(server: &Postgres, user: &str) -> Facts {
    let mut target = target(server, "postgres");
    target.user = user.into();
    block_on(async {
        let mut session = Session::open(&target).await.unwrap();
        alone(&mut session, 0).await;
        let facts = Facts::read(&mut session).await.unwrap();
        session.close().await;
        facts
    })
}

/// Waits until the server has noticed that earlier sessions left; `others` are meant to stay.
async fn alone(session: &mut Session, others: usize) {
    let sql = "select pid from pg_stat_activity \
               where backend_type = 'client backend' and pid <> pg_backend_pid()";
    let deadline = std::time::Instant::now() + PATIENCE;
    while session.rows(sql).await.unwrap().len() > others {
        assert!(std::time::Instant::now() < deadline, "somebody stays");
    }
}

#[test]
fn facts_are_those_of_the_server() {
    for version in Version::ALL {
        let server = Postgres::start(version, &Settings::new().set("work_mem", "7MB"));
        let facts = facts(&server, "postgres");
        assert_eq!(facts.version_num / 10_000, version.major());
        assert_eq!(facts.version, server.value("show server_version"));
        assert!(facts.direct);
        let identifier = server.value("select system_identifier from pg_control_system()");
        assert_eq!(facts.identity.system_identifier, Some(identifier));
        assert_eq!(facts.settings.get("work_mem").map(String::as_str), Some("7MB"));
        assert!(!facts.settings.contains_key("application_name"));
    }
}

#[test]
fn free_slots_are_counted_by_every_limit() {
    for version in Version::ALL {
        let server = Postgres::start(version, &Settings::new().connections(20));
        server.execute("create role plain login; create role tight login connection limit 5");
        // A session that was closed holds its slot until its process has ended.
        let free = |user: &str, slots: u64| {
            let seen = || facts(&server, user).slots.tightest().unwrap().free();
            eventually(&format!("{slots} slots for {user}"), PATIENCE, || seen() == slots);
        };
        free("postgres", 20);
        free("plain", 17);
        free("tight", 5);
        let mut tight = target(&server, "postgres");
        tight.user = "tight".into();
        block_on(async {
            let held = Session::open(&tight).await.unwrap();
            let mut session = Session::open(&tight).await.unwrap();
            alone(&mut session, 1).await;
            let slots = Facts::read(&mut session).await.unwrap().slots;
            assert_eq!(slots.tightest().unwrap().free(), 4);
            assert!(slots.refuse(5).unwrap().contains("connection limit of the role = 5"));
            assert_eq!(slots.refuse(4), None);
            session.close().await;
            held.close().await;
        });
        server.execute("alter database postgres connection limit 3");
        free("plain", 3);
        free("postgres", 20);
    }
}

#[test]
fn scale_and_partitions_are_read_from_the_tables() {
    let server = Postgres::start(Version::V18, &Settings::new());
    let target = target(&server, "postgres");
    let tables = || {
        block_on(async {
            let mut session = Session::open(&target).await?;
            let tables = Tables::read(&mut session, "postgres").await;
            session.close().await;
            tables
        })
    };
    let error = tables().unwrap_err();
    assert!(error.message.contains("relation \"pgbench_branches\" does not exist"), "{error}");
    assert_eq!(
        error.hint.as_deref(),
        Some("Perhaps you need to do initialization (\"pgsurge -i\") in database \"postgres\".")
    );
    for (args, partitions) in [
        (&["-I", "dtG", "-s", "3"][..], None),
        (&["-I", "dtG", "-s", "3", "--partitions", "4"], Some(("range", 4))),
        (
            &["-I", "dtG", "-s", "3", "--partitions", "2", "--partition-method", "hash"],
            Some(("hash", 2)),
        ),
    ] {
        assert!(server.command("pgbench").arg("-i").args(args).output().unwrap().status.success());
        let tables = tables().unwrap();
        assert_eq!(tables.scale, 3);
        let expected =
            partitions.map(|(method, count)| Partitions { method: method.to_owned(), count });
        assert_eq!(tables.partitions, expected);
    }
    server.execute("drop table pgbench_accounts cascade");
    assert!(tables().unwrap_err().message.contains("no pgbench_accounts table found"));
}

#[test]
fn upkeep_empties_the_history_and_rewrites_nothing_else() {
    let server = Postgres::start(Version::V18, &Settings::new());
    assert!(server.command("pgbench").args(["-i", "-q"]).output().unwrap().status.success());
    server.execute("insert into pgbench_history values (1, 1, 1, 1, now())");
    let files = || {
        server.query(
            "select relname, relfilenode from pg_class where relname like 'pgbench%' \
             and relname <> 'pgbench_history' order by 1",
        )
    };
    let before = files();
    let target = target(&server, "postgres");
    let mut written = Vec::new();
    block_on(async {
        let mut session = Session::open(&target).await.unwrap();
        Facts::read(&mut session).await.unwrap();
        Tables::read(&mut session, "postgres").await.unwrap();
        upkeep(&mut session, true, &mut written).await;
        session.close().await;
    });
    assert_eq!(
        String::from_utf8(written).unwrap(),
        "starting vacuum...end.\nstarting vacuum pgbench_accounts...end.\n"
    );
    assert_eq!(files(), before);
    assert_eq!(server.value("select count(*) from pgbench_history"), "0");
    assert_eq!(server.value("select count(*) from pgbench_accounts"), "100000");
}

#[test]
fn upkeep_without_tables_complains_as_pgbench_does_and_goes_on() {
    let server = Postgres::start(Version::V18, &Settings::new());
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), "select 1;\n").unwrap();
    let theirs =
        server.command("pgbench").args(["-v", "-t", "1", "-f"]).arg(script.path()).output();
    let target = target(&server, "postgres");
    let mut written = Vec::new();
    block_on(async {
        let mut session = Session::open(&target).await.unwrap();
        upkeep(&mut session, true, &mut written).await;
        session.close().await;
    });
    let ours = String::from_utf8(written).unwrap().replace(" (SQLSTATE 42P01)", "");
    let theirs = String::from_utf8(theirs.unwrap().stderr).unwrap();
    assert_eq!(ours, theirs.replace("pgbench: ", "pgsurge: "));
}

/// Sessions that commit, roll back and add to the history, between two readings.
struct Work {
    sessions: u64,
    commits_each: u64,
    rollbacks_each: u64,
}

async fn work(server: &Postgres, work: &Work) {
    let target = target(server, "postgres");
    for _ in 0..work.sessions {
        let mut session = Session::open(&target).await.unwrap();
        for _ in 0..work.commits_each {
            session
                .execute("insert into pgbench_history values (1, 1, 1, 1, now())")
                .await
                .unwrap();
        }
        for _ in 0..work.rollbacks_each {
            session.execute("select 1/0").await.unwrap_err();
        }
        // Dropped, not closed: the reader has to wait until the server has noticed.
        drop(session);
    }
}

async fn before(server: &Postgres, others: usize) -> Before {
    let target = target(server, "postgres");
    let mut session = Session::open(&target).await.unwrap();
    alone(&mut session, others).await;
    let facts = Facts::read(&mut session).await.unwrap();
    Before::read(session, &facts, true).await.unwrap()
}

async fn figures(server: &Postgres, before: &Before, sessions: u64) -> Figures {
    let after = After::read(&target(server, "postgres"), before, PATIENCE).await.unwrap();
    Figures::between(before, &after, sessions, Own::default())
}

fn with_history(version: Version, settings: &Settings) -> Postgres {
    let server = Postgres::start(version, settings);
    server.execute(
        "create table pgbench_history(tid int, bid int, aid int, delta int, mtime timestamp)",
    );
    server
}

#[test]
fn commits_between_two_readings_are_exact() {
    for version in Version::ALL {
        let server = with_history(version, &Settings::new());
        block_on(async {
            for round in 0..10 {
                let done = Work { sessions: round, commits_each: 7, rollbacks_each: 2 };
                let before = before(&server, 0).await;
                work(&server, &done).await;
                let figures = figures(&server, &before, round).await;
                // Each session's own start is a transaction too.
                assert_eq!(figures.commits, ServerCount::Counted(8 * round), "{version:?} {round}");
                assert_eq!(figures.history_rows, ServerCount::Counted(7 * round));
                assert_eq!(figures.rollbacks, 2 * round);
            }
        });
    }
}

#[test]
fn pgbench_itself_is_counted_to_the_commit() {
    let server = Postgres::start(Version::V15, &Settings::new());
    assert!(server.command("pgbench").args(["-i", "-q"]).output().unwrap().status.success());
    block_on(async {
        let before = before(&server, 0).await;
        let run = server.command("pgbench").args(["-n", "-c", "5", "-t", "100"]).output().unwrap();
        assert!(run.status.success());
        // Its five clients and the session that it prepares with.
        let figures = figures(&server, &before, 6).await;
        assert_eq!(figures.commits, ServerCount::Counted(500 + 5 + 3));
        assert_eq!(figures.history_rows, ServerCount::Counted(500));
    });
}

fn reason(count: &ServerCount) -> &str {
    match count {
        ServerCount::NotCheckable(reason) => reason,
        counted => panic!("{counted:?}"),
    }
}

#[test]
fn a_stranger_makes_the_count_uncheckable() {
    let server = with_history(Version::V18, &Settings::new());
    block_on(async {
        let first = before(&server, 0).await;
        server.execute("select 1");
        let seen = figures(&server, &first, 0).await;
        assert_eq!(reason(&seen.commits), "1 other session used the database");

        let mut stranger = target(&server, "postgres");
        stranger.application_name = "stranger".into();
        let mut stranger = Session::open(&stranger).await.unwrap();
        let second = before(&server, 1).await;
        stranger.execute("select 1").await.unwrap();
        let busy = figures(&server, &second, 0).await;
        assert!(reason(&busy.commits).contains("of stranger) was active"), "{busy:?}");
        assert!(reason(&busy.history_rows).contains("of stranger) was active"), "{busy:?}");
        stranger.close().await;
    });
}

#[test]
fn a_restart_makes_the_count_uncheckable() {
    let mut server = with_history(Version::V18, &Settings::new());
    let first = block_on(before(&server, 0));
    server.restart();
    let seen = block_on(figures(&server, &first, 0));
    assert!(reason(&seen.commits).contains("restarted"), "{seen:?}");
}

#[test]
fn counters_set_to_zero_make_the_count_uncheckable() {
    let server = with_history(Version::V18, &Settings::new());
    block_on(async {
        let first = before(&server, 0).await;
        let mut session = Session::open(&target(&server, "postgres")).await.unwrap();
        session.execute("select pg_stat_reset()").await.unwrap();
        session.close().await;
        let seen = figures(&server, &first, 1).await;
        assert!(reason(&seen.commits).contains("set to zero"), "{seen:?}");
        assert_eq!(seen.history_rows, ServerCount::Counted(0));
    });
}

#[test]
fn autovacuum_leaves_only_a_lower_bound() {
    let server = with_history(Version::V18, &Settings::new().set("autovacuum", "on"));
    block_on(async {
        let first = before(&server, 0).await;
        work(&server, &Work { sessions: 2, commits_each: 3, rollbacks_each: 0 }).await;
        let seen = figures(&server, &first, 2).await;
        let ServerCount::CountedAmongOthers(commits) = seen.commits else { panic!("{seen:?}") };
        assert!(commits >= 8, "{commits}");
    });
}
