//! Logs on their way to the coordinator.

use pgsurge_common::ids::WorkerId;

use super::message::token;
use super::plan::run_id;
use crate::error::{WireError, text};
use crate::message::{LogPart, LogReceipt, LogSender};
use crate::{MAX_CHUNK_BYTES, wire};

impl From<LogSender> for wire::LogPart {
    fn from(sender: LogSender) -> Self {
        let LogSender { token, run } = sender;
        let sender = wire::LogSender { token: token.0, run_id: run.to_string() };
        Self { kind: Some(wire::log_part::Kind::Sender(sender)) }
    }
}

impl TryFrom<wire::LogPart> for LogSender {
    type Error = WireError;

    fn try_from(wire: wire::LogPart) -> Result<Self, WireError> {
        match wire.kind {
            Some(wire::log_part::Kind::Sender(wire::LogSender { token: bytes, run_id: run })) => {
                Ok(Self {
                    token: token(bytes, "LogSender.token")?,
                    run: run_id(run, "LogSender.run_id")?,
                })
            }
            _ => Err(WireError::Missing("LogPart.sender")),
        }
    }
}

impl From<LogPart> for wire::LogPart {
    fn from(part: LogPart) -> Self {
        use wire::log_part::Kind;
        let kind = match part {
            LogPart::File { process, worker } => {
                Kind::File(wire::LogFile { process, worker: worker.0 })
            }
            LogPart::Data(data) => Kind::Data(data),
            LogPart::End(LogReceipt { files, bytes }) => Kind::End(wire::LogEnd { files, bytes }),
            LogPart::Problem(problem) => Kind::Problem(problem),
        };
        Self { kind: Some(kind) }
    }
}

impl TryFrom<wire::LogPart> for LogPart {
    type Error = WireError;

    fn try_from(wire: wire::LogPart) -> Result<Self, WireError> {
        use wire::log_part::Kind;
        Ok(match wire.kind.ok_or(WireError::Missing("LogPart.kind"))? {
            Kind::Sender(_) => {
                return Err(WireError::invalid("LogPart.sender", &"not the first part"));
            }
            Kind::File(wire::LogFile { process, worker }) => {
                Self::File { process, worker: WorkerId(worker) }
            }
            Kind::Data(data) => match data.len() {
                0 => return Err(WireError::Missing("LogPart.data")),
                1..=MAX_CHUNK_BYTES => Self::Data(data),
                _ => return Err(WireError::invalid("LogPart.data", &"too long")),
            },
            Kind::End(wire::LogEnd { files, bytes }) => Self::End(LogReceipt { files, bytes }),
            Kind::Problem(problem) => Self::Problem(text(problem, "LogPart.problem")?),
        })
    }
}

impl From<LogReceipt> for wire::LogReceipt {
    fn from(receipt: LogReceipt) -> Self {
        let LogReceipt { files, bytes } = receipt;
        Self { files, bytes }
    }
}

impl From<wire::LogReceipt> for LogReceipt {
    fn from(wire: wire::LogReceipt) -> Self {
        let wire::LogReceipt { files, bytes } = wire;
        Self { files, bytes }
    }
}
