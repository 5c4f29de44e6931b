//! How a target is told: as a URI without its secrets.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Address, Host, Target};

/// Everything but what is plain in every part of a URI.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

impl fmt::Display for Target {
    /// `postgresql://user:***@host:port/database`; without a known password there is no `:***`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let secret =
            self.password.is_some() || self.hosts.iter().any(|host| host.password.is_some());
        write!(f, "postgresql://{}", utf8_percent_encode(&self.user, ESCAPED))?;
        f.write_str(if secret { ":***@" } else { "@" })?;
        for (index, host) in self.hosts.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            write!(f, "{host}")?;
        }
        write!(f, "/{}", utf8_percent_encode(&self.database, ESCAPED))
    }
}

impl fmt::Display for Host {
    /// `name:port`, as it stands in a URI.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address::Unix(path) => {
                write!(f, "{}", utf8_percent_encode(&path.to_string_lossy(), ESCAPED))?;
            }
            Address::Tcp { name, addr: Some(addr) } if name.is_empty() => {
                write_address(f, &addr.to_string())?;
            }
            Address::Tcp { name, .. } => write_address(f, name)?,
        }
        write!(f, ":{}", self.port)
    }
}

fn write_address(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if name.contains(':') { write!(f, "[{name}]") } else { f.write_str(name) }
}

impl Host {
    /// Whether the host means the machine of whoever connects: a unix socket, `localhost`, a loopback
    /// address.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match &self.address {
            Address::Unix(_) => true,
            Address::Tcp { addr: Some(addr), .. } => addr.is_loopback(),
            Address::Tcp { name, addr: None } => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                let literal: Option<std::net::IpAddr> = name.parse().ok();
                name == "localhost"
                    || name.ends_with(".localhost")
                    || literal.is_some_and(|addr| addr.is_loopback())
            }
        }
    }
}

impl Target {
    /// The first host that means another machine on each machine; an agent elsewhere would not reach the
    /// server that the coordinator means.
    #[must_use]
    pub fn local_host(&self) -> Option<&Host> {
        self.hosts.iter().find(|host| host.is_local())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Secret;
    use super::*;

    fn tcp(name: &str, port: u16) -> Host {
        let address = Address::Tcp { name: name.to_owned(), addr: None };
        Host { address, port, password: None }
    }

    #[test]
    fn a_target_is_shown_as_a_uri_without_its_password() {
        let socket = Host { address: Address::Unix("/var/run".into()), port: 5432, password: None };
        let mut target = Target::new(vec![tcp("db", 5432), tcp("::1", 7), socket], "me@x", "a b");
        assert_eq!(
            target.to_string(),
            "postgresql://me%40x@db:5432,[::1]:7,%2Fvar%2Frun:5432/a%20b"
        );
        target.password = Some(Secret::new("hunter2"));
        assert_eq!(
            target.to_string(),
            "postgresql://me%40x:***@db:5432,[::1]:7,%2Fvar%2Frun:5432/a%20b"
        );
        assert!(!format!("{target:?}").contains("hunter2"));
    }

    #[test]
    fn local_is_what_means_another_machine_elsewhere() {
        let cases = [
            ("localhost", true),
            ("LOCALHOST.", true),
            ("db.localhost", true),
            ("127.0.0.1", true),
            ("127.1.2.3", true),
            ("::1", true),
            ("10.0.0.1", false),
            ("localhost.example.com", false),
            ("db", false),
        ];
        for (name, expected) in cases {
            assert_eq!(tcp(name, 1).is_local(), expected, "{name}");
        }
    }
}
