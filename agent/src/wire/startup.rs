//! From an open byte stream to a session that is ready: startup message and authentication.
//!
//! Knows nothing of hosts or of how the stream came about. A password leaves only in the form that the
//! server's method asks for, and never in an error.

use pgsurge_common::target::{ChannelBinding, Secret, Target};
use postgres_protocol::authentication::md5_hash;

use super::backend::{Message, Reader};
use super::connection::Connection;
use super::error::{ConnectError, WireError};
use super::frontend;
use super::scram::{Binding, Exchange, KeyCache};

/// Codes of authentication requests.
mod request {
    pub(super) const OK: i32 = 0;
    pub(super) const CLEARTEXT: i32 = 3;
    pub(super) const MD5: i32 = 5;
    pub(super) const SASL: i32 = 10;
    pub(super) const SASL_CONTINUE: i32 = 11;
    pub(super) const SASL_FINAL: i32 = 12;
}

/// The startup message for `target`.
pub(super) fn startup_message(target: &Target) -> Result<Vec<u8>, WireError> {
    let mut pairs = vec![("user", target.user.as_str()), ("database", target.database.as_str())];
    if !target.application_name.is_empty() {
        pairs.push(("application_name", &target.application_name));
    }
    if let Some(options) = &target.options {
        pairs.push(("options", options));
    }
    pairs.extend(target.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let mut message = bytes::BytesMut::new();
    postgres_protocol::message::frontend::startup_message(pairs, &mut message)?;
    Ok(message.to_vec())
}

/// What a login needs besides the stream.
pub(super) struct Login<'a> {
    pub(super) target: &'a Target,
    pub(super) startup: &'a [u8],
    pub(super) password: Option<&'a Secret>,
    pub(super) keys: &'a KeyCache,
    /// Hash of the server's certificate, if the stream is encrypted and the certificate defines one.
    pub(super) certificate_hash: Option<Vec<u8>>,
}

/// A login that failed.
pub(super) struct Refused {
    pub(super) error: ConnectError,
    /// Whether the server had got as far as to ask for, or grant, authentication.
    pub(super) authenticating: bool,
}

/// Logs in and waits until the session is ready.
pub(super) async fn log_in(connection: &mut Connection, login: &Login<'_>) -> Result<(), Refused> {
    let mut authenticating = false;
    let result = async {
        connection.out().extend_from_slice(login.startup);
        connection.flush().await?;
        authenticate(connection, login, &mut authenticating).await?;
        wait_until_ready(connection).await
    };
    let result = result.await;
    result.map_err(|error| Refused { error, authenticating })
}

async fn authenticate(
    connection: &mut Connection,
    login: &Login<'_>,
    authenticating: &mut bool,
) -> Result<(), ConnectError> {
    let mut bound = false;
    let mut asked = false;
    loop {
        let (code, data) = next_request(connection).await?;
        *authenticating = true;
        match code {
            request::OK => {
                if !asked {
                    login.allow("none", "did not ask for authentication")?;
                }
                return login.check_binding(bound);
            }
            request::CLEARTEXT => {
                login.allow("password", "asked for a password in clear text")?;
                login.refuse_without_binding()?;
                frontend::password(connection.out(), login.password()?.as_bytes())?;
            }
            request::MD5 => {
                login.allow("md5", "asked for an md5 password")?;
                login.refuse_without_binding()?;
                let salt: [u8; 4] = data.as_slice().try_into().map_err(|_| {
                    WireError::protocol("md5 authentication request without a salt of 4 bytes")
                })?;
                let user = login.target.user.as_bytes();
                let hash = md5_hash(user, login.password()?.as_bytes(), salt);
                frontend::password(connection.out(), hash.as_bytes())?;
            }
            request::SASL => {
                login.allow("scram-sha-256", "asked for SASL authentication")?;
                bound = scram(connection, login, &data).await?;
            }
            _ => {
                let message = format!(
                    "authentication method {code} of the server is not supported ({})",
                    method_name(code)
                );
                return Err(ConnectError::new("protocol", message));
            }
        }
        asked = true;
        connection.flush().await?;
    }
}

fn method_name(code: i32) -> &'static str {
    match code {
        2 => "Kerberos V5",
        7 | 8 => "GSSAPI",
        9 => "SSPI",
        _ => "unknown",
    }
}

/// The next authentication request, with its data copied out of the read buffer.
async fn next_request(connection: &mut Connection) -> Result<(i32, Vec<u8>), ConnectError> {
    loop {
        match connection.next_message().await? {
            Message::Authentication(code, data) => return Ok((code, data.to_vec())),
            Message::Error(fields) => return Err(ConnectError::server(fields.to_error())),
            Message::Notice(_) | Message::Other(_) => {}
            _ => {
                return Err(WireError::protocol("expected an authentication request").into());
            }
        }
    }
}

/// Runs the SCRAM exchange up to the server's proof; whether it was bound to the TLS channel.
async fn scram(
    connection: &mut Connection,
    login: &Login<'_>,
    mechanisms: &[u8],
) -> Result<bool, ConnectError> {
    let encrypted = connection.is_tls();
    let (mechanism, binding) = login.choose(mechanisms, encrypted)?;
    let bound = matches!(binding, Binding::EndPoint(_));
    let exchange = Exchange::new(login.keys, login.password()?, binding);
    let first = exchange.first_message();
    frontend::sasl_initial(connection.out(), mechanism, first.as_bytes())?;
    connection.flush().await?;
    let challenge = expect_request(connection, request::SASL_CONTINUE).await?;
    let proven = exchange.prove(&challenge)?;
    frontend::sasl_response(connection.out(), proven.message.as_bytes())?;
    connection.flush().await?;
    let last = expect_request(connection, request::SASL_FINAL).await?;
    proven.check(&last)?;
    Ok(bound)
}

async fn expect_request(connection: &mut Connection, code: i32) -> Result<Vec<u8>, ConnectError> {
    match next_request(connection).await? {
        (got, data) if got == code => Ok(data),
        (got, _) => {
            let text = format!("authentication request {got} where {code} was due");
            Err(WireError::protocol(text).into())
        }
    }
}

async fn wait_until_ready(connection: &mut Connection) -> Result<(), ConnectError> {
    loop {
        match connection.next_message().await? {
            Message::BackendKey { process, secret } => {
                let about = connection.about();
                (about.process, about.secret) = (process, secret);
            }
            Message::ReadyForQuery(_) => return Ok(()),
            Message::Error(fields) => return Err(ConnectError::server(fields.to_error())),
            _ => {}
        }
    }
}

impl Login<'_> {
    fn password(&self) -> Result<&str, ConnectError> {
        let password = self.password.or(self.target.password.as_ref());
        password
            .map(Secret::expose)
            .filter(|password| !password.is_empty())
            .ok_or_else(|| ConnectError::new("password", "fe_sendauth: no password supplied"))
    }

    /// Checks the server's method against `require_auth`.
    fn allow(&self, method: &str, deed: &str) -> Result<(), ConnectError> {
        let wanted = &self.target.require_auth;
        let refused = wanted.iter().any(|word| word.strip_prefix('!') == Some(method));
        let only = wanted.iter().any(|word| !word.starts_with('!'));
        if refused || (only && !wanted.iter().any(|word| word == method)) {
            let list = wanted.join(",");
            let message =
                format!("authentication method requirement \"{list}\" failed: server {deed}");
            return Err(ConnectError::new("protocol", message));
        }
        Ok(())
    }

    fn requires_binding(&self) -> bool {
        self.target.tls.channel_binding == ChannelBinding::Require
    }

    fn refuse_without_binding(&self) -> Result<(), ConnectError> {
        if self.requires_binding() { Err(binding_not_offered()) } else { Ok(()) }
    }

    fn check_binding(&self, bound: bool) -> Result<(), ConnectError> {
        if bound || !self.requires_binding() {
            return Ok(());
        }
        let message =
            "channel binding required, but server authenticated client without channel binding";
        Err(ConnectError::new("protocol", message))
    }

    /// Chooses among the server's mechanisms.
    fn choose(
        &self,
        mechanisms: &[u8],
        encrypted: bool,
    ) -> Result<(&'static str, Binding), ConnectError> {
        let (mut plain, mut plus) = (false, false);
        let mut reader = Reader(mechanisms);
        while let Ok(name) = reader.string() {
            plain |= name == b"SCRAM-SHA-256";
            plus |= name == b"SCRAM-SHA-256-PLUS";
        }
        if plus && !encrypted {
            let message = "server offered SCRAM-SHA-256-PLUS over a connection without TLS";
            return Err(ConnectError::new("protocol", message));
        }
        let hash = self
            .certificate_hash
            .clone()
            .filter(|_| self.target.tls.channel_binding != ChannelBinding::Disable);
        match hash {
            Some(hash) if plus => Ok(("SCRAM-SHA-256-PLUS", Binding::EndPoint(hash))),
            _ if self.requires_binding() => Err(binding_not_offered()),
            Some(_) if plain => Ok(("SCRAM-SHA-256", Binding::NotOffered)),
            None if plain => Ok(("SCRAM-SHA-256", Binding::No)),
            _ => {
                let message = "none of the server's SASL authentication mechanisms are supported";
                Err(ConnectError::new("protocol", message))
            }
        }
    }
}

fn binding_not_offered() -> ConnectError {
    let message = "channel binding required but not supported by server's authentication request";
    ConnectError::new("protocol", message)
}
