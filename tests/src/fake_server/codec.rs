//! The server's half of PostgreSQL's protocol, as far as clients of a benchmark use it: frontend
//! messages in, backend messages out. Knows neither sockets nor what a statement means.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::answer::{Rows, Value};

/// The longest message that is taken; a longer one is junk.
const LONGEST: usize = 16 * 1024 * 1024;

/// The first message of a connection.
#[derive(Debug, PartialEq, Eq)]
pub enum First {
    /// Asks for TLS or GSSAPI encryption; both are declined with `N`.
    Encryption,
    /// Asks to cancel what a session is doing.
    Cancel {
        /// The session's process id.
        pid: i32,
        /// Its secret.
        key: i32,
    },
    /// Opens a session, with the parameters as sent.
    Startup(Vec<(String, String)>),
}

/// A message of a client in an open session.
#[derive(Debug, PartialEq, Eq)]
pub enum Frontend {
    /// One or more statements as text.
    Query(Bytes),
    /// A statement to prepare under a name, empty for the unnamed one.
    Parse {
        /// Its name.
        name: Bytes,
        /// Its text.
        sql: Bytes,
    },
    /// Values for a prepared statement.
    Bind {
        /// The portal's name.
        portal: Bytes,
        /// The statement's name.
        statement: Bytes,
        /// Whether results are wanted in binary form.
        binary: bool,
    },
    /// Asks what a statement (`S`) or portal (`P`) is like.
    Describe {
        /// `S` or `P`.
        kind: u8,
        /// Its name.
        name: Bytes,
    },
    /// Runs a portal.
    Execute {
        /// Its name.
        portal: Bytes,
    },
    /// Forgets a statement or portal.
    Close,
    /// Ends a group of messages.
    Sync,
    /// Asks for what has been answered so far.
    Flush,
    /// Says goodbye.
    Terminate,
    /// Anything that a benchmark does not send.
    Other(u8),
}

/// What arrived is not PostgreSQL's protocol.
#[derive(Debug, thiserror::Error)]
#[error("junk: {0}")]
pub struct Junk(&'static str);

/// Takes the first message off the buffer once it is there completely.
pub fn first(buffer: &mut BytesMut) -> Result<Option<First>, Junk> {
    let Some(mut body) = framed(buffer, 0)? else { return Ok(None) };
    if body.len() < 4 {
        return Err(Junk("a first message without a code"));
    }
    match body.get_i32() {
        80_877_103 | 80_877_104 => Ok(Some(First::Encryption)),
        80_877_102 if body.len() >= 8 => {
            Ok(Some(First::Cancel { pid: body.get_i32(), key: body.get_i32() }))
        }
        code if code >> 16 == 3 => {
            let mut parameters = Vec::new();
            while body.first().is_some_and(|byte| *byte != 0) {
                parameters.push((text(&mut body)?, text(&mut body)?));
            }
            Ok(Some(First::Startup(parameters)))
        }
        _ => Err(Junk("an unknown first message")),
    }
}

/// Takes the next message off the buffer once it is there completely.
pub fn next(buffer: &mut BytesMut) -> Result<Option<Frontend>, Junk> {
    let Some(tag) = buffer.first().copied() else { return Ok(None) };
    let Some(mut body) = framed(buffer, 1)? else { return Ok(None) };
    Ok(Some(match tag {
        b'Q' => Frontend::Query(cut(&mut body)?),
        b'P' => Frontend::Parse { name: cut(&mut body)?, sql: cut(&mut body)? },
        b'B' => bind(body)?,
        b'D' | b'C' if body.is_empty() => return Err(Junk("Describe or Close of nothing")),
        b'D' => Frontend::Describe { kind: body.get_u8(), name: cut(&mut body)? },
        b'E' => Frontend::Execute { portal: cut(&mut body)? },
        b'C' => Frontend::Close,
        b'S' => Frontend::Sync,
        b'H' => Frontend::Flush,
        b'X' => Frontend::Terminate,
        other => Frontend::Other(other),
    }))
}

/// The bytes of the next message, if they are there completely.
pub fn whole_frame(buffer: &[u8]) -> Option<&[u8]> {
    let length = u32::from_be_bytes(buffer.get(1..5)?.try_into().ok()?);
    buffer.get(..usize::try_from(length).ok()?.checked_add(1)?)
}

/// A message's body, after `tag` bytes and the length; `None` while it is incomplete.
fn framed(buffer: &mut BytesMut, tag: usize) -> Result<Option<Bytes>, Junk> {
    let Some(mut length) = buffer.get(tag..tag + 4) else { return Ok(None) };
    let length = length.get_u32() as usize;
    if !(4..=LONGEST).contains(&length) {
        return Err(Junk("an impossible length"));
    }
    if buffer.len() < tag + length {
        return Ok(None);
    }
    let mut message = buffer.split_to(tag + length).freeze();
    message.advance(tag + 4);
    Ok(Some(message))
}

fn bind(mut body: Bytes) -> Result<Frontend, Junk> {
    let (portal, statement) = (cut(&mut body)?, cut(&mut body)?);
    for _ in 0..number(&mut body)? {
        number(&mut body)?;
    }
    for _ in 0..number(&mut body)? {
        let length = body.try_get_i32().map_err(|_| Junk("Bind is too short"))?;
        let length = usize::try_from(length).unwrap_or(0); // -1 is NULL and has no bytes
        if body.len() < length {
            return Err(Junk("Bind is too short"));
        }
        body.advance(length);
    }
    let mut binary = false;
    for _ in 0..number(&mut body)? {
        binary = number(&mut body)? == 1;
    }
    Ok(Frontend::Bind { portal, statement, binary })
}

fn number(body: &mut Bytes) -> Result<i16, Junk> {
    body.try_get_i16().map_err(|_| Junk("Bind is too short"))
}

/// A zero-terminated string.
fn cut(body: &mut Bytes) -> Result<Bytes, Junk> {
    let end = body.iter().position(|byte| *byte == 0).ok_or(Junk("a string without an end"))?;
    let string = body.split_to(end);
    body.advance(1);
    Ok(string)
}

fn text(body: &mut Bytes) -> Result<String, Junk> {
    Ok(String::from_utf8_lossy(&cut(body)?).into_owned())
}

/// Appends one backend message whose body `fill` writes.
fn message(out: &mut BytesMut, tag: u8, fill: impl FnOnce(&mut BytesMut)) {
    out.put_u8(tag);
    let at = out.len();
    out.put_u32(0);
    fill(out);
    let length = u32::try_from(out.len() - at).expect("messages of tests are short");
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

fn string(out: &mut BytesMut, text: &str) {
    out.put_slice(text.as_bytes());
    out.put_u8(0);
}

/// `AuthenticationOk`, the parameters that clients look at, and the key for cancelling.
pub fn welcome(out: &mut BytesMut, server_version: &str, pid: i32, key: i32) {
    message(out, b'R', |m| m.put_i32(0));
    for (name, value) in [
        ("server_version", server_version),
        ("server_encoding", "UTF8"),
        ("client_encoding", "UTF8"),
        ("DateStyle", "ISO, MDY"),
        ("integer_datetimes", "on"),
        ("standard_conforming_strings", "on"),
        ("TimeZone", "UTC"),
    ] {
        message(out, b'S', |m| {
            string(m, name);
            string(m, value);
        });
    }
    message(out, b'K', |m| {
        m.put_i32(pid);
        m.put_i32(key);
    });
}

/// `ReadyForQuery` with the transaction state `I`, `T` or `E`.
pub fn ready(out: &mut BytesMut, state: u8) {
    message(out, b'Z', |m| m.put_u8(state));
}

/// A message that is its tag alone: `ParseComplete`, `BindComplete`, `CloseComplete`, `NoData`, ...
pub fn bare(out: &mut BytesMut, tag: u8) {
    message(out, tag, |_| ());
}

/// `CommandComplete`.
pub fn complete(out: &mut BytesMut, tag: &str) {
    message(out, b'C', |m| string(m, tag));
}

/// `ErrorResponse`.
pub fn error(out: &mut BytesMut, severity: &str, sqlstate: &str, text: &str) {
    message(out, b'E', |m| {
        for (field, value) in [(b'S', severity), (b'V', severity), (b'C', sqlstate), (b'M', text)] {
            m.put_u8(field);
            string(m, value);
        }
        m.put_u8(0);
    });
}

/// `ParameterDescription`: so many of them, each declared as text.
pub fn parameters(out: &mut BytesMut, count: usize) {
    message(out, b't', |m| {
        m.put_u16(u16::try_from(count).unwrap_or(u16::MAX));
        (0..count).for_each(|_| m.put_u32(Value::TEXT_OID));
    });
}

/// `RowDescription`.
pub fn description(out: &mut BytesMut, rows: &Rows, binary: bool) {
    message(out, b'T', |m| {
        m.put_u16(u16::try_from(rows.columns.len()).expect("answers are narrow"));
        for (name, oid) in &rows.columns {
            string(m, name);
            m.put_u32(0); // of no table
            m.put_i16(0);
            m.put_u32(*oid);
            m.put_i16(-1); // of any length
            m.put_i32(-1); // without a modifier
            m.put_i16(i16::from(binary));
        }
    });
}

/// One `DataRow` for each row.
pub fn data(out: &mut BytesMut, rows: &Rows, binary: bool) {
    for row in &rows.rows {
        message(out, b'D', |m| {
            m.put_u16(u16::try_from(row.len()).expect("answers are narrow"));
            for value in row {
                let at = m.len();
                m.put_i32(-1);
                if value.write(m, binary) {
                    let length = i32::try_from(m.len() - at - 4).expect("answers are short");
                    m[at..at + 4].copy_from_slice(&length.to_be_bytes());
                }
            }
        });
    }
}
