//! Which targets an agent may be sent to: patterns of host, port and database.
//!
//! A pattern judges where a connection goes, not what it is called: a host with a numeric address
//! (`hostaddr`) is judged by that address, whatever name stands beside it. Names are judged as names; what
//! they resolve to is for whoever runs the agent's resolver. Pure.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::{Address, Host, Target};

/// `HOST[:PORT][/DATABASE]`, each with `*` for any characters; a part that is left out allows all.
///
/// A host of digits, colons, dots and `*` alone stands for addresses and never for a name. A host that
/// begins with `/` or `@` is the folder of a unix socket; its database comes after a port, as in
/// `/run/postgresql:*/bench`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetPattern {
    text: String,
    host: HostPattern,
    port: String,
    database: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Any,
    Address(String),
    Name(String),
    Socket(String),
}

/// A text is no pattern of targets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected HOST[:PORT][/DATABASE] with * for any characters, for example db-*.example:5432/bench"
)]
pub struct PatternError;

impl fmt::Display for TargetPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for TargetPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let is_socket = text.starts_with('/') || text.starts_with('@');
        let (place, database) = if is_socket {
            let (folder, rest) = text.rsplit_once(':').unwrap_or((text, ""));
            match rest.split_once('/') {
                Some((port, database)) => (format!("{folder}:{port}"), Some(database)),
                None => (text.to_owned(), None),
            }
        } else {
            match text.split_once('/') {
                Some((place, database)) => (place.to_owned(), Some(database)),
                None => (text.to_owned(), None),
            }
        };
        let (host, port) = split_port(&place, is_socket)?;
        let port_fits =
            |port: &str| port.bytes().all(|b| b.is_ascii_digit() || b == b'*') && !port.is_empty();
        let port = port.unwrap_or("*");
        let database = database.unwrap_or("*");
        if host.trim_end_matches('/').is_empty() || !port_fits(port) || database.is_empty() {
            return Err(PatternError);
        }
        Ok(Self {
            text: text.to_owned(),
            host: HostPattern::new(host, is_socket),
            port: port.to_owned(),
            database: database.to_owned(),
        })
    }
}

/// Takes a port off; brackets hold an IPv6 address, which without them has no port.
fn split_port(place: &str, is_socket: bool) -> Result<(&str, Option<&str>), PatternError> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']').ok_or(PatternError)?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(PatternError),
        };
    }
    match place.rsplit_once(':') {
        Some((host, port)) if is_socket || !host.contains(':') => Ok((host, Some(port))),
        _ => Ok((place, None)),
    }
}

impl HostPattern {
    fn new(host: &str, is_socket: bool) -> Self {
        let is_address = |c: char| c.is_ascii_digit() || matches!(c, '.' | '*');
        let is_v6 = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.' | '*');
        if host == "*" {
            Self::Any
        } else if is_socket {
            Self::Socket(host.trim_end_matches('/').to_owned())
        } else if host.chars().all(is_address) || (host.contains(':') && host.chars().all(is_v6)) {
            // An address is compared in the one form in which addresses print.
            let canonical = host.parse::<IpAddr>().map(|ip| ip.to_canonical().to_string());
            Self::Address(canonical.unwrap_or_else(|_| host.to_ascii_lowercase()))
        } else {
            Self::Name(host.trim_end_matches('.').to_ascii_lowercase())
        }
    }

    fn allows(&self, address: &Address) -> bool {
        match (self, address) {
            (Self::Any, _) => true,
            (Self::Socket(pattern), Address::Unix(folder)) => {
                let folder = folder.to_string_lossy();
                // A folder above would be reached by a way that only looks like one below.
                !folder.split('/').any(|part| part == "..")
                    && matches(pattern, folder.trim_end_matches('/'))
            }
            (Self::Socket(_), Address::Tcp { .. }) | (_, Address::Unix(_)) => false,
            (_, Address::Tcp { name, addr }) => {
                match (self, addr.or_else(|| name.parse::<IpAddr>().ok())) {
                    (Self::Address(pattern), Some(ip)) => {
                        matches(pattern, &ip.to_canonical().to_string())
                    }
                    (Self::Name(pattern), None) => {
                        matches(pattern, &name.trim_end_matches('.').to_ascii_lowercase())
                    }
                    _ => false,
                }
            }
        }
    }
}

impl TargetPattern {
    /// Whether it allows one host of a target with its database.
    #[must_use]
    pub fn allows(&self, host: &Host, database: &str) -> bool {
        self.host.allows(&host.address)
            && matches(&self.port, &host.port.to_string())
            && matches(&self.database, database)
    }
}

/// The first host of a target that none of the patterns allows.
#[must_use]
pub fn forbidden_host<'a>(target: &'a Target, patterns: &[TargetPattern]) -> Option<&'a Host> {
    let allowed =
        |host: &&Host| patterns.iter().any(|pattern| pattern.allows(host, &target.database));
    target.hosts.iter().find(|host| !allowed(host))
}

/// Whether a text fits a pattern in which `*` stands for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, addr: Option<&str>, port: u16) -> Host {
        let addr = addr.and_then(|addr| addr.parse().ok());
        let address = if name.starts_with('/') {
            Address::Unix(name.into())
        } else {
            Address::Tcp { name: name.to_owned(), addr }
        };
        Host { address, port, password: None }
    }

    #[test]
    fn a_pattern_judges_where_a_connection_goes() {
        // Pattern, name, hostaddr, port, database, allowed.
        let cases = [
            ("db.example", "db.example", None, 5432, "bench", true),
            ("db.example", "DB.Example.", None, 1, "x", true),
            ("db.example", "evil.db.example", None, 5432, "bench", false),
            ("db.example", "db.example.evil", None, 5432, "bench", false),
            ("db.example:5432", "db.example", None, 5433, "bench", false),
            ("db.example/bench", "db.example", None, 5432, "bench", true),
            ("db.example/bench", "db.example", None, 5432, "Bench", false),
            ("db.example/bench*", "db.example", None, 5432, "bench_2", true),
            ("db-*.example:54*/*_test", "db-7.example", None, 5433, "a_test", true),
            ("db-*.example:54*/*_test", "db-7.example", None, 5433, "a_prod", false),
            // The address is where it goes, whatever name stands beside it.
            ("db.example", "db.example", Some("10.6.6.6"), 5432, "bench", false),
            ("10.0.0.*", "db.example", Some("10.0.0.9"), 5432, "bench", true),
            ("10.0.0.*", "10.0.0.9", None, 5432, "bench", true),
            ("10.0.0.*", "::ffff:10.0.0.9", None, 5432, "bench", true),
            ("10.0.0.*", "10.0.0.evil.example", None, 5432, "bench", false),
            ("127.0.0.1", "127.1", None, 5432, "bench", false),
            ("*.1", "x.1", None, 5432, "bench", false),
            ("[fe80::*]:5432", "fe80::1", None, 5432, "bench", true),
            ("[FE80::1]", "fe80:0::1", None, 5432, "bench", true),
            ("fe80::1", "fe80::1", None, 5432, "bench", true),
            ("*", "anything", Some("10.0.0.1"), 5432, "bench", true),
            ("*", "/run/postgresql", None, 5432, "bench", true),
            ("*:5432/bench", "/run/postgresql", None, 5432, "bench", true),
            ("*/bench", "db", None, 5432, "other", false),
            ("/run/postgresql", "/run/postgresql/", None, 5432, "bench", true),
            ("/run/postgresql", "/run/evil", None, 5432, "bench", false),
            ("/run/*", "/run/../tmp", None, 5432, "bench", false),
            ("/run/postgresql:5433", "/run/postgresql", None, 5432, "bench", false),
            ("/run/postgresql:*/bench", "/run/postgresql", None, 5432, "bench", true),
            ("/run/postgresql:*/bench", "/run/postgresql", None, 5432, "other", false),
            ("/run/postgresql", "db", None, 5432, "bench", false),
            ("db*", "/run/postgresql", None, 5432, "bench", false),
        ];
        for (pattern, name, addr, port, database, allowed) in cases {
            let parsed: TargetPattern = pattern.parse().expect(pattern);
            let case = format!("{pattern} against {name} {addr:?} {port} {database}");
            assert_eq!(parsed.allows(&host(name, addr, port), database), allowed, "{case}");
        }
    }

    #[test]
    fn every_host_of_a_target_must_be_allowed() {
        let patterns = ["a.example", "b.example:1"].map(|p| p.parse().expect(p));
        let hosts = |ports: [u16; 2]| {
            vec![host("a.example", None, ports[0]), host("b.example", None, ports[1])]
        };
        let target = |ports| Target::new(hosts(ports), "u", "d");
        assert!(forbidden_host(&target([7, 1]), &patterns).is_none());
        let forbidden = target([7, 2]);
        assert_eq!(forbidden_host(&forbidden, &patterns), Some(&forbidden.hosts[1]));
        assert!(forbidden_host(&forbidden, &[]).is_some());
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in ["", ":5432", "/", "db:", "db:port", "db/", "[::1", "[::1]x", "/run:*/"] {
            let parsed = text.parse::<TargetPattern>();
            assert_eq!(parsed, Err(PatternError), "{text}");
        }
    }
}
