//! Messages from the server, borrowed from the bytes that were read.
//!
//! Pure: no socket, no allocation. Whatever the bytes are, decoding ends in a message or in a protocol
//! error, never in a panic.

use super::error::WireError;
use super::fields::ErrorFields;

/// Tag and length that stand before each message.
const HEADER: usize = 5;

/// Longest message of the kinds that are short by nature; what claims more is not this protocol.
const SHORT_LIMIT: usize = 30_000;

/// Length of the first message in `bytes` with its header, or `None` until the header is there.
pub fn frame_length(bytes: &[u8]) -> Result<Option<usize>, WireError> {
    let [tag, a, b, c, d, ..] = *bytes else {
        return Ok(None);
    };
    let length = usize::try_from(i32::from_be_bytes([a, b, c, d])).unwrap_or(0);
    let long_by_nature = matches!(tag, b'T' | b'D' | b'd' | b'V' | b'E' | b'N' | b'A' | b't');
    if !tag.is_ascii_alphanumeric() || length < 4 || (length > SHORT_LIMIT && !long_by_nature) {
        return Err(WireError::protocol(format!(
            "message of type 0x{tag:02x} with length {length} is not PostgreSQL's protocol"
        )));
    }
    Ok(Some(length + 1))
}

/// One message of the server.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// A Parse succeeded.
    ParseComplete,
    /// A Bind succeeded.
    BindComplete,
    /// A Close succeeded.
    CloseComplete,
    /// The described portal returns no rows.
    NoData,
    /// A row limit was reached.
    PortalSuspended,
    /// The query string was empty.
    EmptyQuery,
    /// The columns of the rows to come.
    RowDescription(RowDescription<'a>),
    /// One row.
    DataRow(DataRow<'a>),
    /// A statement is complete; its tag, as `SELECT 1`.
    CommandComplete(&'a [u8]),
    /// The server refused something.
    Error(ErrorFields<'a>),
    /// The server remarks something.
    Notice(ErrorFields<'a>),
    /// The round trip is over.
    ReadyForQuery(TransactionStatus),
    /// COPY FROM STDIN waits for data.
    CopyIn,
    /// COPY TO STDOUT will send data.
    CopyOut,
    /// Streaming replication began.
    CopyBoth,
    /// Data of a COPY TO STDOUT.
    CopyData(&'a [u8]),
    /// The end of a COPY.
    CopyDone,
    /// A setting that the server reports.
    ParameterStatus {
        /// Its name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// What a `CancelRequest` needs.
    BackendKey {
        /// The server process; on a direct connection the backend's own.
        process: i32,
        /// The key.
        secret: i32,
    },
    /// A step of authentication: its code and its data.
    Authentication(i32, &'a [u8]),
    /// A message that needs no answer (NOTIFY, parameter types, protocol negotiation); its tag.
    Other(u8),
}

/// State of the transaction block after a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// Outside of a block.
    Idle,
    /// In a block.
    InBlock,
    /// In a block that failed.
    Failed,
}

impl<'a> Message<'a> {
    /// Decodes one whole message of the length that [`frame_length`] gave.
    pub fn decode(frame: &'a [u8]) -> Result<Self, WireError> {
        let (Some(&tag), Some(body)) = (frame.first(), frame.get(HEADER..)) else {
            return Err(WireError::protocol("message without header"));
        };
        let mut reader = Reader(body);
        Ok(match tag {
            b'1' => Self::ParseComplete,
            b'2' => Self::BindComplete,
            b'3' => Self::CloseComplete,
            b'n' => Self::NoData,
            b's' => Self::PortalSuspended,
            b'I' => Self::EmptyQuery,
            b'T' => Self::RowDescription(RowDescription { count: reader.count()?, body: reader.0 }),
            b'D' => Self::DataRow(DataRow { count: reader.count()?, body: reader.0 }),
            b'C' => Self::CommandComplete(reader.string()?),
            b'E' => Self::Error(ErrorFields::new(body)),
            b'N' => Self::Notice(ErrorFields::new(body)),
            b'Z' => Self::ReadyForQuery(TransactionStatus::decode(reader.byte()?)?),
            b'G' => Self::CopyIn,
            b'H' => Self::CopyOut,
            b'W' => Self::CopyBoth,
            b'd' => Self::CopyData(body),
            b'c' => Self::CopyDone,
            b'S' => Self::ParameterStatus { name: reader.string()?, value: reader.string()? },
            b'K' => Self::BackendKey { process: reader.int()?, secret: reader.int()? },
            b'R' => Self::Authentication(reader.int()?, reader.0),
            b'A' | b't' | b'v' | b'V' => Self::Other(tag),
            _ => {
                return Err(WireError::protocol(format!(
                    "message of unknown type 0x{tag:02x} from the server"
                )));
            }
        })
    }
}

impl TransactionStatus {
    fn decode(byte: u8) -> Result<Self, WireError> {
        match byte {
            b'I' => Ok(Self::Idle),
            b'T' => Ok(Self::InBlock),
            b'E' => Ok(Self::Failed),
            _ => Err(WireError::protocol(format!("unknown transaction status 0x{byte:02x}"))),
        }
    }
}

/// The columns of a result.
#[derive(Clone, Copy, Debug)]
pub struct RowDescription<'a> {
    count: usize,
    body: &'a [u8],
}

impl<'a> RowDescription<'a> {
    /// Number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the result has no column at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Column names in order.
    pub fn names(&self) -> impl Iterator<Item = Result<&'a [u8], WireError>> + use<'a> {
        let mut reader = Reader(self.body);
        (0..self.count).map(move |_| {
            let name = reader.string()?;
            reader.bytes(COLUMN_ATTRIBUTES)?;
            Ok(name)
        })
    }
}

/// Table, column number, type, size, modifier and format of a column.
const COLUMN_ATTRIBUTES: usize = 4 + 2 + 4 + 2 + 4 + 2;

/// One row of a result.
#[derive(Clone, Copy, Debug)]
pub struct DataRow<'a> {
    count: usize,
    body: &'a [u8],
}

impl<'a> DataRow<'a> {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether the row has no value at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The values in order; `None` is NULL.
    pub fn values(&self) -> impl Iterator<Item = Result<Option<&'a [u8]>, WireError>> + use<'a> {
        let mut reader = Reader(self.body);
        (0..self.count).map(move |_| {
            let length = reader.int()?;
            match usize::try_from(length) {
                Ok(length) => reader.bytes(length).map(Some),
                Err(_) => Ok(None),
            }
        })
    }
}

/// Takes fields off the front of a message.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// The next `length` bytes.
    pub(super) fn bytes(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    /// A byte.
    pub(super) fn byte(&mut self) -> Result<u8, WireError> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    /// A 16 bit count.
    fn count(&mut self) -> Result<usize, WireError> {
        self.bytes(2).map(|bytes| usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    }

    /// A 32 bit integer.
    pub(super) fn int(&mut self) -> Result<i32, WireError> {
        self.bytes(4).map(|b| i32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// A string, without its terminating NUL.
    pub(super) fn string(&mut self) -> Result<&'a [u8], WireError> {
        let end = self.0.iter().position(|&byte| byte == 0).ok_or_else(truncated)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Ok(text)
    }
}

fn truncated() -> WireError {
    WireError::protocol("message from the server is shorter than its contents")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    /// Takes apart everything that a message offers.
    fn drain(message: &Message<'_>) {
        match message {
            Message::RowDescription(columns) => columns.names().for_each(drop),
            Message::DataRow(row) => row.values().for_each(drop),
            Message::Error(fields) | Message::Notice(fields) => {
                drop(fields.to_error().render(Some(b"select 1")));
            }
            _ => {}
        }
    }

    fn frame(tag: u8, body: &[u8]) -> Vec<u8> {
        let mut frame = vec![tag];
        frame.extend_from_slice(&i32::try_from(body.len() + 4).unwrap().to_be_bytes());
        frame.extend_from_slice(body);
        frame
    }

    #[test]
    fn a_row_gives_its_values_and_tells_null_from_empty() {
        let bytes = frame(b'D', b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0");
        let Message::DataRow(row) = Message::decode(&bytes).unwrap() else { panic!("no row") };
        let values: Vec<_> = row.values().map(Result::unwrap).collect();
        assert_eq!(values, [Some(&b"ab"[..]), None, Some(&b""[..])]);
    }

    #[test]
    fn a_row_shorter_than_it_says_is_a_protocol_error() {
        let bytes = frame(b'D', b"\0\x02\0\0\0\x02ab");
        let Message::DataRow(row) = Message::decode(&bytes).unwrap() else { panic!("no row") };
        assert_eq!(row.values().filter(Result::is_err).count(), 1);
    }

    #[test]
    fn a_length_no_short_message_has_is_refused_before_it_is_waited_for() {
        assert!(frame_length(b"HTTP/1.1 400").is_err());
        assert!(frame_length(b"Z\0\0\0\x03").is_err());
        assert!(frame_length(b"Z\xff\xff\xff\xff").is_err());
        assert!(frame_length(b"Z\0\0\0").unwrap().is_none());
        assert_eq!(frame_length(b"Z\0\0\0\x05I").unwrap(), Some(6));
    }

    proptest! {
        #[test]
        fn junk_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(Some(length)) = frame_length(&bytes)
                && let Some(frame) = bytes.get(..length)
                && let Ok(message) = Message::decode(frame)
            {
                drain(&message);
            }
            let _ = Message::decode(&bytes).map(|message| drain(&message));
        }

        #[test]
        fn junk_in_a_well_formed_frame_never_panics(
            tag in proptest::sample::select(&b"123nsITDCENZGHWdcSKRAtvV"[..]),
            body in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let bytes = frame(tag, &body);
            prop_assert_eq!(frame_length(&bytes).unwrap(), Some(bytes.len()));
            if let Ok(message) = Message::decode(&bytes) {
                drain(&message);
            }
        }
    }
}
