//! Several hosts, what makes the next one be tried, and how failures are told.

use std::time::Duration;

use pgsurge_agent::wire::Connector;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use tokio::net::TcpListener;

use super::{ask, block_on, connect, refusal, target};

fn two(first: u16, second: u16, more: &str) -> String {
    format!("host=127.0.0.1,127.0.0.1 port={first},{second} user=postgres dbname=postgres {more}")
}

/// A port that refuses connections.
async fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port()
}

#[test]
fn the_next_host_is_tried_where_the_first_refuses() {
    let server = Postgres::start(Version::V15, &Settings::new());
    block_on(async {
        let mut session = connect(&two(closed_port().await, server.port(), "")).await;
        assert_eq!(ask(&mut session, "select 1").await, "1");
    });
}

#[test]
fn an_answer_of_the_server_is_final_unless_it_is_just_starting() {
    let server = Postgres::start(Version::V15, &Settings::new());
    block_on(async {
        let error = refusal(&two(server.port(), closed_port().await, "dbname=missing")).await;
        assert_eq!(error.kind(), "3D000");
        assert!(!error.is_transient());
    });
}

#[test]
fn all_failures_are_told_and_the_last_gives_the_kind() {
    block_on(async {
        let (first, second) = (closed_port().await, closed_port().await);
        let error = refusal(&two(first, second, "")).await;
        assert_eq!(error.kind(), "ECONNREFUSED");
        assert!(error.is_transient());
        let text = error.to_string();
        for port in [first, second] {
            let line = format!(
                "connection to server at \"127.0.0.1\", port {port} failed: Connection refused"
            );
            assert!(text.contains(&line), "{text}");
        }
        let missing = refusal("host=/nonexistent user=u").await;
        assert_eq!(missing.kind(), "ENOENT");
        assert!(missing.to_string().starts_with(
            "connection to server on socket \"/nonexistent/.s.PGSQL.5432\" failed: No such file"
        ));
    });
}

#[test]
fn a_host_is_taken_by_the_attributes_of_its_sessions() {
    for version in Version::ALL {
        let read_only = Settings::new().set("default_transaction_read_only", "on");
        let (first, second) =
            (Postgres::start(version, &read_only), Postgres::start(version, &Settings::new()));
        let cases = [
            ("any", Some(&first)),
            ("read-only", Some(&first)),
            ("read-write", Some(&second)),
            ("primary", Some(&first)),
            ("prefer-standby", Some(&first)),
            ("standby", None),
        ];
        block_on(async {
            for (attrs, expected) in cases {
                let more = format!("target_session_attrs={attrs}");
                let text = two(first.port(), second.port(), &more);
                let Some(expected) = expected else {
                    let error = refusal(&text).await;
                    assert_eq!(error.kind(), "attributes");
                    assert!(error.to_string().contains("server is not in hot standby mode"));
                    continue;
                };
                let mut session = connect(&text).await;
                let port = ask(&mut session, "show port").await;
                assert_eq!(port, expected.port().to_string(), "{attrs}");
            }
        });
    }
}

#[test]
fn no_free_slot_is_transient_and_named_by_its_sqlstate() {
    let settings = Settings::new().connections(4).set("superuser_reserved_connections", "3");
    let server = Postgres::start(Version::V15, &settings);
    server.execute("create role u login");
    let text = format!("host=127.0.0.1 port={} user=u dbname=postgres", server.port());
    block_on(async {
        let _only = connect(&text).await;
        let error = refusal(&text).await;
        assert_eq!(error.kind(), "53300");
        assert!(error.is_transient());
        assert_eq!(error.server_error().unwrap().severity, "FATAL");
    });
}

#[test]
fn a_server_that_never_answers_is_given_up_in_time() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut target = target(&format!("host=127.0.0.1 port={port} user=u"));
        target.connect_timeout = Some(Duration::from_millis(50));
        let error = Connector::new(&target).unwrap().connect().await.unwrap_err();
        assert_eq!(error.kind(), "timeout");
        assert!(error.to_string().ends_with("timeout expired"));
    });
}

#[test]
fn a_name_that_nobody_has_is_told_as_such() {
    let error = block_on(refusal("host=nonexistent.invalid user=u"));
    assert!(matches!(error.kind(), "dns" | "dns-again"), "{}", error.kind());
    let start = "could not translate host name \"nonexistent.invalid\" to address: ";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[test]
fn what_is_no_postgresql_ends_in_a_protocol_error() {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            use tokio::io::AsyncWriteExt as _;
            while let Ok((mut socket, _)) = listener.accept().await {
                let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            }
        });
        for mode in ["disable", "prefer", "require"] {
            let text = format!("host=127.0.0.1 port={port} user=u sslmode={mode}");
            assert_eq!(refusal(&text).await.kind(), "protocol", "{mode}");
        }
    });
}
