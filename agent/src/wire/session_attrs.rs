//! Whether a fresh session is of the wanted kind (`target_session_attrs`).
//!
//! Servers from 14 on report what is needed; older ones are asked.

use pgsurge_common::target::SessionAttrs;

use super::backend::Message;
use super::connection::Connection;
use super::error::ConnectError;

/// Refuses a session that is not of the wanted kind.
pub(super) async fn check(
    connection: &mut Connection,
    wanted: SessionAttrs,
) -> Result<(), ConnectError> {
    let complaint = match wanted {
        SessionAttrs::ReadWrite if read_only(connection).await? => "session is read-only",
        SessionAttrs::ReadOnly if !read_only(connection).await? => "session is not read-only",
        SessionAttrs::Primary if hot_standby(connection).await? => "server is in hot standby mode",
        SessionAttrs::Standby if !hot_standby(connection).await? => {
            "server is not in hot standby mode"
        }
        _ => return Ok(()),
    };
    Err(ConnectError::new("attributes", complaint))
}

async fn read_only(connection: &mut Connection) -> Result<bool, ConnectError> {
    let about = connection.about();
    if let (Some(standby), Some(read_only)) = (about.in_hot_standby, about.default_read_only) {
        return Ok(standby || read_only);
    }
    Ok(ask(connection, b"SHOW transaction_read_only").await? == b"on")
}

async fn hot_standby(connection: &mut Connection) -> Result<bool, ConnectError> {
    if let Some(standby) = connection.about().in_hot_standby {
        return Ok(standby);
    }
    Ok(ask(connection, b"SELECT pg_catalog.pg_is_in_recovery()").await? == b"t")
}

/// The first value that `query` returns.
async fn ask(connection: &mut Connection, query: &[u8]) -> Result<Vec<u8>, ConnectError> {
    connection.query(query)?;
    connection.flush().await?;
    let mut answer = Vec::new();
    loop {
        match connection.next_message().await? {
            Message::DataRow(row) => {
                if let Some(value) = row.values().next() {
                    answer = value?.unwrap_or_default().to_vec();
                }
            }
            Message::Error(fields) => return Err(ConnectError::server(fields.to_error())),
            Message::ReadyForQuery(_) => return Ok(answer),
            _ => {}
        }
    }
}
