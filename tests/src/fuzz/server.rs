//! What a server sends.

use pgsurge_agent::wire::backend::frame_length;
use pgsurge_agent::wire::{Message, exchange_with};

/// A stream of messages, as far as it is one.
pub fn backend(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(length)) = frame_length(rest) {
        assert!(length > 4, "a message has a tag and a length");
        let Some((frame, behind)) = rest.split_at_checked(length) else { break };
        if let Ok(message) = Message::decode(frame) {
            take_apart(&message);
        }
        rest = behind;
    }
}

fn take_apart(message: &Message<'_>) {
    match message {
        Message::RowDescription(columns) => assert!(columns.names().count() == columns.len()),
        Message::DataRow(row) => assert!(row.values().count() == row.len()),
        Message::Error(fields) | Message::Notice(fields) => {
            let error = fields.to_error();
            assert_eq!(error.sqlstate().len(), 5);
            drop((error.render(None), error.render(Some(b"select :a\nfrom b\twhere c"))));
        }
        _ => {}
    }
}

/// The server's two messages of a SCRAM exchange, divided by a line break.
pub fn scram(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let (first, last) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let _ = exchange_with(first, last);
}
