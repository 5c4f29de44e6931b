//! The lists of hosts, addresses and ports, put together.

use std::net::IpAddr;

use super::error::TargetError;
use super::options::Options;
use super::passfile::{Entry, PassFile};
use super::surroundings::Surroundings;
use super::{Address, Host};

/// `PostgreSQL`'s port.
pub(super) const DEFAULT_PORT: u16 = 5432;

/// The hosts that `options` name; without any the default unix socket.
pub(super) fn hosts(
    options: &Options,
    surroundings: &dyn Surroundings,
) -> Result<Vec<Host>, TargetError> {
    let list = |name| -> Vec<&str> {
        options
            .filled(name)
            .map(|value| value.split(',').map(str::trim).collect())
            .unwrap_or_default()
    };
    let (names, addrs, ports) = (list("host"), list("hostaddr"), list("port"));
    let count = if addrs.is_empty() { names.len().max(1) } else { addrs.len() };
    if !addrs.is_empty() && !names.is_empty() && names.len() != addrs.len() {
        let (left, right) = (names.len(), addrs.len());
        let (what, others) = ("host names", "hostaddr values");
        return Err(TargetError::Counts { left, what, right, others });
    }
    if ports.len() > 1 && ports.len() != count {
        let (left, right) = (ports.len(), count);
        return Err(TargetError::Counts { left, what: "port numbers", right, others: "hosts" });
    }
    let at = |list: &[&str], index: usize| list.get(index).copied().unwrap_or_default().to_owned();
    (0..count)
        .map(|index| {
            let port = if ports.len() == 1 { at(&ports, 0) } else { at(&ports, index) };
            let address = address(at(&names, index), &at(&addrs, index), surroundings)?;
            Ok(Host { address, port: parse_port(&port)?, password: None })
        })
        .collect()
}

fn address(
    name: String,
    addr: &str,
    surroundings: &dyn Surroundings,
) -> Result<Address, TargetError> {
    if !addr.is_empty() {
        let parsed: IpAddr = addr.parse().map_err(|_| TargetError::value("hostaddr", addr))?;
        return Ok(Address::Tcp { name, addr: Some(parsed) });
    }
    if name.is_empty() {
        return Ok(Address::Unix(surroundings.socket_directory()));
    }
    if name.starts_with(['/', '@']) {
        return Ok(Address::Unix(name.into()));
    }
    Ok(Address::Tcp { name, addr: None })
}

fn parse_port(text: &str) -> Result<u16, TargetError> {
    if text.is_empty() {
        return Ok(DEFAULT_PORT);
    }
    let parsed = text.parse::<u16>().ok().filter(|&port| port > 0);
    parsed.ok_or_else(|| TargetError::Port(text.to_owned()))
}

/// Looks the password of each host up.
pub(super) fn find_passwords(
    hosts: &mut [Host],
    file: &PassFile,
    (user, database): (&str, &str),
    surroundings: &dyn Surroundings,
) {
    let default_directory = surroundings.socket_directory();
    for host in hosts {
        let name = match &host.address {
            Address::Unix(directory) if *directory == default_directory => "localhost".to_owned(),
            Address::Unix(directory) => directory.to_string_lossy().into_owned(),
            Address::Tcp { name, addr: Some(addr) } if name.is_empty() => addr.to_string(),
            Address::Tcp { name, .. } => name.clone(),
        };
        host.password = file.find(&Entry { host: &name, port: host.port, database, user });
    }
}

#[cfg(test)]
mod tests {
    use super::super::surroundings::fake::Fake;
    use super::*;

    fn read(text: &str) -> String {
        let options = Options::parse(text).ok().flatten().unwrap_or_default();
        let show = |host: Host| match host.address {
            Address::Unix(path) => format!("{}:{}", path.display(), host.port),
            Address::Tcp { name, addr: None } => format!("{name}:{}", host.port),
            Address::Tcp { name, addr: Some(addr) } => format!("{name}={addr}:{}", host.port),
        };
        match hosts(&options, &Fake::default()) {
            Ok(hosts) => hosts.into_iter().map(show).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn lists_are_put_together_as_in_libpq() {
        let cases = [
            ("", "/var/run/postgresql:5432"),
            ("port=1", "/var/run/postgresql:1"),
            ("host=a,b,/tmp port=1,,3", "a:1 b:5432 /tmp:3"),
            ("host=a,b port=7", "a:7 b:7"),
            ("host=a,,b", "a:5432 /var/run/postgresql:5432 b:5432"),
            ("host=@name", "@name:5432"),
            ("hostaddr=::1,10.0.0.1", "=::1:5432 =10.0.0.1:5432"),
            ("host=a,b hostaddr=10.0.0.1,", "a=10.0.0.1:5432 b:5432"),
            ("host=a,b hostaddr=::1", "could not match 2 host names to 1 hostaddr values"),
            ("host=a port=1,2", "could not match 2 port numbers to 1 hosts"),
            ("port=0", "invalid port number: \"0\""),
            ("port=65536", "invalid port number: \"65536\""),
            ("port=x", "invalid port number: \"x\""),
            ("hostaddr=name", "invalid hostaddr value: \"name\""),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
