//! Commands down and reports up.

use pgsurge_common::ids::{AgentId, WorkerId};

use super::plan::run_id;
use crate::error::{WireError, required, text};
use crate::message::{Command, Notice, NoticeLevel, OfPart, Ready, Report, RunMessage, Stop};
use crate::numbering::Numbered;
use crate::wire;

impl From<RunMessage<Command>> for wire::Command {
    fn from(command: RunMessage<Command>) -> Self {
        use wire::command::Kind;
        let Numbered { number, body: OfPart { part, body } } = command.message;
        let kind = match body {
            Command::Prepare { plan, share } => Kind::Prepare(wire::Prepare {
                plan: Some((&*plan).into()),
                share: Some((&share).into()),
            }),
            Command::Start { attempt, at_ns, join_us } => {
                Kind::Start(wire::Start { attempt, at_ns, join_us })
            }
            Command::CallOff { attempt } => Kind::CallOff(wire::CallOff { attempt }),
            Command::Stop(stop) => {
                let mode = match stop {
                    Stop::Drain => wire::stop::Mode::Drain,
                    Stop::Now => wire::stop::Mode::Now,
                };
                Kind::Stop(wire::Stop { mode: mode.into() })
            }
            Command::Release => Kind::Release(wire::Release {}),
            Command::SendLogs => Kind::SendLogs(wire::SendLogs {}),
        };
        Self { run_id: command.run.to_string(), number, part: part.0, kind: Some(kind) }
    }
}

impl TryFrom<wire::Command> for RunMessage<Command> {
    type Error = WireError;

    fn try_from(wire: wire::Command) -> Result<Self, WireError> {
        use wire::command::Kind;
        let body = match wire.kind.ok_or(WireError::Missing("Command.kind"))? {
            Kind::Prepare(wire::Prepare { plan, share }) => Command::Prepare {
                plan: Box::new(required(plan, "Prepare.plan")?),
                share: required(share, "Prepare.share")?,
            },
            Kind::Start(wire::Start { attempt, at_ns, join_us }) => {
                Command::Start { attempt, at_ns, join_us }
            }
            Kind::CallOff(wire::CallOff { attempt }) => Command::CallOff { attempt },
            Kind::Stop(stop) => Command::Stop(match stop.mode() {
                wire::stop::Mode::Unspecified => return Err(WireError::Missing("Stop.mode")),
                wire::stop::Mode::Drain => Stop::Drain,
                wire::stop::Mode::Now => Stop::Now,
            }),
            Kind::Release(wire::Release {}) => Command::Release,
            Kind::SendLogs(wire::SendLogs {}) => Command::SendLogs,
        };
        let body = OfPart { part: AgentId(wire.part), body };
        let message = Numbered { number: wire.number, body };
        Ok(Self { run: run_id(wire.run_id, "Command.run_id")?, message })
    }
}

impl From<RunMessage<Report>> for wire::Report {
    fn from(report: RunMessage<Report>) -> Self {
        use wire::report::Kind;
        let Numbered { number, body: OfPart { part, body } } = report.message;
        let kind = match body {
            Report::Ready(ready) => Kind::Ready(wire::Ready {
                connect: Some((&ready.connect).into()),
                direct: ready.direct,
            }),
            Report::Armed { attempt, lead_ns } => Kind::Armed(wire::Armed { attempt, lead_ns }),
            Report::CalledOff { attempt, begun } => {
                Kind::CalledOff(wire::CalledOff { attempt, begun })
            }
            Report::Interval(interval) => Kind::Interval((&*interval).into()),
            Report::Notice(notice) => Kind::Notice(notice.into()),
            Report::AbortRun { worker, reason } => {
                Kind::AbortRun(wire::AbortRun { worker: worker.0, reason })
            }
            Report::Finished(totals) => Kind::Finished((&*totals).into()),
            Report::Fault(text) => Kind::Fault(wire::Fault { text }),
            Report::Leaving(reason) => Kind::Leaving(wire::Leaving { reason }),
        };
        Self { run_id: report.run.to_string(), number, part: part.0, kind: Some(kind) }
    }
}

impl TryFrom<wire::Report> for RunMessage<Report> {
    type Error = WireError;

    fn try_from(wire: wire::Report) -> Result<Self, WireError> {
        use wire::report::Kind;
        let body = match wire.kind.ok_or(WireError::Missing("Report.kind"))? {
            Kind::Ready(wire::Ready { connect, direct }) => Report::Ready(Box::new(Ready {
                connect: required(connect, "Ready.connect")?,
                direct,
            })),
            Kind::Armed(wire::Armed { attempt, lead_ns }) => Report::Armed { attempt, lead_ns },
            Kind::CalledOff(wire::CalledOff { attempt, begun }) => {
                Report::CalledOff { attempt, begun }
            }
            Kind::Interval(interval) => Report::Interval(Box::new(interval.try_into()?)),
            Kind::Notice(notice) => Report::Notice(notice.try_into()?),
            Kind::AbortRun(wire::AbortRun { worker, reason }) => {
                Report::AbortRun { worker: WorkerId(worker), reason }
            }
            Kind::Finished(totals) => Report::Finished(Box::new(totals.try_into()?)),
            Kind::Fault(fault) => Report::Fault(text(fault.text, "Fault.text")?),
            Kind::Leaving(leaving) => Report::Leaving(text(leaving.reason, "Leaving.reason")?),
        };
        let body = OfPart { part: AgentId(wire.part), body };
        let message = Numbered { number: wire.number, body };
        Ok(Self { run: run_id(wire.run_id, "Report.run_id")?, message })
    }
}

impl From<Notice> for wire::Notice {
    fn from(notice: Notice) -> Self {
        let Notice { client, level, text } = notice;
        let level = match level {
            NoticeLevel::Raw => wire::notice::Level::Raw,
            NoticeLevel::Info => wire::notice::Level::Info,
            NoticeLevel::Error => wire::notice::Level::Error,
        };
        Self { client, text, level: level.into() }
    }
}

impl TryFrom<wire::Notice> for Notice {
    type Error = WireError;

    fn try_from(wire: wire::Notice) -> Result<Self, WireError> {
        let level = match wire.level() {
            wire::notice::Level::Unspecified => return Err(WireError::Missing("Notice.level")),
            wire::notice::Level::Raw => NoticeLevel::Raw,
            wire::notice::Level::Info => NoticeLevel::Info,
            wire::notice::Level::Error => NoticeLevel::Error,
        };
        Ok(Self { client: wire.client, level, text: wire.text })
    }
}
