//! Messages to the server, appended to one buffer.
//!
//! Pure: no socket. What cannot be said in the protocol (a NUL byte inside a string, too many
//! parameters) is refused and leaves the buffer as it was.

use super::error::WireError;

/// Appends one message: its tag, its length, and what `body` writes.
pub fn message<E>(
    out: &mut Vec<u8>,
    tag: u8,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<WireError>,
{
    let start = out.len();
    out.extend_from_slice(&[tag, 0, 0, 0, 0]);
    let written = body(out).and_then(|()| {
        let length = out.len() - start - 1;
        i32::try_from(length).map_err(|_| E::from(WireError::protocol("message longer than 2 GiB")))
    });
    match written {
        Ok(length) => {
            out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
            Ok(())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// Appends a string with its terminating NUL.
pub fn string(out: &mut Vec<u8>, text: &[u8]) -> Result<(), WireError> {
    let start = out.len();
    out.extend_from_slice(text);
    terminate_string(out, start)
}

/// Ends the string that was written from `start` on.
pub fn terminate_string(out: &mut Vec<u8>, start: usize) -> Result<(), WireError> {
    if out[start..].contains(&0) {
        return Err(WireError::protocol("text for the server contains a NUL byte"));
    }
    out.push(0);
    Ok(())
}

/// Query: one string with one or more statements.
pub fn query(out: &mut Vec<u8>, sql: &[u8]) -> Result<(), WireError> {
    query_with(out, |out| {
        out.extend_from_slice(sql);
        Ok(())
    })
}

/// Query whose text is written straight into the buffer.
pub fn query_with<E>(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<WireError>,
{
    message(out, b'Q', |out| {
        let start = out.len();
        write(out)?;
        Ok(terminate_string(out, start)?)
    })
}

/// Parse without parameter types: the server infers them.
pub fn parse(out: &mut Vec<u8>, name: &[u8], sql: &[u8]) -> Result<(), WireError> {
    message(out, b'P', |out| {
        string(out, name)?;
        string(out, sql)?;
        out.extend_from_slice(&[0, 0]);
        Ok(())
    })
}

/// Bind to the unnamed portal: text parameters, text results. `write` is called for each parameter in
/// order and appends its text, or returns `false` for NULL.
pub fn bind_with<E>(
    out: &mut Vec<u8>,
    statement: &[u8],
    parameters: usize,
    mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<bool, E>,
) -> Result<(), E>
where
    E: From<WireError>,
{
    let count = u16::try_from(parameters)
        .map_err(|_| WireError::protocol("more than 65535 parameters in one statement"))?;
    message(out, b'B', |out| {
        out.push(0);
        string(out, statement)?;
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&count.to_be_bytes());
        for index in 0..parameters {
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            let length = if write(index, out)? {
                i32::try_from(out.len() - start - 4)
                    .map_err(|_| WireError::protocol("parameter longer than 2 GiB"))?
            } else {
                out.truncate(start + 4);
                -1
            };
            out[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
        out.extend_from_slice(&[0, 0]);
        Ok(())
    })
}

/// Bind with parameters at hand.
pub fn bind<'a>(
    out: &mut Vec<u8>,
    statement: &[u8],
    parameters: impl ExactSizeIterator<Item = Option<&'a [u8]>>,
) -> Result<(), WireError> {
    let mut parameters = parameters;
    bind_with(out, statement, parameters.len(), |_, out| {
        let value = parameters.next().flatten();
        out.extend_from_slice(value.unwrap_or_default());
        Ok(value.is_some())
    })
}

/// Describe of the unnamed portal.
pub fn describe_portal(out: &mut Vec<u8>) {
    out.extend_from_slice(b"D\0\0\0\x06P\0");
}

/// Execute of the unnamed portal, all rows.
pub fn execute(out: &mut Vec<u8>) {
    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
}

/// Sync.
pub fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(b"S\0\0\0\x04");
}

/// `CopyFail`, which ends a COPY FROM STDIN that nobody can feed.
pub fn copy_fail(out: &mut Vec<u8>, reason: &[u8]) -> Result<(), WireError> {
    message(out, b'f', |out| string(out, reason))
}

/// Terminate.
pub fn terminate(out: &mut Vec<u8>) {
    out.extend_from_slice(b"X\0\0\0\x04");
}

/// `PasswordMessage`, also used for the clear text and md5 answers.
pub fn password(out: &mut Vec<u8>, password: &[u8]) -> Result<(), WireError> {
    message(out, b'p', |out| string(out, password))
}

/// `SASLInitialResponse`.
pub fn sasl_initial(out: &mut Vec<u8>, mechanism: &str, data: &[u8]) -> Result<(), WireError> {
    message(out, b'p', |out| {
        string(out, mechanism.as_bytes())?;
        let length =
            i32::try_from(data.len()).map_err(|_| WireError::protocol("SASL message too long"))?;
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(data);
        Ok(())
    })
}

/// `SASLResponse`.
pub fn sasl_response(out: &mut Vec<u8>, data: &[u8]) -> Result<(), WireError> {
    message(out, b'p', |out| {
        out.extend_from_slice(data);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use bytes::BytesMut;
    use postgres_protocol::IsNull;
    use postgres_protocol::message::frontend as reference;
    use proptest::prelude::*;

    use super::*;

    /// What `postgres-protocol` writes for the same message.
    fn reference(write: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
        let mut buf = BytesMut::new();
        write(&mut buf);
        buf.to_vec()
    }

    #[test]
    fn fixed_messages_equal_those_of_the_reference_encoder() {
        let mut out = Vec::new();
        describe_portal(&mut out);
        execute(&mut out);
        sync(&mut out);
        terminate(&mut out);
        copy_fail(&mut out, b"no").unwrap();
        password(&mut out, b"pw").unwrap();
        sasl_initial(&mut out, "SCRAM-SHA-256", b"data").unwrap();
        sasl_response(&mut out, b"more").unwrap();
        let expected = reference(|buf| {
            reference::describe(b'P', "", buf).unwrap();
            reference::execute("", 0, buf).unwrap();
            reference::sync(buf);
            reference::terminate(buf);
            reference::copy_fail("no", buf).unwrap();
            reference::password_message(b"pw", buf).unwrap();
            reference::sasl_initial_response("SCRAM-SHA-256", b"data", buf).unwrap();
            reference::sasl_response(b"more", buf).unwrap();
        });
        assert_eq!(out, expected);
    }

    #[test]
    fn a_nul_byte_is_refused_and_leaves_the_buffer_as_it_was() {
        let mut out = b"before".to_vec();
        assert!(query(&mut out, b"select \0").is_err());
        assert!(parse(&mut out, b"P\0", b"select").is_err());
        assert_eq!(out, b"before");
    }

    proptest! {
        #[test]
        fn query_parse_and_bind_equal_those_of_the_reference_encoder(
            sql in "[^\0]{0,200}",
            name in "[a-zA-Z_0-9]{0,20}",
            parameters in proptest::collection::vec(proptest::option::of(".{0,30}"), 0..10),
        ) {
            let mut out = Vec::new();
            query(&mut out, sql.as_bytes()).unwrap();
            parse(&mut out, name.as_bytes(), sql.as_bytes()).unwrap();
            let values = parameters.iter().map(|p| p.as_deref().map(str::as_bytes));
            bind(&mut out, name.as_bytes(), values).unwrap();
            let expected = reference(|buf| {
                reference::query(&sql, buf).unwrap();
                reference::parse(&name, &sql, [], buf).unwrap();
                let write = |value: &Option<String>, buf: &mut BytesMut| {
                    let Some(value) = value else { return Ok(IsNull::Yes) };
                    buf.extend_from_slice(value.as_bytes());
                    Ok(IsNull::No)
                };
                assert!(reference::bind("", &name, [], &parameters, write, [], buf).is_ok());
            });
            prop_assert_eq!(out, expected);
        }
    }
}
