//! The fleet protocol: what an agent and its coordinator say to each other.
//!
//! In reading order: the messages as strict domain types ([`message`]), numbering that survives a lost
//! connection ([`numbering`]), the two ends of the stream and of the one for logs ([`server`], [`client`]),
//! messages that have no stream ([`bytes`]), and what protects it ([`tls`]). Generated wire
//! types never leave this crate: every message is converted and checked where it arrives, and what does
//! not convert is a [`WireError`] that names the field.

pub mod bytes;
mod convert;
mod error;
mod stream;

pub mod client;
pub mod message;
pub mod numbering;
pub mod server;
pub mod tls;

pub use error::WireError;
pub use stream::{Incoming, ReceiveError};

/// Version of the protocol; both sides must have the same one. Raised by every change of a message.
pub const PROTOCOL_VERSION: u32 = 1;

/// Bound on one message in bytes. The totals of 20,000 clients with statements and the interval of 128
/// scripts with a full histogram each stay well below it.
pub const MAX_MESSAGE_BYTES: usize = 32 << 20;

/// Bound on a piece of a log in bytes: so much of an agent's logs is in memory at a time.
pub const MAX_CHUNK_BYTES: usize = 1 << 20;

#[allow(missing_docs, clippy::all, clippy::pedantic)]
pub(crate) mod wire {
    //! Generated from `pgsurge/v1/*.proto`.
    tonic::include_proto!("pgsurge.v1");

    impl std::fmt::Debug for Secret {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("***")
        }
    }
}
