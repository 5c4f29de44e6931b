//! Every `sslmode` against servers that must, may or cannot encrypt; certificates; channel binding.

use std::path::Path;
use std::sync::Arc;

use pgsurge_tests::postgres::{Postgres, Settings, Version};
use rcgen::{CertificateParams, DnType, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::{ask, block_on, connect, refusal, try_connect};

fn conninfo(server: &Postgres, more: &str) -> String {
    format!("hostaddr=127.0.0.1 port={} user=postgres dbname=postgres {more}", server.port())
}

fn file(name: &str, path: &Path) -> String {
    format!("{name}='{}'", path.display())
}

/// Whether the session is encrypted by its own account and by the server's.
async fn encrypted(conninfo: &str) -> Result<bool, String> {
    let mut session = try_connect(conninfo).await.map_err(|error| error.to_string())?;
    let theirs =
        ask(&mut session, "select ssl from pg_stat_ssl where pid = pg_backend_pid()").await;
    assert_eq!(session.is_tls(), theirs == "t");
    Ok(session.is_tls())
}

#[test]
fn each_sslmode_finds_the_way_that_the_server_leaves_open() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    let root = file("sslrootcert", &server.certificates().root);
    let no = Err(());
    let cases = [
        ("host", "disable", Ok(false)),
        ("host", "allow", Ok(false)),
        ("host", "prefer", Ok(true)),
        ("host", "require", Ok(true)),
        ("host", "verify-ca", Ok(true)),
        ("host", "verify-full", Ok(true)),
        ("hostssl", "disable", no),
        ("hostssl", "allow", Ok(true)),
        ("hostssl", "prefer", Ok(true)),
        ("hostnossl", "disable", Ok(false)),
        ("hostnossl", "allow", Ok(false)),
        ("hostnossl", "prefer", Ok(false)),
        ("hostnossl", "require", no),
    ];
    for kind in ["host", "hostssl", "hostnossl"] {
        server.set_hba(&[&format!("{kind} all all 127.0.0.1/32 trust")]);
        for (_, mode, expected) in cases.iter().filter(|(of, ..)| *of == kind) {
            let text = conninfo(&server, &format!("host=localhost sslmode={mode} {root}"));
            let result = block_on(encrypted(&text));
            assert_eq!(
                result.as_ref().copied().map_err(drop),
                *expected,
                "{kind} {mode}: {result:?}"
            );
        }
    }
}

#[test]
fn a_server_without_tls_is_refused_only_where_tls_is_required() {
    for version in Version::ALL {
        let server = Postgres::start(version, &Settings::new());
        block_on(async {
            for mode in ["disable", "allow", "prefer"] {
                assert_eq!(
                    encrypted(&conninfo(&server, &format!("sslmode={mode}"))).await,
                    Ok(false)
                );
            }
            let error = refusal(&conninfo(&server, "sslmode=require")).await;
            assert_eq!(error.kind(), "tls");
            assert!(
                error.to_string().contains("server does not support SSL, but SSL was required")
            );
        });
    }
}

#[test]
fn the_servers_certificate_is_checked_as_far_as_the_mode_says() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    server.set_hba(&["hostssl all all 127.0.0.1/32 trust"]);
    let files = server.certificates();
    let root = file("sslrootcert", &files.root);
    let stranger = file("sslrootcert", &files.stranger);
    let cases = [
        ("sslmode=require host=localhost", "", true),
        // With a root certificate `require` is as strict as `verify-ca`.
        ("sslmode=require host=localhost", &stranger[..], false),
        ("sslmode=require host=elsewhere", &root[..], true),
        ("sslmode=verify-ca host=elsewhere", &root[..], true),
        ("sslmode=verify-ca host=localhost", &stranger[..], false),
        ("sslmode=verify-full host=localhost", &root[..], true),
        ("sslmode=verify-full host=LOCALHOST", &root[..], true),
        ("sslmode=verify-full host=127.0.0.1", &root[..], true),
        ("sslmode=verify-full host=elsewhere", &root[..], false),
        ("sslmode=verify-full host=127.0.0.2", &root[..], false),
        ("sslmode=verify-full host=localhost", &stranger[..], false),
        // Without a name there is nothing to check it by.
        ("sslmode=verify-full", &root[..], false),
    ];
    for (mode, roots, expected) in cases {
        let result = block_on(encrypted(&conninfo(&server, &format!("{mode} {roots}"))));
        assert_eq!(result.is_ok(), expected, "{mode} {roots}: {result:?}");
    }
}

#[test]
fn a_certificate_that_is_its_own_authority_is_trusted_by_itself() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    // As the manual makes it: a common name, no alternative names, and an authority by default.
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "db.example");
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let own = params.self_signed(&key).unwrap();
    std::fs::write(server.data_dir().join("server.crt"), own.pem()).unwrap();
    // Written into the file that is there, which keeps its owner and mode.
    std::fs::write(server.data_dir().join("server.key"), key.serialize_pem()).unwrap();
    server.execute("select pg_reload_conf()");
    let root = server.socket_dir().join("own.crt");
    std::fs::write(&root, own.pem()).unwrap();
    let root = file("sslrootcert", &root);
    let full = |host: &str| conninfo(&server, &format!("sslmode=verify-full host={host} {root}"));
    pgsurge_tests::postgres::wait_until("the new certificate is served", || {
        block_on(encrypted(&full("db.example"))) == Ok(true)
    });
    let error = block_on(refusal(&full("other.example")));
    let expected =
        "server certificate for \"db.example\" does not match host name \"other.example\"";
    assert!(error.to_string().ends_with(expected), "{error}");
}

#[test]
fn a_client_certificate_logs_in_and_its_absence_does_not() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    server.set_hba(&["hostssl all all 127.0.0.1/32 cert"]);
    let files = server.certificates();
    let pair = format!("{} {}", file("sslcert", &files.client), file("sslkey", &files.client_key));
    assert_eq!(
        block_on(encrypted(&conninfo(&server, &format!("sslmode=require {pair}")))),
        Ok(true)
    );
    let error = block_on(refusal(&conninfo(&server, "sslmode=require")));
    assert!(
        error.to_string().contains("connection requires a valid client certificate"),
        "{error}"
    );
}

#[test]
fn scram_binds_to_the_channel_where_it_is_encrypted() {
    let server = Postgres::start(Version::V15, &Settings::new().tls());
    server.execute("create role s login password 'right'");
    server.execute("set password_encryption = 'md5'; create role m login password 'right'");
    server.set_hba(&["host all s 127.0.0.1/32 scram-sha-256", "host all m 127.0.0.1/32 md5"]);
    let cases = [
        ("s", "sslmode=require channel_binding=require", None),
        ("s", "sslmode=require channel_binding=prefer", None),
        ("s", "sslmode=require channel_binding=disable", None),
        ("s", "sslmode=disable channel_binding=prefer", None),
        ("s", "sslmode=disable channel_binding=require", Some("channel binding required")),
        ("m", "sslmode=require channel_binding=require", Some("channel binding required")),
        ("m", "sslmode=require channel_binding=prefer", None),
    ];
    for (user, options, expected) in cases {
        let text = format!(
            "host=127.0.0.1 port={} dbname=postgres user={user} password=right {options}",
            server.port()
        );
        match (block_on(try_connect(&text)), expected) {
            (Ok(_), None) => {}
            (Err(error), Some(part)) => assert!(error.to_string().contains(part), "{error}"),
            (Ok(_), Some(_)) => panic!("{options}: connected"),
            (Err(error), None) => panic!("{options}: {error}"),
        }
    }
}

/// A port that speaks TLS at once, as servers from 17 on do, and passes everything on to `server`.
async fn direct_tls(server: &Postgres, alpn: &[&str]) -> u16 {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.distinguished_name.push(DnType::CommonName, "localhost");
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, behind) = (listener.local_addr().unwrap().port(), server.port());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let Ok(mut front) = acceptor.accept(socket).await else { continue };
            let mut back = TcpStream::connect(("127.0.0.1", behind)).await.unwrap();
            tokio::spawn(async move {
                let _ = tokio::io::copy_bidirectional(&mut front, &mut back).await;
            });
        }
    });
    port
}

#[test]
fn direct_negotiation_saves_the_request_and_insists_on_the_protocols_name() {
    let server = Postgres::start(Version::V15, &Settings::new());
    block_on(async {
        let options = |port| {
            format!(
                "host=localhost hostaddr=127.0.0.1 port={port} user=postgres dbname=postgres \
                 sslmode=require sslnegotiation=direct"
            )
        };
        let mut session = connect(&options(direct_tls(&server, &["postgresql"]).await)).await;
        assert_eq!(ask(&mut session, "select 1").await, "1");
        assert!(session.is_tls());
        let error = refusal(&options(direct_tls(&server, &[]).await)).await;
        assert!(error.to_string().contains("without ALPN"), "{error}");
    });
}
