//! The coordinator's own sessions reach a server in all of libpq's ways, and say why where they cannot.

use pgsurge_common::target::{
    Address, ClientCertificate, Host, Roots, Secret, SessionAttrs, SslMode, Target, Tls,
};
use pgsurge_coordinator::observe::{Session, TargetError};
use pgsurge_tests::postgres::{Postgres, Settings, Version};

use crate::{block_on, target};

/// Opens a session and asks the server whether it is encrypted, and as whom it sees us.
fn encrypted(target: &Target) -> Result<String, TargetError> {
    block_on(async {
        let mut session = Session::open(target).await?;
        let row = session
            .row("select ssl, client_dn from pg_stat_ssl where pid = pg_backend_pid()")
            .await?;
        session.close().await;
        Ok(row.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join("|"))
    })
}

fn by_name(mut target: Target, name: &str) -> Target {
    target.hosts[0].address =
        Address::Tcp { name: name.into(), addr: Some("127.0.0.1".parse().unwrap()) };
    target
}

fn with_tls(server: &Postgres, mode: SslMode, roots: Roots) -> Target {
    let mut target = target(server, "postgres");
    target.tls = Tls { mode, roots, ..Tls::default() };
    by_name(target, "localhost")
}

fn pem(path: &std::path::Path) -> Roots {
    Roots::Pem(std::fs::read_to_string(path).unwrap())
}

#[test]
fn each_sslmode_does_what_libpq_says() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    let (root, stranger) = (pem(&server.certificates().root), pem(&server.certificates().stranger));
    let cases = [
        (SslMode::Disable, Roots::None, Ok("f")),
        (SslMode::Allow, Roots::None, Ok("f")),
        (SslMode::Prefer, Roots::None, Ok("t")),
        (SslMode::Prefer, stranger.clone(), Ok("f")),
        (SslMode::Require, Roots::None, Ok("t")),
        (SslMode::Require, root.clone(), Ok("t")),
        (SslMode::Require, stranger.clone(), Err("UnknownIssuer")),
        (SslMode::VerifyCa, root.clone(), Ok("t")),
        (SslMode::VerifyCa, stranger, Err("UnknownIssuer")),
        (SslMode::VerifyCa, Roots::None, Err("needs a root certificate")),
        (SslMode::VerifyFull, root.clone(), Ok("t")),
    ];
    for (mode, roots, expected) in cases {
        let name = format!("{mode:?} with {}", if roots == Roots::None { "none" } else { "some" });
        let seen = encrypted(&with_tls(&server, mode, roots)).map_err(|error| error.message);
        let as_expected = match (&seen, expected) {
            (Ok(seen), Ok(expected)) => *seen == format!("{expected}|"),
            (Err(message), Err(expected)) => message.contains(expected),
            _ => false,
        };
        assert!(as_expected, "{name}: {seen:?}, expected {expected:?}");
    }
    let elsewhere = by_name(with_tls(&server, SslMode::VerifyFull, root.clone()), "elsewhere.test");
    assert!(encrypted(&elsewhere).unwrap_err().message.contains("elsewhere.test"));
    let elsewhere = by_name(with_tls(&server, SslMode::VerifyCa, root), "elsewhere.test");
    assert_eq!(encrypted(&elsewhere).unwrap(), "t|");
}

#[test]
fn a_client_certificate_proves_who_we_are() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    server.set_hba(&["hostssl all all 127.0.0.1/32 cert"]);
    let files = server.certificates();
    let mut target = with_tls(&server, SslMode::VerifyFull, pem(&files.root));
    let error = encrypted(&target).unwrap_err();
    assert!(error.message.contains("certificate"), "{error}");
    let read = |path| std::fs::read_to_string(path).unwrap();
    target.tls.client = Some(ClientCertificate {
        chain_pem: read(&files.client),
        key_pem: Secret::new(read(&files.client_key)),
    });
    assert_eq!(encrypted(&target).unwrap(), "t|/CN=postgres");
}

#[test]
fn rules_of_the_server_decide_between_the_two_attempts() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    server.set_hba(&["hostnossl all all 127.0.0.1/32 trust"]);
    assert_eq!(encrypted(&with_tls(&server, SslMode::Prefer, Roots::None)).unwrap(), "f|");
    let error = encrypted(&with_tls(&server, SslMode::Require, Roots::None)).unwrap_err();
    assert_eq!(error.sqlstate.as_deref(), Some("28000"));
    server.set_hba(&["hostssl all all 127.0.0.1/32 trust"]);
    assert_eq!(encrypted(&with_tls(&server, SslMode::Allow, Roots::None)).unwrap(), "t|");
    let error = encrypted(&with_tls(&server, SslMode::Disable, Roots::None)).unwrap_err();
    assert_eq!(error.sqlstate.as_deref(), Some("28000"));
}

#[test]
fn passwords_are_asked_for_and_checked() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    server.execute("create role scram login password 'right'");
    server.execute("set password_encryption = md5; create role md5 login password 'right'");
    server.set_hba(&["host all scram 127.0.0.1/32 scram-sha-256", "host all md5 127.0.0.1/32 md5"]);
    for user in ["scram", "md5"] {
        let mut target = with_tls(&server, SslMode::Prefer, Roots::None);
        target.user = user.into();
        target.password = Some(Secret::new("right"));
        assert_eq!(encrypted(&target).unwrap(), "t|", "{user}");
        target.require_auth = vec!["scram-sha-256".into()];
        assert_eq!(encrypted(&target).is_ok(), user == "scram", "{user}");
        target.require_auth.clear();
        target.password = Some(Secret::new("wrong"));
        let error = encrypted(&target).unwrap_err();
        assert_eq!(error.sqlstate.as_deref(), Some("28P01"), "{user}");
        assert!(!error.to_string().contains("wrong"), "{error}");
        target.password = None;
        assert!(encrypted(&target).unwrap_err().message.contains("password"));
    }
}

#[test]
fn a_unix_socket_is_a_place_like_any_other() {
    let server = Postgres::start(Version::V18, &Settings::new());
    let mut target = target(&server, "postgres");
    target.hosts[0].address = Address::Unix(server.socket_dir().to_owned());
    assert_eq!(encrypted(&target).unwrap(), "f|");
    target.require_peer = Some("somebody-else".into());
    assert!(encrypted(&target).unwrap_err().message.contains("requirepeer"));
}

#[test]
fn the_next_host_is_tried_where_one_does_not_answer_or_does_not_suit() {
    let server = Postgres::start(Version::V18, &Settings::new());
    let mut target = target(&server, "postgres");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let dead = Host { port: closed, ..target.hosts[0].clone() };
    target.hosts.insert(0, dead);
    assert_eq!(encrypted(&target).unwrap(), "f|");
    for (attrs, suits) in [
        (SessionAttrs::Primary, true),
        (SessionAttrs::ReadWrite, true),
        (SessionAttrs::PreferStandby, true),
        (SessionAttrs::Standby, false),
        (SessionAttrs::ReadOnly, false),
    ] {
        target.session_attrs = attrs;
        assert_eq!(encrypted(&target).is_ok(), suits, "{attrs:?}");
    }
    let error = encrypted(&target).unwrap_err().message;
    let lines: Vec<_> = error.lines().collect();
    assert!(lines[0].ends_with(&format!("port {closed} failed: Connection refused")), "{error}");
    assert!(lines.last().unwrap().contains("session is not read-only"), "{error}");
}
