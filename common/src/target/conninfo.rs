//! Keyword strings: `host=db port=5432 password='it''s'` with libpq's quoting.

use super::error::TargetError;
use super::options::Options;

/// Reads a keyword string. A later value of an option replaces an earlier one.
pub(super) fn parse(text: &str) -> Result<Options, TargetError> {
    let mut options = Options::default();
    let mut rest = text.trim_start_matches(blank);
    // A stray word after a secret may be a part of it, so it is not repeated in errors.
    let mut after_secret = false;
    while !rest.is_empty() {
        let end = rest.find(|c| c == '=' || blank(c)).unwrap_or(rest.len());
        let name = &rest[..end];
        let shown = if after_secret { "***" } else { name };
        let Some(value) = rest[end..].trim_start_matches(blank).strip_prefix('=') else {
            let message = format!("missing \"=\" after \"{shown}\" in connection info string");
            return Err(TargetError::Syntax(message));
        };
        let (value, after) = take_value(value.trim_start_matches(blank))?;
        options.set(name, value).map_err(|error| match error {
            TargetError::UnknownOption(_) => TargetError::UnknownOption(shown.to_owned()),
            other => other,
        })?;
        after_secret |= name.contains("password") || name.contains("secret");
        rest = after.trim_start_matches(blank);
    }
    Ok(options)
}

/// Takes one value off the front: quoted, or up to the next blank; a backslash takes the next character
/// as it is in both.
fn take_value(text: &str) -> Result<(String, &str), TargetError> {
    let (quoted, text) = match text.strip_prefix('\'') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            '\'' if quoted => return Ok((value, &text[at + 1..])),
            c if !quoted && blank(c) => return Ok((value, &text[at..])),
            c => value.push(c),
        }
    }
    if quoted {
        let message = "unterminated quoted string in connection info string";
        return Err(TargetError::Syntax(message.to_owned()));
    }
    Ok((value, ""))
}

/// What C's `isspace` takes for a blank.
fn blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_quoted_and_escaped_as_in_libpq() {
        let cases = [
            ("host=a port=1", "a", "1"),
            ("  host = a\tport\n=\n1  ", "a", "1"),
            ("host='a b' port='1'", "a b", "1"),
            (r"host='it\'s \\' port=1", r"it's \", "1"),
            (r"host=a\ b port=1", "a b", "1"),
            ("host= port=1", "port=1", ""),
            ("host='' port=1", "", "1"),
            ("host=a=b port=1", "a=b", "1"),
            ("host='a'port=1", "a", "1"),
            ("host=x port=1 host=a", "a", "1"),
        ];
        for (text, host, port) in cases {
            let options = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(options.get("host"), Some(host), "{text}");
            assert_eq!(options.get("port").unwrap_or_default(), port, "{text}");
        }
    }

    #[test]
    fn errors_read_as_libpqs() {
        let cases = [
            ("host", "missing \"=\" after \"host\" in connection info string"),
            ("host=a port", "missing \"=\" after \"port\" in connection info string"),
            ("host='a", "unterminated quoted string in connection info string"),
            ("hots=a", "invalid connection option \"hots\""),
            ("password=my own secret", "missing \"=\" after \"***\" in connection info string"),
            ("password=my own=secret", "invalid connection option \"***\""),
        ];
        for (text, message) in cases {
            let error = parse(text).err().map(|error| error.to_string());
            assert_eq!(error.as_deref(), Some(message), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_value_survives_quoting(value in ".{0,40}") {
            let quoted = value.replace('\\', r"\\").replace('\'', r"\'");
            let options = parse(&format!("user='{quoted}' host=h")).unwrap();
            prop_assert_eq!(options.get("user"), Some(&value[..]));
        }

        #[test]
        fn junk_never_panics(text in ".{0,80}") {
            let _ = Options::parse(&text);
        }
    }
}
