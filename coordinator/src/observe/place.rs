//! Where the target's hosts really are, and a bare byte stream to one of them.
//!
//! Knows nothing of TLS or of the protocol.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::linux::net::SocketAddrExt;
use std::path::PathBuf;

use pgsurge_common::target::{Address, Host, TcpOptions};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpStream, UnixStream};
use tokio_util::either::Either;

use super::error::TargetError;

/// One address of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Tcp { name: String, addr: SocketAddr },
    Unix(PathBuf),
}

impl Place {
    /// All places of a host, in the order in which they are to be tried.
    pub(super) async fn of(host: &Host) -> Result<Vec<Self>, TargetError> {
        let (name, addr) = match &host.address {
            Address::Unix(folder) => {
                return Ok(vec![Self::Unix(folder.join(format!(".s.PGSQL.{}", host.port)))]);
            }
            Address::Tcp { name, addr } => (name, addr.or_else(|| name.parse().ok())),
        };
        let addresses: Vec<IpAddr> = match addr {
            Some(addr) => vec![addr],
            None => tokio::net::lookup_host((name.as_str(), host.port))
                .await
                .map_err(|error| {
                    TargetError::new(format!(
                        "could not translate host name \"{name}\" to address: {error}"
                    ))
                })?
                .map(|addr| addr.ip())
                .collect(),
        };
        let place = |ip| Self::Tcp { name: name.clone(), addr: SocketAddr::new(ip, host.port) };
        Ok(addresses.into_iter().map(place).collect())
    }

    /// The place as libpq names it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Unix(path) => format!("on socket \"{}\"", path.display()),
            Self::Tcp { name, addr } => {
                let ip = addr.ip().to_string();
                if name.is_empty() || *name == ip {
                    format!("at \"{ip}\", port {}", addr.port())
                } else {
                    format!("at \"{name}\" ({ip}), port {}", addr.port())
                }
            }
        }
    }

    /// Opens a stream to it.
    pub(super) async fn open(&self, tcp: &TcpOptions) -> Result<Stream, TargetError> {
        let opened = match self {
            Self::Tcp { addr, .. } => open_tcp(*addr, tcp).await.map(Either::Left),
            Self::Unix(path) => open_unix(path).await.map(Either::Right),
        };
        opened.map_err(|error| {
            let question = match self {
                Self::Tcp { .. } => "on that host and accepting TCP/IP connections?",
                Self::Unix(_) => "locally and accepting connections on that socket?",
            };
            TargetError::new(format!("{}\n\tIs the server running {question}", plain(&error)))
        })
    }
}

/// The system's words without the number that Rust appends.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}

async fn open_tcp(addr: SocketAddr, options: &TcpOptions) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addr).await?;
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    if options.keepalives {
        let mut keepalive = TcpKeepalive::new();
        if let Some(idle) = options.keepalives_idle {
            keepalive = keepalive.with_time(idle);
        }
        if let Some(interval) = options.keepalives_interval {
            keepalive = keepalive.with_interval(interval);
        }
        if let Some(count) = options.keepalives_count {
            keepalive = keepalive.with_retries(count);
        }
        socket.set_tcp_keepalive(&keepalive)?;
    }
    if options.user_timeout.is_some() {
        socket.set_tcp_user_timeout(options.user_timeout)?;
    }
    Ok(stream)
}

async fn open_unix(path: &std::path::Path) -> io::Result<UnixStream> {
    let Some(name) = path.to_str().and_then(|path| path.strip_prefix('@')) else {
        return UnixStream::connect(path).await;
    };
    // A socket of the abstract namespace accepts or refuses at once, so this does not block.
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name)?;
    let stream = std::os::unix::net::UnixStream::connect_addr(&address)?;
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

/// A TCP or unix stream.
pub(super) type Stream = Either<TcpStream, UnixStream>;

/// Who runs the process at the other end of a unix socket.
pub(super) fn peer_uid(stream: &Stream) -> Option<u32> {
    match stream {
        Either::Left(_) => None,
        Either::Right(unix) => unix.peer_cred().ok().map(|peer| peer.uid()),
    }
}
