//! TLS to the target as libpq does it: negotiated by an `SSLRequest` or direct, checked as `sslmode` says.
//!
//! The configuration is made once per agent; sessions are not resumed, as PostgreSQL does not offer it.

mod certificate;
mod names;
mod verify;

use std::net::IpAddr;
use std::sync::Arc;

use pgsurge_common::target::{ClientCertificate, Roots, Tls, TlsVersion};
use rustls::client::Resumption;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::error::ConnectError;
use super::stream::Stream;
use certificate::Certificate;
use verify::{Trust, Verifier};

/// The application protocol that servers from 17 on expect.
const ALPN: &[u8] = b"postgresql";

/// TLS towards one target.
pub(super) struct Client {
    config: Arc<ClientConfig>,
    direct: bool,
    checks_name: bool,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("direct", &self.direct).finish_non_exhaustive()
    }
}

impl Client {
    /// Reads certificates and key.
    pub(super) fn new(tls: &Tls) -> Result<Self, ConnectError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let trust = Trust::of(tls.mode, tls.roots != Roots::None);
        let verifier = Verifier::new(&provider, trust, tls)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions(tls)?)
            .map_err(|error| tls_error(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &tls.client {
            None => builder.with_no_client_auth(),
            Some(client) => {
                let (chain, key) = client_identity(client)?;
                builder
                    .with_client_auth_cert(chain, key)
                    .map_err(|error| tls_error(format!("client certificate: {error}")))?
            }
        };
        config.alpn_protocols = vec![ALPN.to_vec()];
        config.resumption = Resumption::disabled();
        config.enable_sni = tls.sni;
        Ok(Self {
            config: Arc::new(config),
            direct: tls.direct,
            checks_name: trust == Trust::ChainAndName,
        })
    }

    /// Encrypts, or fails if the server will not.
    pub(super) async fn start(
        &self,
        mut socket: TcpStream,
        name: &str,
        addr: IpAddr,
    ) -> Result<Stream, ConnectError> {
        if !self.direct && !offers_tls(&mut socket).await? {
            return Err(tls_error("server does not support SSL, but SSL was required"));
        }
        self.shake_hands(socket, name, addr).await
    }

    /// Encrypts if the server offers it, and goes on in the clear if not.
    pub(super) async fn start_if_offered(
        &self,
        mut socket: TcpStream,
        name: &str,
        addr: IpAddr,
    ) -> Result<Stream, ConnectError> {
        if offers_tls(&mut socket).await? {
            self.shake_hands(socket, name, addr).await
        } else {
            Ok(Stream::Tcp(socket))
        }
    }

    async fn shake_hands(
        &self,
        socket: TcpStream,
        name: &str,
        addr: IpAddr,
    ) -> Result<Stream, ConnectError> {
        let name = self.server_name(name, addr)?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let stream = connector.connect(name, socket).await.map_err(|error| {
            match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
                Some(error) => tls_error(verify::explain(error)),
                None => error.into(),
            }
        })?;
        if self.direct && stream.get_ref().1.alpn_protocol() != Some(ALPN) {
            let message = "direct SSL connection was established without ALPN protocol negotiation";
            return Err(tls_error(message));
        }
        Ok(Stream::Tls(Box::new(stream)))
    }

    /// The name to present and, where names are checked, to check.
    fn server_name(&self, name: &str, addr: IpAddr) -> Result<ServerName<'static>, ConnectError> {
        if name.is_empty() && self.checks_name {
            let message = "host name must be specified for a verified SSL connection";
            return Err(tls_error(message));
        }
        match ServerName::try_from(name.to_owned()) {
            Ok(name) => Ok(name),
            Err(_) if self.checks_name => {
                Err(tls_error(format!("host name \"{name}\" cannot be checked in a certificate")))
            }
            // The name serves only as an indication to the server, so it may be left out.
            Err(_) => Ok(ServerName::IpAddress(addr.into())),
        }
    }
}

/// Asks the server for TLS. Reads exactly one byte, so that nothing that was put in front of the
/// handshake can be taken for a part of the encrypted session.
async fn offers_tls(socket: &mut TcpStream) -> Result<bool, ConnectError> {
    let mut request = bytes::BytesMut::new();
    postgres_protocol::message::frontend::ssl_request(&mut request);
    socket.write_all(&request).await?;
    match socket.read_u8().await? {
        b'S' => Ok(true),
        b'N' => Ok(false),
        b'E' => {
            Err(ConnectError::new("closed", "server sent an error response during SSL exchange"))
        }
        other => {
            let message = format!("received invalid response to SSL negotiation: 0x{other:02x}");
            Err(ConnectError::new("protocol", message))
        }
    }
}

/// The hash that binds SCRAM to the stream (`tls-server-end-point`), if the stream is encrypted and the
/// server's certificate defines one.
pub(super) fn endpoint_hash(stream: &Stream) -> Option<Vec<u8>> {
    let Stream::Tls(stream) = stream else {
        return None;
    };
    let der = stream.get_ref().1.peer_certificates()?.first()?;
    Certificate::parse(der)?.endpoint_hash(der)
}

fn versions(tls: &Tls) -> Result<Vec<&'static SupportedProtocolVersion>, ConnectError> {
    let min = tls.min_version.unwrap_or(TlsVersion::Tls12);
    let max = tls.max_version.unwrap_or(TlsVersion::Tls13);
    let all = [(TlsVersion::Tls13, &TLS13), (TlsVersion::Tls12, &TLS12)];
    let versions: Vec<_> =
        all.into_iter().filter(|(v, _)| (min..=max).contains(v)).map(|(_, v)| v).collect();
    if versions.is_empty() {
        return Err(tls_error("invalid SSL protocol version range"));
    }
    Ok(versions)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn client_identity(client: &ClientCertificate) -> Result<Identity, ConnectError> {
    let chain = certificates(&client.chain_pem, "client certificate")?;
    let key_pem = client.key_pem.expose();
    if key_pem.contains("ENCRYPTED") {
        let message = "the client key is protected by a passphrase, which is not supported; \
                       give an unencrypted key (openssl pkey -in KEY -out PLAIN)";
        return Err(tls_error(message));
    }
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes())
        .map_err(|_| tls_error("the client key is not a private key in PEM form"))?;
    Ok((chain, key))
}

/// All certificates in `pem`; none at all is an error.
fn certificates(pem: &str, what: &str) -> Result<Vec<CertificateDer<'static>>, ConnectError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(tls_error(format!("{what}: no certificate in PEM form found"))),
        Err(error) => Err(tls_error(format!("{what}: {error}"))),
    }
}

fn tls_error(message: impl Into<String>) -> ConnectError {
    ConnectError::new("tls", message)
}
