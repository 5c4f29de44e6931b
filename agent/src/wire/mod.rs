//! `PostgreSQL`'s frontend protocol for the hot path.
//!
//! In reading order: bytes out ([`frontend`]), bytes in ([`backend`], [`fields`]), what can go wrong
//! ([`error`]), one session ([`Connection`], over a `stream`, read through its `inbox`), and how a session
//! comes about ([`Connector`], `places`, `tls`, `startup`, `scram`, `session_attrs`) or is interrupted
//! ([`CancelToken`]).
//!
//! Knows nothing of scripts, clients or statistics. Keeps: one write and one read system call a round
//! trip, no allocation per transaction, no panic on anything that a server sends.

pub mod backend;
mod cancel;
mod connection;
mod connector;
pub mod error;
pub mod fields;
pub mod frontend;
mod inbox;
mod order;
mod peer;
mod places;
mod scram;
mod session_attrs;
mod startup;
mod stream;
mod tls;

pub use backend::{DataRow, Message, RowDescription, TransactionStatus};
pub use cancel::CancelToken;
pub use connection::Connection;
pub use connector::Connector;
pub(crate) use error::errno_name;
pub use error::{ConnectError, WireError};
pub use fields::{ErrorFields, ServerError};
pub use scram::exchange_with;
