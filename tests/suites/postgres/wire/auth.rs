//! Each method of authentication, with the right password, a wrong one, and none.

use std::os::unix::fs::MetadataExt as _;

use pgsurge_tests::postgres::{Postgres, Settings, Version};

use super::{ask, block_on, connect, refusal, try_connect};

/// Roles whose password is `right` in either form, and a method each.
fn server(version: Version) -> Postgres {
    let hba = [
        "host all plain 127.0.0.1/32 password",
        "host all old 127.0.0.1/32 md5",
        "host all modern 127.0.0.1/32 scram-sha-256",
        "host all free 127.0.0.1/32 trust",
        "host all shut 127.0.0.1/32 reject",
        "local all modern scram-sha-256",
    ];
    let server = Postgres::start(version, &Settings::new().hba(&hba));
    server.execute(
        "create role free login; create role shut login;
         create role plain login password 'right'; create role modern login password 'right'",
    );
    server.execute("set password_encryption = 'md5'; create role old login password 'right'");
    server
}

fn conninfo(server: &Postgres, user: &str, more: &str) -> String {
    format!("host=127.0.0.1 port={} dbname=postgres user={user} {more}", server.port())
}

#[test]
fn the_right_password_opens_a_session_by_every_method_of_every_version() {
    for version in Version::ALL {
        let server = server(version);
        block_on(async {
            for user in ["plain", "old", "modern", "free"] {
                let mut session = connect(&conninfo(&server, user, "password=right")).await;
                assert_eq!(ask(&mut session, "select current_user").await, user);
                let version = ask(&mut session, "show server_version").await;
                assert_eq!(session.server_version(), version);
                let pid = ask(&mut session, "select pg_backend_pid()").await;
                assert_eq!(session.backend_pid().to_string(), pid);
                session.close().await;
            }
            let socket = format!(
                "host={} port={} dbname=postgres user=modern password=right",
                server.socket_dir().display(),
                server.port()
            );
            let mut session = connect(&socket).await;
            assert_eq!(ask(&mut session, "select inet_client_addr() is null").await, "t");
        });
    }
}

#[test]
fn a_wrong_password_and_none_are_told_apart_by_kind() {
    let server = server(Version::V15);
    block_on(async {
        for user in ["plain", "old", "modern"] {
            let wrong = refusal(&conninfo(&server, user, "password=wrong")).await;
            assert_eq!(wrong.kind(), "28P01");
            assert!(!wrong.is_transient() && !wrong.needs_password());
            let port = server.port();
            assert_eq!(
                wrong.to_string(),
                format!(
                    "connection to server at \"127.0.0.1\", port {port} failed: FATAL:  password \
                     authentication failed for user \"{user}\""
                )
            );
            let none = refusal(&conninfo(&server, user, "")).await;
            assert!(none.needs_password());
            assert!(none.to_string().ends_with("fe_sendauth: no password supplied"));
        }
        let rejected = refusal(&conninfo(&server, "shut", "")).await;
        assert_eq!(rejected.kind(), "28000");
    });
}

#[test]
fn a_password_with_characters_that_saslprep_maps_or_forbids_works() {
    let server = server(Version::V15);
    // No-break space becomes a space, a soft hyphen nothing; a control character is forbidden.
    for password in ["a\u{a0}b\u{ad}c", "I\u{2168}", "bell\u{7}bell", "p\u{e4}ss w\u{f6}rd"] {
        server.execute(&format!("alter role modern password '{password}'"));
        block_on(async {
            connect(&conninfo(&server, "modern", &format!("password='{password}'"))).await;
        });
    }
}

#[test]
fn the_server_may_be_held_to_a_method() {
    let server = server(Version::V15);
    let cases = [
        ("modern", "scram-sha-256", true),
        ("modern", "md5", false),
        ("modern", "!md5,!password", true),
        ("old", "!md5,!password", false),
        ("old", "scram-sha-256,md5", true),
        ("plain", "scram-sha-256", false),
        ("free", "scram-sha-256", false),
        ("free", "none", true),
    ];
    block_on(async {
        for (user, methods, expected) in cases {
            let text = conninfo(&server, user, &format!("password=right require_auth={methods}"));
            let result = try_connect(&text).await;
            assert_eq!(result.is_ok(), expected, "{user} {methods}");
            if let Err(error) = result {
                let expected = format!("authentication method requirement \"{methods}\" failed");
                assert!(error.to_string().contains(&expected), "{error}");
            }
        }
    });
}

#[test]
fn a_unix_sockets_server_must_run_as_the_user_asked_for() {
    let server = Postgres::start(Version::V15, &Settings::new());
    let owner = std::fs::metadata(server.data_dir()).unwrap().uid();
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let name_of = |wanted: &dyn Fn(u32) -> bool| {
        users.lines().find_map(|line| {
            let mut fields = line.split(':');
            let (name, id) = (fields.next()?, fields.nth(1)?.parse().ok()?);
            wanted(id).then(|| name.to_owned())
        })
    };
    let (right, wrong) = (name_of(&|id| id == owner).unwrap(), name_of(&|id| id != owner).unwrap());
    block_on(async {
        connect(&format!("{} requirepeer={right}", server.conninfo())).await;
        let error = refusal(&format!("{} requirepeer={wrong}", server.conninfo())).await;
        assert_eq!(error.kind(), "peer");
        let unknown = refusal(&format!("{} requirepeer=nobody-at-all", server.conninfo())).await;
        assert!(unknown.to_string().contains("who is not a user"), "{unknown}");
    });
}

#[test]
fn what_the_startup_message_says_reaches_the_session() {
    let server = server(Version::V15);
    block_on(async {
        let more = "application_name='my app' options='-c work_mem=7MB -c geqo=off' \
                    client_encoding=LATIN1";
        let mut session = connect(&conninfo(&server, "free", more)).await;
        assert_eq!(ask(&mut session, "show application_name").await, "my app");
        assert_eq!(ask(&mut session, "show work_mem").await, "7MB");
        assert_eq!(ask(&mut session, "show geqo").await, "off");
        assert_eq!(ask(&mut session, "show client_encoding").await, "LATIN1");
    });
}
