//! The fake server against clients that were not written for it: tokio-postgres and PostgreSQL's own
//! pgbench.

use std::time::Duration;

use pgsurge_tests::fake_server::{Behaviour, Counts, FakeServer, Keep, Reply, Rows, Rule, Value};
use pgsurge_tests::process::{Running, command, eventually};
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use super::SOON;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

async fn connect(server: &FakeServer) -> Client {
    let (client, connection) = tokio_postgres::connect(&server.uri(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

fn sqlstate(error: &tokio_postgres::Error) -> &str {
    error.code().unwrap().code()
}

#[test]
fn statements_are_answered_in_both_protocols_and_counted_as_transactions() {
    let keep = Keep { statements: true, times: true, ..Keep::default() };
    let server = FakeServer::start(Behaviour { keep, ..Behaviour::default() });
    block_on(async {
        let client = connect(&server).await;
        let replies = client.simple_query("begin; update t set a = 1; commit").await.unwrap();
        let tags = replies.iter().filter(|r| matches!(r, SimpleQueryMessage::CommandComplete(_)));
        assert_eq!(tags.count(), 3);
        let row = client.query_one("select abalance from t where aid = $1", &[&"7"]).await.unwrap();
        assert_eq!(row.get::<_, i32>(0), 1);
        client.simple_query("begin; update t set a = 2; rollback").await.unwrap();
    });
    let counts = server.counts();
    assert_eq!((counts.committed, counts.rolled_back, counts.statements), (2, 1, 7));
    let connection = &server.connections()[0];
    assert_eq!(connection.service_us.len(), 2);
    assert_eq!(connection.statements[3], "select abalance from t where aid = $1");
}

#[test]
fn a_rule_answers_with_typed_rows_and_counts_as_nothing() {
    let row = Rows::one(&[("n", Value::Int8(1 << 40)), ("ok", Value::Bool(true))]);
    let rules = vec![Rule::new("from pg_settings", Reply::Rows(row))];
    let server = FakeServer::start(Behaviour { rules, ..Behaviour::default() });
    block_on(async {
        let client = connect(&server).await;
        let row = client.query_one("select n, ok FROM pg_settings", &[]).await.unwrap();
        assert_eq!((row.get::<_, i64>(0), row.get::<_, bool>(1)), (1 << 40, true));
    });
    assert_eq!(server.counts().committed, 0);
}

#[test]
fn an_error_on_command_spoils_the_block_until_its_end() {
    let server = FakeServer::start(Behaviour::default());
    block_on(async {
        let client = connect(&server).await;
        client.simple_query("begin").await.unwrap();
        server.fail_next(1, "40001", "could not serialize access");
        let failed = client.query("select 1", &[]).await.unwrap_err();
        assert_eq!(sqlstate(&failed), "40001");
        let refused = client.simple_query("select 1").await.unwrap_err();
        assert_eq!(sqlstate(&refused), "25P02");
        client.simple_query("commit").await.unwrap();
        client.simple_query("select 1").await.unwrap();
    });
    let counts = server.counts();
    assert_eq!((counts.committed, counts.rolled_back), (1, 1));
}

#[test]
fn a_transaction_takes_the_time_it_is_given_and_the_server_says_so() {
    let service = Duration::from_millis(30);
    let slow = move |sql: &str| if sql.contains("slow") { service } else { Duration::ZERO };
    let keep = Keep { times: true, ..Keep::default() };
    let server =
        FakeServer::start(Behaviour { keep, ..Behaviour::timed(move |request| slow(request.sql)) });
    block_on(async {
        let client = connect(&server).await;
        client.simple_query("select 'slow'").await.unwrap();
        client.simple_query("begin; select 'slow'; commit").await.unwrap();
    });
    let times = &server.connections()[0].service_us;
    assert!(times[0] >= 30_000, "{times:?}");
    assert_eq!(times.len(), 2, "the block ended at a fast statement: {times:?}");
}

#[test]
fn a_stall_holds_every_answer_back_and_a_cancel_request_ends_it() {
    let server = FakeServer::start(Behaviour::default());
    block_on(async {
        let client = connect(&server).await;
        client.simple_query("select 1").await.unwrap();
        server.stall();
        let held = client.simple_query("select 2");
        tokio::pin!(held);
        let token = client.cancel_token();
        let cancelled = async {
            // Sent until it hits: the statement may not have arrived at the first one.
            while server.counts().rolled_back == 0 {
                token.cancel_query(NoTls).await.unwrap();
            }
        };
        let (answer, ()) = tokio::join!(&mut held, cancelled);
        assert_eq!(sqlstate(&answer.unwrap_err()), "57014");
        server.resume();
        client.simple_query("select 3").await.unwrap();
    });
    assert_eq!(server.counts().committed, 2);
}

#[test]
fn sessions_beyond_the_limit_are_refused_as_postgres_does() {
    let behaviour = Behaviour { max_connections: Some(1), ..Behaviour::default() };
    let server = FakeServer::start(behaviour);
    block_on(async {
        let first = connect(&server).await;
        let refused = tokio_postgres::connect(&server.uri(), NoTls).await.err().unwrap();
        assert_eq!(sqlstate(&refused), "53300");
        drop(first);
    });
    eventually("the session has ended", SOON, || server.counts().open == 0);
    assert_eq!((server.counts().sessions, server.counts().refused), (1, 1));
}

#[test]
fn pgbench_runs_against_it_in_every_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("script.sql");
    std::fs::write(&script, "BEGIN;\nUPDATE t SET a = :client_id;\nSELECT 1;\nEND;\n").unwrap();
    for protocol in ["simple", "extended", "prepared"] {
        let server = FakeServer::start(Behaviour::default());
        let mut pgbench = command("pgbench");
        pgbench.args(["-n", "-c", "3", "-t", "20", "-M", protocol, "-h", "127.0.0.1"]);
        pgbench.args(["-U", "postgres", "-p", &server.port().to_string(), "-f"]).arg(&script);
        let finished = Running::run("pgbench", &mut pgbench, SOON).expect_code(0);
        let line = "number of transactions actually processed: 60/60";
        assert!(finished.stdout.contains(line), "{protocol}\n{finished}");
        let expected = Counts {
            committed: 60,
            statements: 240,
            sessions: server.counts().sessions,
            ..Counts::default()
        };
        eventually("all sessions have ended", SOON, || server.counts().open == 0);
        assert_eq!(server.counts(), expected, "{protocol}");
    }
}
