//! Whole resolutions: which source wins, what the defaults are, what is refused.

use std::time::Duration;

use super::super::surroundings::fake::Fake;
use super::*;

fn request(text: &str) -> Request {
    Request {
        database: Some(Secret::new(text)),
        fallback_application_name: "pgbench".to_owned(),
        ..Request::default()
    }
}

fn target(text: &str, surroundings: &Fake) -> Target {
    match resolve(&request(text), surroundings) {
        Ok(resolved) => resolved.target,
        Err(error) => panic!("{text}: {error}"),
    }
}

fn error(text: &str, surroundings: &Fake) -> String {
    match resolve(&request(text), surroundings) {
        Ok(resolved) => panic!("{text}: resolved to {}", resolved.target),
        Err(error) => error.to_string(),
    }
}

#[test]
fn nothing_at_all_is_the_user_on_the_default_socket() {
    let resolved = resolve(&Request::default(), &Fake::default());
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        resolved.target.to_string(),
        "postgresql://worker@%2Fvar%2Frun%2Fpostgresql:5432/worker"
    );
    assert!(resolved.warnings.is_empty());
}

#[test]
fn the_database_defaults_as_in_pgbench() {
    let flags = Request { user: Some("flag".to_owned()), ..Request::default() };
    let name = |request: &Request, fake: &Fake| {
        resolve(request, fake).map(|resolved| resolved.target.database).unwrap_or_default()
    };
    let env = || Fake::default().env("PGUSER", "envuser");
    assert_eq!(name(&flags, &Fake::default()), "worker");
    assert_eq!(name(&flags, &env()), "envuser");
    assert_eq!(name(&flags, &env().env("PGDATABASE", "envdb")), "envdb");
    assert_eq!(name(&flags, &env().env("PGDATABASE", "")), "envuser");
    assert_eq!(name(&request("mydb"), &env().env("PGDATABASE", "envdb")), "mydb");
    // A string without a database: libpq's own default is the session's user.
    assert_eq!(name(&request("user=u host=h"), &Fake::default()), "u");
}

#[test]
fn a_string_beats_flags_beat_the_service_beats_the_environment() {
    let fake = Fake::default()
        .env("PGHOST", "env")
        .env("PGPORT", "4")
        .env("PGUSER", "env")
        .env("PGAPPNAME", "env")
        .env("PGSERVICE", "s")
        .file("/home/worker/.pg_service.conf", 0o644, "[s]\nhost=service\nport=3\nuser=service\n");
    let request = Request {
        host: Some("flag".to_owned()),
        port: Some("2".to_owned()),
        ..request("postgresql://string/db")
    };
    let target = resolve(&request, &fake).map(|resolved| resolved.target);
    let target = target.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(target.to_string(), "postgresql://service@string:2/db");
    assert_eq!(target.application_name, "env");
}

#[test]
fn every_environment_variable_is_heard() {
    let fake = Fake::default()
        .env("PGHOST", "a,b")
        .env("PGHOSTADDR", "10.0.0.1,10.0.0.2")
        .env("PGPORT", "1,2")
        .env("PGUSER", "u")
        .env("PGPASSWORD", "p")
        .env("PGDATABASE", "d")
        .env("PGOPTIONS", "-c geqo=off")
        .env("PGCONNECT_TIMEOUT", "7")
        .env("PGSSLMODE", "require")
        .env("PGSSLNEGOTIATION", "direct")
        .env("PGCHANNELBINDING", "require")
        .env("PGSSLSNI", "0")
        .env("PGSSLMINPROTOCOLVERSION", "TLSv1.3")
        .env("PGTARGETSESSIONATTRS", "primary")
        .env("PGLOADBALANCEHOSTS", "random")
        .env("PGREQUIREAUTH", "scram-sha-256,md5")
        .env("PGREQUIREPEER", "postgres")
        .env("PGCLIENTENCODING", "LATIN1")
        .env("PGTZ", "UTC");
    let resolved = resolve(&Request::default(), &fake);
    let target = resolved.unwrap_or_else(|error| panic!("{error}")).target;
    assert_eq!(target.to_string(), "postgresql://u:***@a:1,b:2/d");
    assert_eq!(target.password.as_ref().map(Secret::expose), Some("p"));
    assert_eq!(target.options.as_deref(), Some("-c geqo=off"));
    assert_eq!(target.connect_timeout, Some(Duration::from_secs(7)));
    assert_eq!((target.tls.mode, target.tls.direct), (SslMode::Require, true));
    assert_eq!(target.tls.channel_binding, ChannelBinding::Require);
    assert!(!target.tls.sni);
    assert_eq!(target.tls.min_version, Some(TlsVersion::Tls13));
    assert_eq!(target.session_attrs, SessionAttrs::Primary);
    assert!(target.load_balance);
    assert_eq!(target.require_auth, ["scram-sha-256", "md5"]);
    assert_eq!(target.require_peer.as_deref(), Some("postgres"));
    let settings = [("client_encoding", "LATIN1"), ("timezone", "UTC")];
    assert_eq!(target.settings, settings.map(|(n, v)| (n.to_owned(), v.to_owned())));
}

#[test]
fn the_password_file_serves_each_host_and_the_default_socket_as_localhost() {
    let fake = Fake::default().env("PGPASSFILE", "/p").file(
        "/p",
        0o600,
        "a:5432:db:u:one\nb:*:*:*:two\nlocalhost:5432:db:u:three\n/tmp:5432:*:*:four\n",
    );
    let passwords = |text: &str| -> Vec<Option<String>> {
        let hosts = target(text, &fake).hosts;
        hosts.iter().map(|h| h.password.as_ref().map(|p| p.expose().to_owned())).collect()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(passwords("host=a,b,c user=u dbname=db"), [some("one"), some("two"), None]);
    assert_eq!(passwords("user=u dbname=db"), [some("three")]);
    assert_eq!(passwords("host=/tmp user=u"), [some("four")]);
    assert_eq!(passwords("host=a user=u dbname=db password=x"), [None]);
}

#[test]
fn an_unsafe_password_file_is_a_warning() {
    let fake = Fake::default().file("/home/worker/.pgpass", 0o644, "*:*:*:*:secret");
    let resolved = resolve(&request("host=a"), &fake);
    let resolved = resolved.unwrap_or_else(|error| panic!("{error}"));
    assert!(resolved.warnings[0].contains("has group or world access"));
    assert_eq!(resolved.target.hosts[0].password, None);
}

#[test]
fn certificates_are_found_where_libpq_looks() {
    let fake = Fake::default()
        .file("/home/worker/.postgresql/root.crt", 0o644, "ROOT")
        .file("/home/worker/.postgresql/postgresql.crt", 0o644, "CERT")
        .file("/home/worker/.postgresql/postgresql.key", 0o600, "KEY")
        .file("/home/worker/.postgresql/root.crl", 0o644, "CRL");
    let tls = target("host=a", &fake).tls;
    assert_eq!(tls.roots, Roots::Pem("ROOT".to_owned()));
    assert_eq!(tls.revoked_pem.as_deref(), Some("CRL"));
    let client = tls.client.map(|c| (c.chain_pem, c.key_pem.expose().to_owned()));
    assert_eq!(client, Some(("CERT".to_owned(), "KEY".to_owned())));

    assert_eq!(target("host=a sslmode=disable", &fake).tls.roots, Roots::None);
    assert_eq!(target("host=a sslcertmode=disable", &fake).tls.client, None);
    let socket = target("host=/tmp sslmode=verify-full sslrootcert=/none", &fake).tls;
    assert_eq!((socket.mode, socket.roots), (SslMode::Disable, Roots::None));
}

#[test]
fn the_systems_authorities_go_with_full_verification_only() {
    let tls = target("host=a sslrootcert=system", &Fake::default()).tls;
    assert_eq!((tls.mode, tls.roots), (SslMode::VerifyFull, Roots::System));
    assert_eq!(
        error("host=a sslrootcert=system sslmode=require", &Fake::default()),
        "weak sslmode \"require\" may not be used with sslrootcert=system (use \"verify-full\")"
    );
}

#[test]
fn times_and_keepalives_are_read_as_in_libpq() {
    let fake = Fake::default();
    let timeout = |text| target(text, &fake).connect_timeout;
    assert_eq!(timeout("connect_timeout=0"), None);
    assert_eq!(timeout("connect_timeout=-1"), None);
    assert_eq!(timeout("connect_timeout=1"), Some(Duration::from_secs(2)));
    assert_eq!(timeout("connect_timeout=' 5 '"), Some(Duration::from_secs(5)));
    let tcp = target("keepalives_idle=30 keepalives_count=0 tcp_user_timeout=1500", &fake).tcp;
    assert!(tcp.keepalives);
    assert_eq!(tcp.keepalives_idle, Some(Duration::from_secs(30)));
    assert_eq!(tcp.keepalives_count, None);
    assert_eq!(tcp.user_timeout, Some(Duration::from_millis(1500)));
    assert!(!target("keepalives=0", &fake).tcp.keepalives);
}

#[test]
fn the_old_ways_to_ask_for_tls_still_work() {
    let fake = Fake::default();
    assert_eq!(target("host=a requiressl=1", &fake).tls.mode, SslMode::Require);
    assert_eq!(target("postgresql://a?ssl=true", &fake).tls.mode, SslMode::Require);
    let env = Fake::default().env("PGREQUIRESSL", "1");
    assert_eq!(target("host=a", &env).tls.mode, SslMode::Require);
    assert_eq!(target("host=a sslmode=disable", &env).tls.mode, SslMode::Disable);
}

#[test]
fn wrong_values_are_refused_in_libpqs_words() {
    let fake = Fake::default().file("/cert", 0o644, "CERT").file("/key", 0o644, "KEY");
    let cases = [
        ("sslmode=on", "invalid sslmode value: \"on\""),
        ("sslnegotiation=x", "invalid sslnegotiation value: \"x\""),
        ("channel_binding=x", "invalid channel_binding value: \"x\""),
        ("target_session_attrs=x", "invalid target_session_attrs value: \"x\""),
        ("require_auth=md5,!none", "invalid require_auth value: \"md5,!none\""),
        (
            "connect_timeout=5s",
            "invalid integer value \"5s\" for connection option \"connect_timeout\"",
        ),
        ("nope=1", "invalid connection option \"nope\""),
        (
            "host=a sslnegotiation=direct",
            "weak sslmode \"prefer\" may not be used with sslnegotiation=direct (use \"require\")",
        ),
        (
            "host=a gssencmode=require",
            "connection option \"gssencmode\" with value \"require\" is not supported by pgsurge \
             (use TLS)",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(error(text, &fake), message, "{text}");
    }
    let missing = error("host=a sslmode=verify-ca", &fake);
    assert!(missing.starts_with("root certificate file \"/home/worker/.postgresql/root.crt\""));
    let readable = error("host=a sslcert=/cert sslkey=/key", &fake);
    assert!(readable.starts_with("private key file \"/key\" has group or world access"));
    let keyless = error("host=a sslcert=/cert sslkey=/nokey", &fake);
    assert!(keyless.contains("does not exist, but the certificate \"/cert\" does"));
}
