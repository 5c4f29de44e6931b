//! An open session: the extended protocol, pipelines larger than any buffer, cancelling, and its end.

use pgsurge_agent::wire::{Message, TransactionStatus, WireError};
use pgsurge_tests::postgres::{Postgres, Settings, Version};

use super::{ask, block_on, connect};

#[test]
fn a_prepared_statement_takes_text_parameters_and_nulls() {
    for version in Version::ALL {
        let server = Postgres::start(version, &Settings::new());
        block_on(async {
            let mut session = connect(&server.uri()).await;
            session.parse(b"P_0", b"select $1::int + 1, $2::text").unwrap();
            session.bind(b"P_0", [Some(&b"41"[..]), None].into_iter()).unwrap();
            session.describe_portal();
            session.execute();
            session.sync();
            session.flush().await.unwrap();
            let mut seen = Vec::new();
            let mut values = Vec::new();
            loop {
                match session.next_message().await.unwrap() {
                    Message::ParseComplete => seen.push("parse"),
                    Message::BindComplete => seen.push("bind"),
                    Message::RowDescription(columns) => {
                        assert_eq!(columns.len(), 2);
                        let names: Vec<_> = columns.names().map(Result::unwrap).collect();
                        assert_eq!(names, [b"?column?".as_slice(), b"text".as_slice()]);
                        seen.push("columns");
                    }
                    Message::DataRow(row) => {
                        let owned = |value: Result<Option<&[u8]>, WireError>| {
                            value.unwrap().map(<[u8]>::to_vec)
                        };
                        values.extend(row.values().map(owned));
                    }
                    Message::CommandComplete(tag) => assert_eq!(tag, b"SELECT 1"),
                    Message::ReadyForQuery(status) => {
                        assert_eq!(status, TransactionStatus::Idle);
                        break;
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(seen, ["parse", "bind", "columns"]);
            assert_eq!(values, [Some(b"42".to_vec()), None]);
        });
    }
}

#[test]
fn a_pipeline_larger_than_all_buffers_does_not_stall() {
    let server = Postgres::start(Version::V15, &Settings::new());
    block_on(async {
        let mut session = connect(&server.uri()).await;
        let count = 3000;
        session.parse(b"", b"select repeat('x', 10000), $1::text").unwrap();
        let padding = vec![b'y'; 4000];
        for _ in 0..count {
            session.bind(b"", [Some(&padding[..])].into_iter()).unwrap();
            session.execute();
        }
        session.sync();
        session.flush().await.unwrap();
        let (mut rows, mut bytes) = (0, 0);
        loop {
            match session.next_message().await.unwrap() {
                Message::DataRow(row) => {
                    rows += 1;
                    bytes += row.values().map(|v| v.unwrap().unwrap().len()).sum::<usize>();
                }
                Message::ReadyForQuery(_) => break,
                Message::Error(fields) => panic!("{}", fields.to_error()),
                _ => {}
            }
        }
        assert_eq!((rows, bytes), (count, count * 14_000));
    });
}

#[test]
fn a_running_statement_is_cancelled_with_and_without_encryption() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    block_on(async {
        for mode in ["disable", "require"] {
            let mut session = connect(&format!("{}?sslmode={mode}", server.uri())).await;
            let watcher = &mut connect(&server.uri()).await;
            let token = session.cancel_token().unwrap();
            session.query(b"select pg_sleep(600)").unwrap();
            session.flush().await.unwrap();
            let running = format!(
                "select count(*) from pg_stat_activity where pid = {} and wait_event = 'PgSleep'",
                session.backend_pid()
            );
            while ask(watcher, &running).await == "0" {}
            token.cancel().await.unwrap();
            let cancelled = loop {
                match session.next_message().await.unwrap() {
                    Message::Error(fields) => break fields.sqlstate(),
                    Message::RowDescription(_) => {}
                    other => panic!("{other:?}"),
                }
            };
            assert_eq!(&cancelled, b"57014");
            assert_eq!(session.skip_to_ready().await.unwrap(), TransactionStatus::Idle);
        }
    });
}

#[test]
fn an_error_points_at_its_place_and_leaves_the_session_usable() {
    let server = Postgres::start(Version::V15, &Settings::new());
    block_on(async {
        let mut session = connect(&server.uri()).await;
        let sql = b"select 1,\n  nosuch from pg_class";
        session.query(b"begin").unwrap();
        session.flush().await.unwrap();
        assert_eq!(session.skip_to_ready().await.unwrap(), TransactionStatus::InBlock);
        session.query(sql).unwrap();
        session.flush().await.unwrap();
        let Message::Error(fields) = session.next_message().await.unwrap() else { panic!() };
        assert_eq!(
            fields.to_error().render(Some(sql)),
            "ERROR:  column \"nosuch\" does not exist\nLINE 2:   nosuch from pg_class\n          ^"
        );
        assert_eq!(session.skip_to_ready().await.unwrap(), TransactionStatus::Failed);
        ask(&mut session, "rollback").await;
        assert_eq!(ask(&mut session, "select 1").await, "1");
    });
}

#[test]
fn the_servers_last_words_are_heard_before_the_end() {
    let mut server = Postgres::start(Version::V15, &Settings::new());
    block_on(async {
        let mut session = connect(&server.uri()).await;
        server.stop();
        // The server is gone by now, so this write may fail; what it said before still counts.
        session.query(b"select 1").unwrap();
        session.flush().await.unwrap();
        let Message::Error(fields) = session.next_message().await.unwrap() else { panic!() };
        assert_eq!(&fields.sqlstate(), b"57P01");
        let error = session.next_message().await.unwrap_err();
        assert_eq!(error.kind(), "closed");
        assert_eq!(error.to_string(), "server closed the connection unexpectedly");
    });
}
