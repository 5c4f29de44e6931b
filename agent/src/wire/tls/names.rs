//! Whether a certificate was made for a host name, by libpq's rules rather than the web's.
//!
//! libpq still looks at the common name where no alternative name of the right kind is there, and knows
//! one wildcard: a whole leftmost label.

use std::net::IpAddr;

use super::certificate::Certificate;

/// Whether `certificate` is for `host`, a DNS name or an address.
pub(super) fn match_name(certificate: &Certificate<'_>, host: &str) -> bool {
    let (dns, ips) = certificate.alternative_names();
    let common = || certificate.common_name().is_some_and(|name| matches(name, host));
    match host.parse::<IpAddr>() {
        Ok(address) => {
            let bytes = match address {
                IpAddr::V4(address) => address.octets().to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            };
            ips.contains(&&bytes[..])
                || dns.iter().any(|name| matches(name, host))
                || (ips.is_empty() && common())
        }
        Err(_) if dns.is_empty() => common(),
        Err(_) => dns.iter().any(|name| matches(name, host)),
    }
}

/// Whether the pattern of a certificate covers `host`.
fn matches(pattern: &[u8], host: &str) -> bool {
    let host = host.as_bytes();
    if pattern.eq_ignore_ascii_case(host) {
        // An embedded NUL cannot match, since a host name has none.
        return true;
    }
    let Some(suffix) = pattern.strip_prefix(b"*").filter(|suffix| suffix.starts_with(b".")) else {
        return false;
    };
    let Some(first_dot) = host.iter().position(|&byte| byte == b'.') else {
        return false;
    };
    suffix.len() > 1 && first_dot > 0 && host[first_dot..].eq_ignore_ascii_case(suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_covers_exactly_one_label() {
        let cases = [
            ("db.example.com", "db.example.com", true),
            ("DB.Example.com", "db.example.COM", true),
            ("*.example.com", "db.example.com", true),
            ("*.example.com", "a.db.example.com", false),
            ("*.example.com", "example.com", false),
            ("*.example.com", ".example.com", false),
            ("d*.example.com", "db.example.com", false),
            ("*", "db", false),
            ("*.", "db.", false),
            ("db.example.com\0.evil", "db.example.com", false),
        ];
        for (pattern, host, expected) in cases {
            assert_eq!(matches(pattern.as_bytes(), host), expected, "{pattern} {host}");
        }
    }
}
