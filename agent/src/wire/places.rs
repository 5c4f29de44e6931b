//! Where the target's hosts really are, and opening a socket there.
//!
//! Knows nothing of the protocol. Look-ups are kept for a few seconds: a thousand connections need one,
//! yet a name that moves to another server is followed.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::linux::net::SocketAddrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pgsurge_common::target::{Address, Host, TcpOptions};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpSocket, UnixStream};

use super::error::ConnectError;
use super::stream::Stream;

/// How long a look-up is believed.
const LOOKUP_LIFE: Duration = Duration::from_secs(5);

/// A connection is given up on which the other side's kernel has acknowledged nothing for so long, unless
/// the target says otherwise. The system's own bounds are a quarter of an hour for what was sent and two
/// hours for what is waited for, in which a client would do nothing but wait. A server that is merely slow
/// still acknowledges.
const SILENT_FOR: Duration = Duration::from_secs(60);

/// When a connection on which nothing comes is asked whether it still stands.
const ASK_AFTER: Duration = Duration::from_secs(30);

/// When it is asked again.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// One address of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A TCP address, with the host's name as given (empty if only the address was).
    Tcp {
        /// Name that the certificate is checked for.
        name: String,
        /// Where it is.
        addr: SocketAddr,
    },
    /// A unix socket's path; `@` in front means the abstract namespace.
    Unix(PathBuf),
}

impl Place {
    /// The place as libpq names it in messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Tcp { name, addr } => {
                let (ip, port) = (addr.ip().to_string(), addr.port());
                if name.is_empty() || *name == ip {
                    format!("at \"{ip}\", port {port}")
                } else {
                    format!("at \"{name}\" ({ip}), port {port}")
                }
            }
            Self::Unix(path) => format!("on socket \"{}\"", path.display()),
        }
    }

    /// Opens a socket to it.
    pub(super) async fn open(&self, tcp: &TcpOptions) -> Result<Stream, ConnectError> {
        match self {
            Self::Tcp { addr, .. } => open_tcp(*addr, tcp).await.map_err(|error| {
                let advice = "Is the server running on that host and accepting TCP/IP connections?";
                ConnectError::from(error).hint(advice)
            }),
            Self::Unix(path) => open_unix(path).await.map_err(|error| {
                let advice =
                    "Is the server running locally and accepting connections on that socket?";
                ConnectError::from(error).hint(advice)
            }),
        }
    }
}

async fn open_tcp(addr: SocketAddr, options: &TcpOptions) -> io::Result<Stream> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    let options_of = SockRef::from(&socket);
    options_of.set_tcp_nodelay(true)?;
    if options.keepalives {
        let mut keepalive = TcpKeepalive::new()
            .with_time(options.keepalives_idle.unwrap_or(ASK_AFTER))
            .with_interval(options.keepalives_interval.unwrap_or(ASK_AGAIN_AFTER));
        if let Some(count) = options.keepalives_count {
            keepalive = keepalive.with_retries(count);
        }
        options_of.set_tcp_keepalive(&keepalive)?;
    }
    options_of.set_tcp_user_timeout(options.user_timeout.or(Some(SILENT_FOR)))?;
    socket.connect(addr).await.map(Stream::Tcp)
}

async fn open_unix(path: &Path) -> io::Result<Stream> {
    let Some(name) = path.to_str().and_then(|path| path.strip_prefix('@')) else {
        return UnixStream::connect(path).await.map(Stream::Unix);
    };
    // The abstract namespace never blocks: it either has a listener with room or refuses at once.
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    let stream = std::os::unix::net::UnixStream::connect_addr(&address)?;
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream).map(Stream::Unix)
}

/// Look-ups of host names, kept for a while.
#[derive(Debug, Default)]
pub(super) struct Resolver {
    known: Mutex<Known>,
}

/// By name and port: when it was looked up, and what came.
type Known = HashMap<(String, u16), (Instant, Vec<IpAddr>)>;

impl Resolver {
    /// All places of `host`, in the order in which they are to be tried.
    pub(super) async fn places(&self, host: &Host) -> Result<Vec<Place>, ConnectError> {
        let (name, addr) = match &host.address {
            Address::Unix(directory) => {
                let file = format!(".s.PGSQL.{}", host.port);
                return Ok(vec![Place::Unix(directory.join(file))]);
            }
            Address::Tcp { name, addr } => (name, *addr),
        };
        let literal = addr.or_else(|| name.parse().ok());
        let addresses = match literal {
            Some(addr) => vec![addr],
            None => self.look_up(name, host.port).await?,
        };
        let place = |ip| Place::Tcp { name: name.clone(), addr: SocketAddr::new(ip, host.port) };
        Ok(addresses.into_iter().map(place).collect())
    }

    /// Forgets what is known, so that the next attempt asks again.
    pub(super) fn forget(&self) {
        self.lock().clear();
    }

    async fn look_up(&self, name: &str, port: u16) -> Result<Vec<IpAddr>, ConnectError> {
        let key = (name.to_owned(), port);
        if let Some((at, addresses)) = self.lock().get(&key)
            && at.elapsed() < LOOKUP_LIFE
        {
            return Ok(addresses.clone());
        }
        let found = tokio::net::lookup_host((name, port)).await;
        let addresses: Vec<IpAddr> = match found {
            Ok(found) => found.map(|addr| addr.ip()).collect(),
            Err(error) => return Err(unknown_host(name, &error)),
        };
        self.lock().insert(key, (Instant::now(), addresses.clone()));
        Ok(addresses)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        // The map is valid at any time, whatever another thread was doing to it.
        self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn unknown_host(name: &str, error: &io::Error) -> ConnectError {
    let text = error.to_string();
    let reason = text.rsplit_once(": ").map_or(text.as_str(), |(_, reason)| reason);
    // Of the resolver's errors only this one may go away by itself.
    let kind = if reason.starts_with("Temporary failure") { "dns-again" } else { "dns" };
    let message = format!("could not translate host name \"{name}\" to address: {reason}");
    ConnectError::new(kind, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_as_libpq_names_them() {
        let tcp = |name: &str, addr: &str| Place::Tcp {
            name: name.to_owned(),
            addr: addr.parse().expect("a literal of this test"),
        };
        let cases = [
            (tcp("localhost", "127.0.0.1:5432"), "at \"localhost\" (127.0.0.1), port 5432"),
            (tcp("127.0.0.1", "127.0.0.1:1"), "at \"127.0.0.1\", port 1"),
            (tcp("", "[::1]:5432"), "at \"::1\", port 5432"),
            (Place::Unix("/tmp/.s.PGSQL.5432".into()), "on socket \"/tmp/.s.PGSQL.5432\""),
        ];
        for (place, expected) in cases {
            assert_eq!(place.describe(), expected);
        }
    }
}
