//! What can go wrong on a session and while opening one, each with a short kind to count it by.
//!
//! A kind is a SQLSTATE (`53300`), the name of an errno (`ECONNREFUSED`) or a word (`timeout`, `tls`,
//! `protocol`, `closed`, `dns`, `password`, `attributes`). Messages never hold a password.

use std::borrow::Cow;
use std::fmt;
use std::io;

use pgsurge_common::target::refused_parameter;
use rustix::io::Errno;

use super::fields::ServerError;

/// An open session failed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WireError {
    /// The server closed the connection in mid-session.
    #[error("server closed the connection unexpectedly")]
    Closed,
    /// The system reports an error of the socket.
    #[error("{text}")]
    Io {
        /// Name of the errno.
        kind: Cow<'static, str>,
        /// The system's text.
        text: String,
    },
    /// What came is not the protocol, or not allowed at this point.
    #[error("protocol error: {0}")]
    Protocol(Cow<'static, str>),
}

impl WireError {
    /// A protocol error.
    pub(crate) fn protocol(text: impl Into<Cow<'static, str>>) -> Self {
        Self::Protocol(text.into())
    }

    /// The short name to count it by.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Closed => "closed",
            Self::Io { kind, .. } => kind,
            Self::Protocol(_) => "protocol",
        }
    }
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Closed,
            _ => Self::Io { kind: errno_name(&error), text: system_text(&error) },
        }
    }
}

/// A session could not be opened.
#[derive(Clone, Debug)]
pub struct ConnectError {
    kind: Cow<'static, str>,
    message: String,
    server: Option<Box<ServerError>>,
}

impl ConnectError {
    /// An error of our own making.
    pub(super) fn new(kind: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), server: None }
    }

    /// The server refused.
    pub(super) fn server(error: ServerError) -> Self {
        let advice = refused_parameter(&error.message);
        let refused = Self {
            kind: Cow::Owned(error.sqlstate().to_owned()),
            message: error.to_string(),
            server: Some(Box::new(error)),
        };
        match advice {
            Some(advice) => refused.hint(&advice),
            None => refused,
        }
    }

    /// The short name to count it by.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The server's error, if it was the server that refused.
    #[must_use]
    pub fn server_error(&self) -> Option<&ServerError> {
        self.server.as_deref()
    }

    /// Whether the server wants a password and none is known.
    #[must_use]
    pub fn needs_password(&self) -> bool {
        self.kind == "password"
    }

    /// Whether the same attempt may succeed a little later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        // 53300: no free slot; 53400 and 53200: a limit or memory at the moment; 57P01 to 57P03: restarting.
        const SQLSTATES: [&str; 6] = ["53300", "53400", "53200", "57P01", "57P02", "57P03"];
        const SYSTEM: [&str; 10] = [
            "ECONNREFUSED",
            "ECONNRESET",
            "ECONNABORTED",
            "EAGAIN",
            "ETIMEDOUT",
            "EADDRNOTAVAIL",
            "EPIPE",
            "timeout",
            "closed",
            "dns",
        ];
        SQLSTATES.contains(&self.kind()) || SYSTEM.contains(&self.kind())
    }

    /// Whether somebody has to change something before an attempt can succeed, on a target that let us in
    /// before: authentication, privileges, the database itself. All else may pass, as a failover does.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        let kind = self.kind();
        let of_class = |class| self.server.is_some() && kind.starts_with(class);
        of_class("28") || of_class("3D") || of_class("42") || matches!(kind, "password" | "peer")
    }

    /// The same error, told as one of a connection to `place`.
    pub(super) fn at(mut self, place: &str) -> Self {
        self.message = format!("connection to server {place} failed: {}", self.message);
        self
    }

    /// Puts what was tried earlier in front.
    pub(super) fn after(mut self, earlier: Option<Self>) -> Self {
        if let Some(earlier) = earlier {
            self.message = format!("{}\n{}", earlier.message, self.message);
        }
        self
    }

    /// Appends a line with advice.
    pub(super) fn hint(mut self, hint: &str) -> Self {
        self.message.push_str("\n\t");
        self.message.push_str(hint);
        self
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConnectError {}

impl From<WireError> for ConnectError {
    fn from(error: WireError) -> Self {
        Self::new(error.kind().to_owned(), error.to_string())
    }
}

impl From<io::Error> for ConnectError {
    fn from(error: io::Error) -> Self {
        WireError::from(error).into()
    }
}

/// The system's text without the number that Rust appends.
fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// The name of the errno, as in the manual pages.
pub(crate) fn errno_name(error: &io::Error) -> Cow<'static, str> {
    const NAMES: [(Errno, &str); 28] = [
        (Errno::CONNREFUSED, "ECONNREFUSED"),
        (Errno::CONNRESET, "ECONNRESET"),
        (Errno::CONNABORTED, "ECONNABORTED"),
        (Errno::TIMEDOUT, "ETIMEDOUT"),
        (Errno::PIPE, "EPIPE"),
        (Errno::NOTCONN, "ENOTCONN"),
        (Errno::AGAIN, "EAGAIN"),
        (Errno::HOSTUNREACH, "EHOSTUNREACH"),
        (Errno::HOSTDOWN, "EHOSTDOWN"),
        (Errno::NETUNREACH, "ENETUNREACH"),
        (Errno::NETDOWN, "ENETDOWN"),
        (Errno::ADDRNOTAVAIL, "EADDRNOTAVAIL"),
        (Errno::ADDRINUSE, "EADDRINUSE"),
        (Errno::AFNOSUPPORT, "EAFNOSUPPORT"),
        (Errno::MFILE, "EMFILE"),
        (Errno::NFILE, "ENFILE"),
        (Errno::NOBUFS, "ENOBUFS"),
        (Errno::NOMEM, "ENOMEM"),
        (Errno::NOENT, "ENOENT"),
        (Errno::ACCESS, "EACCES"),
        (Errno::PERM, "EPERM"),
        (Errno::INVAL, "EINVAL"),
        (Errno::PROTOTYPE, "EPROTOTYPE"),
        (Errno::NOTSOCK, "ENOTSOCK"),
        (Errno::NOSPC, "ENOSPC"),
        (Errno::DQUOT, "EDQUOT"),
        (Errno::FBIG, "EFBIG"),
        (Errno::IO, "EIO"),
    ];
    let Some(code) = error.raw_os_error() else {
        return Cow::Borrowed("io");
    };
    let known = NAMES.iter().find(|(errno, _)| errno.raw_os_error() == code);
    match known {
        Some((_, name)) => Cow::Borrowed(*name),
        None => Cow::Owned(format!("errno {code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errno_is_told_by_name_and_text() {
        let error = ConnectError::from(io::Error::from_raw_os_error(111));
        assert_eq!(error.kind(), "ECONNREFUSED");
        assert_eq!(error.to_string(), "Connection refused");
        assert!(error.is_transient());
        let place = "at \"h\" (127.0.0.1), port 5432";
        assert_eq!(
            error.at(place).to_string(),
            "connection to server at \"h\" (127.0.0.1), port 5432 failed: Connection refused"
        );
    }

    #[test]
    fn an_end_of_file_is_a_closed_connection() {
        let error = WireError::from(io::Error::from(io::ErrorKind::UnexpectedEof));
        assert_eq!(error.kind(), "closed");
    }
}
