//! Connection URIs: `postgresql://user:password@host:port,host:port/database?option=value`.
//!
//! Errors name the part that is wrong and never quote the whole, since it may hold a password.

use super::error::TargetError;
use super::options::Options;

/// What follows the scheme, if `text` is a URI.
pub(super) fn without_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"))
}

/// Reads a URI without its scheme.
pub(super) fn parse(text: &str) -> Result<Options, TargetError> {
    let mut options = Options::default();
    let authority_end = text.find(['/', '@']).unwrap_or(text.len());
    let mut rest = text;
    if let Some(after) = text[authority_end..].strip_prefix('@') {
        let (user, password) = split(&text[..authority_end], ':');
        set_if_filled(&mut options, "user", user)?;
        if let Some(password) = password {
            options.set("password", decode(password, "password")?)?;
        }
        rest = after;
    }
    rest = parse_hosts(&mut options, rest)?;
    if let Some(path) = rest.strip_prefix('/') {
        let end = path.find('?').unwrap_or(path.len());
        set_if_filled(&mut options, "dbname", &path[..end])?;
        rest = &path[end..];
    }
    if let Some(query) = rest.strip_prefix('?') {
        parse_query(&mut options, query)?;
    }
    Ok(options)
}

/// Reads `host:port,host:port`; what follows begins with `/` or `?` or is empty.
fn parse_hosts<'a>(options: &mut Options, text: &'a str) -> Result<&'a str, TargetError> {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    let mut rest = text;
    loop {
        let host;
        (host, rest) = take_host(rest)?;
        hosts.push(host);
        let mut port = "";
        if let Some(after) = rest.strip_prefix(':') {
            let end = after.find(['/', '?', ',']).unwrap_or(after.len());
            (port, rest) = after.split_at(end);
        }
        ports.push(port);
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => break,
        }
    }
    set_if_filled(options, "host", &hosts.join(","))?;
    let ports = ports.join(",");
    set_if_filled(options, "port", &ports)?;
    Ok(rest)
}

/// Takes a host name, or an address in brackets, off the front.
fn take_host(text: &str) -> Result<(&str, &str), TargetError> {
    let Some(address) = text.strip_prefix('[') else {
        let end = text.find([':', '/', '?', ',']).unwrap_or(text.len());
        return Ok(text.split_at(end));
    };
    let Some((address, after)) = address.split_once(']') else {
        let message = "end of string reached when looking for matching \"]\" in IPv6 host address \
                       in URI";
        return Err(TargetError::Syntax(message.to_owned()));
    };
    if address.is_empty() {
        let message = "IPv6 host address may not be empty in URI";
        return Err(TargetError::Syntax(message.to_owned()));
    }
    match after.chars().next() {
        None | Some(':' | '/' | '?' | ',') => Ok((address, after)),
        Some(other) => Err(TargetError::Syntax(format!(
            "unexpected character \"{other}\" after \"]\" in URI (expected \":\" or \"/\")"
        ))),
    }
}

fn parse_query(options: &mut Options, query: &str) -> Result<(), TargetError> {
    if query.is_empty() {
        return Ok(());
    }
    for parameter in query.split('&') {
        let (name, value) = split(parameter, '=');
        let name = decode(name, "parameter name")?;
        let Some(value) = value else {
            let message =
                format!("missing key/value separator \"=\" in URI query parameter: \"{name}\"");
            return Err(TargetError::Syntax(message));
        };
        if value.contains('=') {
            let message =
                format!("extra key/value separator \"=\" in URI query parameter: \"{name}\"");
            return Err(TargetError::Syntax(message));
        }
        let value = decode(value, &name)?;
        // The way of JDBC.
        let result = if name == "ssl" && value == "true" {
            options.set("sslmode", "require".to_owned())
        } else {
            options.set(&name, value)
        };
        result.map_err(|error| match error {
            TargetError::UnknownOption(name) => {
                TargetError::Syntax(format!("invalid URI query parameter: \"{name}\""))
            }
            other => other,
        })?;
    }
    Ok(())
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(left, right)| (left, Some(right)))
}

fn set_if_filled(options: &mut Options, name: &'static str, text: &str) -> Result<(), TargetError> {
    if text.is_empty() { Ok(()) } else { options.set(name, decode(text, name)?) }
}

/// Takes percent-encoding apart.
fn decode(text: &str, part: &str) -> Result<String, TargetError> {
    let mut bytes = text.as_bytes();
    while let Some(at) = bytes.iter().position(|&byte| byte == b'%') {
        match bytes.get(at + 1..at + 3) {
            Some(b"00") => {
                let message = format!("forbidden value %00 in percent-encoded {part}");
                return Err(TargetError::Syntax(message));
            }
            Some(token) if token.iter().all(u8::is_ascii_hexdigit) => bytes = &bytes[at + 3..],
            _ => {
                let message = format!("invalid percent-encoded token in {part}");
                return Err(TargetError::Syntax(message));
            }
        }
    }
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8();
    let decoded =
        decoded.map_err(|_| TargetError::Syntax(format!("percent-encoded {part} is not UTF-8")))?;
    Ok(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    /// What a URI sets, as `name=value` in order of names.
    fn read(uri: &str) -> String {
        let options = match parse(without_scheme(uri).unwrap()) {
            Ok(options) => options,
            Err(error) => return error.to_string(),
        };
        let names = [
            "dbname",
            "host",
            "hostaddr",
            "password",
            "port",
            "sslmode",
            "user",
            "application_name",
        ];
        let shown = names.iter().filter_map(|n| options.get(n).map(|value| format!("{n}={value}")));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn uris_are_read_as_in_libpq() {
        let cases = [
            ("postgresql://", ""),
            ("postgres://localhost", "host=localhost"),
            ("postgresql://localhost:5433", "host=localhost port=5433"),
            ("postgresql://localhost/mydb", "dbname=mydb host=localhost"),
            ("postgresql://user@localhost", "host=localhost user=user"),
            ("postgresql://user:secret@localhost", "host=localhost password=secret user=user"),
            ("postgresql://u:@h", "host=h password= user=u"),
            ("postgresql://:pw@h", "host=h password=pw"),
            (
                "postgresql://other@localhost/otherdb?connect_timeout=10&application_name=my%20app",
                "dbname=otherdb host=localhost user=other application_name=my app",
            ),
            ("postgresql://h1:123,h2:456/db", "dbname=db host=h1,h2 port=123,456"),
            ("postgresql://h1,h2:456", "host=h1,h2 port=,456"),
            ("postgresql:///mydb?host=localhost&port=5433", "dbname=mydb host=localhost port=5433"),
            ("postgresql://[2001:db8::1234]/database", "dbname=database host=2001:db8::1234"),
            ("postgresql://[::1]:12345,[::2]", "host=::1,::2 port=12345,"),
            (
                "postgresql://%2Fvar%2Flib%2Fpostgresql/dbname",
                "dbname=dbname host=/var/lib/postgresql",
            ),
            ("postgresql:///?host=/tmp", "host=/tmp"),
            ("postgresql://h?user=u", "host=h user=u"),
            ("postgresql://h?ssl=true", "host=h sslmode=require"),
            ("postgresql://u%40x:p%3aw%25@h", "host=h password=p:w% user=u@x"),
            ("postgresql://h/a%2fb", "dbname=a/b host=h"),
            ("postgresql://h/db?", "dbname=db host=h"),
            ("postgresql://h:/db", "dbname=db host=h"),
        ];
        for (uri, expected) in cases {
            assert_eq!(read(uri), expected, "{uri}");
        }
    }

    #[test]
    fn errors_name_the_part_and_hide_the_rest() {
        let cases = [
            (
                "postgresql://u:secret@[::1",
                "end of string reached when looking for matching \"]\" in IPv6 host address in URI",
            ),
            ("postgresql://[]", "IPv6 host address may not be empty in URI"),
            (
                "postgresql://u:secret@[::1]x",
                "unexpected character \"x\" after \"]\" in URI (expected \":\" or \"/\")",
            ),
            ("postgresql://u:secr%zz@h", "invalid percent-encoded token in password"),
            ("postgresql://u:secr%4", "invalid percent-encoded token in port"),
            ("postgresql://u:se%00@h", "forbidden value %00 in percent-encoded password"),
            (
                "postgresql://h?zzz",
                "missing key/value separator \"=\" in URI query parameter: \"zzz\"",
            ),
            (
                "postgresql://h?user=a=b",
                "extra key/value separator \"=\" in URI query parameter: \"user\"",
            ),
            ("postgresql://h?nope=1", "invalid URI query parameter: \"nope\""),
            ("postgresql://h/%ff", "percent-encoded dbname is not UTF-8"),
        ];
        for (uri, expected) in cases {
            assert_eq!(read(uri), expected, "{uri}");
        }
    }

    proptest! {
        #[test]
        fn any_name_survives_percent_encoding(user in "[^\0]{1,20}", password in "[^\0]{1,20}") {
            let encode = |text: &str| {
                percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC)
                    .to_string()
            };
            let uri = format!("{}:{}@h/db", encode(&user), encode(&password));
            let options = parse(&uri).unwrap();
            prop_assert_eq!(options.get("user"), Some(&user[..]));
            prop_assert_eq!(options.get("password"), Some(&password[..]));
        }
    }
}
