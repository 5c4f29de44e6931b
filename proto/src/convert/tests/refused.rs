//! What is not whole or cannot be is refused, and the error names the field.

use pgsurge_common::plan::split::Share;
use pgsurge_common::plan::{Log, Plan};
use pgsurge_common::stats::{ConnectStats, Histogram, Interval, Moments, Totals};
use pgsurge_common::target::{Host, Target};

use crate::message::{
    AgentMessage, Command, CoordinatorMessage, Hello, LogPart, LogSender, Report, RunMessage,
    Welcome,
};
use crate::{MAX_CHUNK_BYTES, WireError, wire};

fn refusal<W, D: TryFrom<W, Error = WireError>>(wire: W) -> String {
    match D::try_from(wire) {
        Ok(_) => "taken".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn log_part(kind: wire::log_part::Kind) -> wire::LogPart {
    wire::LogPart { kind: Some(kind) }
}

#[test]
fn an_empty_message_lacks_its_first_field() {
    let id = || "r1".to_owned();
    for (said, expected) in [
        (refusal::<_, AgentMessage>(wire::AgentMessage::default()), "AgentMessage.kind"),
        (
            refusal::<_, CoordinatorMessage>(wire::CoordinatorMessage::default()),
            "CoordinatorMessage.kind",
        ),
        (refusal::<_, Hello>(wire::Hello::default()), "Hello.name"),
        (refusal::<_, Welcome>(wire::Welcome::default()), "Welcome.token"),
        (refusal::<_, RunMessage<Command>>(wire::Command::default()), "Command.kind"),
        (refusal::<_, RunMessage<Report>>(wire::Report::default()), "Report.kind"),
        (
            refusal::<_, RunMessage<Command>>(wire::Command {
                run_id: id(),
                number: 1,
                part: 0,
                kind: Some(wire::command::Kind::Prepare(wire::Prepare::default())),
            }),
            "Prepare.plan",
        ),
        (
            refusal::<_, RunMessage<Command>>(wire::Command {
                run_id: id(),
                number: 1,
                part: 0,
                kind: Some(wire::command::Kind::Stop(wire::Stop::default())),
            }),
            "Stop.mode",
        ),
        (
            refusal::<_, RunMessage<Report>>(wire::Report {
                run_id: id(),
                number: 1,
                part: 0,
                kind: Some(wire::report::Kind::Notice(wire::Notice::default())),
            }),
            "Notice.level",
        ),
        (refusal::<_, Plan>(wire::Plan::default()), "Plan.seeds"),
        (refusal::<_, Log>(wire::Log::default()), "Log.kind"),
        (refusal::<_, LogPart>(wire::LogPart::default()), "LogPart.kind"),
        (refusal::<_, LogPart>(log_part(wire::log_part::Kind::Data(Vec::new()))), "LogPart.data"),
        (refusal::<_, LogSender>(wire::LogPart::default()), "LogPart.sender"),
        (
            refusal::<_, LogSender>(log_part(wire::log_part::Kind::Sender(
                wire::LogSender::default(),
            ))),
            "LogSender.token",
        ),
        (refusal::<_, Target>(wire::Target::default()), "Target.hosts"),
        (refusal::<_, Host>(wire::Host::default()), "Host.address"),
        (refusal::<_, Share>(wire::Share::default()), "Share.connect_concurrency"),
        (refusal::<_, Interval>(wire::Interval::default()), "Interval.phase"),
        (refusal::<_, Histogram>(wire::Histogram::default()), "Histogram.moments"),
        (refusal::<_, Totals>(wire::Totals::default()), "Totals.measured"),
        (refusal::<_, ConnectStats>(wire::ConnectStats::default()), "ConnectStats.latency"),
    ] {
        assert_eq!(said, format!("missing field {expected}"));
    }
}

#[test]
fn values_that_cannot_be_are_named() {
    let hello = |name: &str| wire::Hello { name: name.to_owned(), ..wire::Hello::default() };
    let full = wire::Histogram::from(&{
        let mut histogram = Histogram::new();
        histogram.record(5);
        histogram
    });
    let garbled = wire::Histogram { buckets: Some(vec![1, 2, 3]), ..full.clone() };
    let miscounted = wire::Histogram {
        moments: Some(wire::Moments { count: 2, ..full.moments.unwrap_or_default() }),
        ..full
    };
    for (said, field) in [
        (refusal::<_, Hello>(hello("\u{1b}[2J")), "Hello.name"),
        (refusal::<_, Hello>(hello(&"x".repeat(1000))), "Hello.name"),
        (
            refusal::<_, RunMessage<Command>>(wire::Command {
                run_id: "../etc".into(),
                number: 1,
                part: 0,
                kind: Some(wire::command::Kind::Release(wire::Release {})),
            }),
            "Command.run_id",
        ),
        (
            refusal::<_, LogPart>(log_part(wire::log_part::Kind::Data(vec![
                0;
                MAX_CHUNK_BYTES + 1
            ]))),
            "LogPart.data",
        ),
        (
            refusal::<_, LogPart>(log_part(wire::log_part::Kind::Sender(
                wire::LogSender::default(),
            ))),
            "LogPart.sender",
        ),
        (
            refusal::<_, AgentMessage>(wire::AgentMessage {
                kind: Some(wire::agent_message::Kind::ClockEcho(wire::ClockEcho {
                    id: 1,
                    received_ns: 5,
                    sent_ns: 4,
                })),
            }),
            "ClockEcho.sent_ns",
        ),
        (
            refusal::<_, Moments>(wire::Moments { min: 2, max: 1, ..wire::Moments::default() }),
            "Moments.min",
        ),
        (refusal::<_, Histogram>(garbled), "Histogram.buckets"),
        (refusal::<_, Histogram>(miscounted), "Histogram.buckets"),
    ] {
        assert!(said.starts_with(&format!("invalid field {field}: ")), "{said}");
    }
}

#[test]
fn secrets_do_not_print() {
    let secret = wire::Secret { value: "hidden".into() };
    let host = wire::Host { password: Some(secret), ..wire::Host::default() };
    assert!(!format!("{host:?}").contains("hidden"));
}
