//! What is said on the stream apart from the run.

use std::time::Duration;

use super::plan::run_id;
use crate::error::{WireError, text};
use crate::message::{
    Ack, AgentMessage, ClockEcho, CoordinatorMessage, Hello, Resume, Resumed, Token, Welcome,
};
use crate::{PROTOCOL_VERSION, wire};

/// Bounds a name that a stranger chose and that will be printed.
const NAME_BYTES: usize = 128;

/// Bounds a token; the coordinator's own have 16 bytes.
const TOKEN_BYTES: usize = 64;

impl From<AgentMessage> for wire::AgentMessage {
    fn from(message: AgentMessage) -> Self {
        use wire::agent_message::Kind;
        let kind = match message {
            AgentMessage::Hello(hello) => Kind::Hello(hello.into()),
            AgentMessage::Heartbeat => Kind::Heartbeat(wire::Heartbeat {}),
            AgentMessage::ClockEcho(ClockEcho { probe, received_ns, sent_ns }) => {
                Kind::ClockEcho(wire::ClockEcho { id: probe, received_ns, sent_ns })
            }
            AgentMessage::Report(report) => Kind::Report(report.into()),
            AgentMessage::Ack(ack) => Kind::Ack(ack.into()),
            AgentMessage::Goodbye => Kind::Goodbye(wire::Goodbye {}),
        };
        Self { kind: Some(kind) }
    }
}

impl TryFrom<wire::AgentMessage> for AgentMessage {
    type Error = WireError;

    fn try_from(wire: wire::AgentMessage) -> Result<Self, WireError> {
        use wire::agent_message::Kind;
        Ok(match wire.kind.ok_or(WireError::Missing("AgentMessage.kind"))? {
            Kind::Hello(hello) => Self::Hello(hello.try_into()?),
            Kind::Heartbeat(wire::Heartbeat {}) => Self::Heartbeat,
            Kind::ClockEcho(wire::ClockEcho { id, received_ns, sent_ns }) => {
                if sent_ns < received_ns {
                    return Err(WireError::invalid("ClockEcho.sent_ns", &"before it was received"));
                }
                Self::ClockEcho(ClockEcho { probe: id, received_ns, sent_ns })
            }
            Kind::Report(report) => Self::Report(report.try_into()?),
            Kind::Ack(ack) => Self::Ack(ack.try_into()?),
            Kind::Goodbye(wire::Goodbye {}) => Self::Goodbye,
        })
    }
}

impl From<CoordinatorMessage> for wire::CoordinatorMessage {
    fn from(message: CoordinatorMessage) -> Self {
        use wire::coordinator_message::Kind;
        let kind = match message {
            CoordinatorMessage::Welcome(welcome) => Kind::Welcome(welcome.into()),
            CoordinatorMessage::Heartbeat => Kind::Heartbeat(wire::Heartbeat {}),
            CoordinatorMessage::ClockProbe(id) => Kind::ClockProbe(wire::ClockProbe { id }),
            CoordinatorMessage::Command(command) => Kind::Command(command.into()),
            CoordinatorMessage::Ack(ack) => Kind::Ack(ack.into()),
        };
        Self { kind: Some(kind) }
    }
}

impl TryFrom<wire::CoordinatorMessage> for CoordinatorMessage {
    type Error = WireError;

    fn try_from(wire: wire::CoordinatorMessage) -> Result<Self, WireError> {
        use wire::coordinator_message::Kind;
        Ok(match wire.kind.ok_or(WireError::Missing("CoordinatorMessage.kind"))? {
            Kind::Welcome(welcome) => Self::Welcome(welcome.try_into()?),
            Kind::Heartbeat(wire::Heartbeat {}) => Self::Heartbeat,
            Kind::ClockProbe(wire::ClockProbe { id }) => Self::ClockProbe(id),
            Kind::Command(command) => Self::Command(command.try_into()?),
            Kind::Ack(ack) => Self::Ack(ack.try_into()?),
        })
    }
}

impl From<Hello> for wire::Hello {
    fn from(hello: Hello) -> Self {
        let Hello { name, software_version, cores, memory_bytes, fd_limit, once, resume } = hello;
        let resume = resume.map(|Resume { token, run }| {
            let (run_id, commands_received) = from_ack(run);
            wire::Resume { token: token.0, run_id, commands_received }
        });
        Self {
            protocol_version: PROTOCOL_VERSION,
            name,
            software_version,
            cores,
            memory_bytes,
            fd_limit,
            once,
            resume,
        }
    }
}

impl TryFrom<wire::Hello> for Hello {
    type Error = WireError;

    fn try_from(wire: wire::Hello) -> Result<Self, WireError> {
        let name = text(wire.name, "Hello.name")?;
        if name.len() > NAME_BYTES || name.chars().any(char::is_control) {
            return Err(WireError::invalid("Hello.name", &"too long or not printable"));
        }
        let resume = wire.resume.map(|resume| {
            Ok::<_, WireError>(Resume {
                token: token(resume.token, "Resume.token")?,
                run: to_ack(resume.run_id, resume.commands_received)?,
            })
        });
        Ok(Self {
            name,
            software_version: wire.software_version,
            cores: wire.cores.max(1),
            memory_bytes: wire.memory_bytes,
            fd_limit: wire.fd_limit,
            once: wire.once,
            resume: resume.transpose()?,
        })
    }
}

pub(super) fn token(bytes: Vec<u8>, field: &'static str) -> Result<Token, WireError> {
    match bytes.len() {
        0 => Err(WireError::Missing(field)),
        1..=TOKEN_BYTES => Ok(Token(bytes)),
        _ => Err(WireError::invalid(field, &"too long")),
    }
}

fn from_ack(ack: Option<Ack>) -> (Option<String>, u64) {
    ack.map_or((None, 0), |ack| (Some(ack.run.to_string()), ack.number))
}

fn to_ack(run: Option<String>, number: u64) -> Result<Option<Ack>, WireError> {
    run.map(|run| Ok(Ack { run: run_id(run, "Resume.run_id")?, number })).transpose()
}

impl From<Welcome> for wire::Welcome {
    fn from(welcome: Welcome) -> Self {
        let Welcome { token, name, lease, heartbeat, resumed } = welcome;
        let resumed = resumed.map(|Resumed { run }| {
            let (run_id, reports_received) = from_ack(run);
            wire::Resumed { run_id, reports_received }
        });
        Self {
            token: token.0,
            name,
            lease_ms: millis(lease),
            heartbeat_ms: millis(heartbeat),
            resumed,
        }
    }
}

impl TryFrom<wire::Welcome> for Welcome {
    type Error = WireError;

    fn try_from(wire: wire::Welcome) -> Result<Self, WireError> {
        let resumed = wire.resumed.map(|resumed| {
            let run = to_ack(resumed.run_id, resumed.reports_received)?;
            Ok::<_, WireError>(Resumed { run })
        });
        Ok(Self {
            token: token(wire.token, "Welcome.token")?,
            name: text(wire.name, "Welcome.name")?,
            lease: span(wire.lease_ms, "Welcome.lease_ms")?,
            heartbeat: span(wire.heartbeat_ms, "Welcome.heartbeat_ms")?,
            resumed: resumed.transpose()?,
        })
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn span(millis: u64, field: &'static str) -> Result<Duration, WireError> {
    if millis == 0 { Err(WireError::Missing(field)) } else { Ok(Duration::from_millis(millis)) }
}

impl From<Ack> for wire::Ack {
    fn from(ack: Ack) -> Self {
        Self { run_id: ack.run.to_string(), number: ack.number }
    }
}

impl TryFrom<wire::Ack> for Ack {
    type Error = WireError;

    fn try_from(wire: wire::Ack) -> Result<Self, WireError> {
        Ok(Self { run: run_id(wire.run_id, "Ack.run_id")?, number: wire.number })
    }
}
