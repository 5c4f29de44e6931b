//! Messages as the bytes of one gRPC frame, for whoever has them from elsewhere than a connection.
//!
//! The same decoding and the same checks as on the stream; knows no transport.

use prost::Message;

use crate::message::{AgentMessage, CoordinatorMessage};
use crate::stream::ReceiveError;
use crate::wire;

/// The message of an agent in these bytes.
///
/// # Errors
/// They are no message, or one that does not convert.
pub fn agent_message(bytes: &[u8]) -> Result<AgentMessage, ReceiveError> {
    Ok(wire::AgentMessage::decode(bytes).map_err(|error| broken(&error))?.try_into()?)
}

/// The message of a coordinator in these bytes.
///
/// # Errors
/// They are no message, or one that does not convert.
pub fn coordinator_message(bytes: &[u8]) -> Result<CoordinatorMessage, ReceiveError> {
    Ok(wire::CoordinatorMessage::decode(bytes).map_err(|error| broken(&error))?.try_into()?)
}

/// The bytes of an agent's message.
#[must_use]
pub fn of_agent(message: AgentMessage) -> Vec<u8> {
    wire::AgentMessage::from(message).encode_to_vec()
}

/// The bytes of a coordinator's message.
#[must_use]
pub fn of_coordinator(message: CoordinatorMessage) -> Vec<u8> {
    wire::CoordinatorMessage::from(message).encode_to_vec()
}

fn broken(error: &prost::DecodeError) -> ReceiveError {
    ReceiveError::Garbled(error.to_string())
}
