//! Arbitrary values of the domain.

mod plan;

use std::time::Duration;

use pgsurge_common::ids::{AgentId, RunId, WorkerId};
use pgsurge_common::stats::{
    ClientCount, ConnectStats, Counts, ErrorCounts, Histogram, Interval, LogTotals, Moments,
    Outage, Outages, Phase, ScriptStats, StatementStats, Totals, Vitals,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use crate::message::{
    Ack, AgentMessage, ClockEcho, Command, CoordinatorMessage, Hello, LogPart, LogReceipt, Notice,
    NoticeLevel, OfPart, Ready, Report, Resume, Resumed, RunMessage, Stop, Token, Welcome,
};
use crate::numbering::Numbered;

fn run() -> impl Strategy<Value = RunId> {
    "[a-zA-Z0-9_-]{1,64}".prop_map(|name| RunId::new(name).expect("of the allowed letters"))
}

fn counts() -> impl Strategy<Value = Counts> {
    (any::<[u32; 14]>()).prop_map(|n| {
        let n = n.map(u64::from);
        Counts {
            transactions: n[0],
            serialization_failures: n[1],
            deadlock_failures: n[2],
            other_failures: n[3],
            skipped: n[4],
            retried: n[5],
            retries: n[6],
            late: n[7],
            commits: n[8],
            connects: n[9],
            connect_us: n[10],
            connection_failures: n[11],
            reconnects: n[12],
            unreachable_us: n[13],
        }
    })
}

fn histogram() -> impl Strategy<Value = Histogram> {
    vec(prop_oneof![0..2000_u64, 0..20_000_000_000_u64], 0..20).prop_map(|values| {
        let mut histogram = Histogram::new();
        for us in values {
            histogram.record(us);
        }
        histogram
    })
}

fn errors() -> impl Strategy<Value = ErrorCounts> {
    prop::collection::btree_map("[A-Z0-9]{5}", any::<u64>(), 0..10).prop_map(ErrorCounts)
}

fn vitals() -> impl Strategy<Value = Vitals> {
    (0.0..1.0, any::<u64>(), any::<u64>()).prop_map(|(cpu_fraction, loop_lag_us, rss_bytes)| {
        Vitals { cpu_fraction, loop_lag_us, rss_bytes }
    })
}

pub(super) fn interval() -> impl Strategy<Value = Interval> {
    let scripts =
        (counts(), histogram()).prop_map(|(counts, response)| ScriptStats { counts, response });
    let head = (any::<bool>(), any::<u32>(), counts(), errors(), any::<[u32; 2]>(), vitals());
    let times = (histogram(), of(histogram()), of(histogram()), vec(scripts, 0..3));
    (head, times).prop_map(|((warmup, index, counts, errors, clients, vitals), times)| {
        let (response, service, lag, scripts) = times;
        let phase = if warmup { Phase::Warmup } else { Phase::Measure };
        let [clients, disconnected] = clients;
        Interval {
            phase,
            index,
            counts,
            response,
            service,
            lag,
            scripts,
            errors,
            clients,
            disconnected,
            vitals,
        }
    })
}

fn connect() -> impl Strategy<Value = ConnectStats> {
    let counts = (any::<u16>(), any::<u16>(), any::<u64>());
    (counts, histogram(), histogram(), errors(), of(".*"), of(".*")).prop_map(
        |((obtained, more, elapsed_us), latency, opened, errors, example, server_identity)| {
            ConnectStats {
                wanted: u32::from(obtained) + u32::from(more),
                obtained: u32::from(obtained),
                elapsed_us,
                latency,
                opened,
                errors,
                example,
                server_identity,
            }
        },
    )
}

fn moments() -> impl Strategy<Value = Moments> {
    (any::<u64>(), any::<u128>(), any::<u128>(), any::<u64>(), any::<u64>()).prop_map(
        |(count, sum, sum_of_squares, a, b)| Moments {
            count,
            sum,
            sum_of_squares,
            min: a.min(b),
            max: a.max(b),
        },
    )
}

fn outages() -> impl Strategy<Value = Outages> {
    let outage = (any::<i32>(), any::<u32>(), any::<bool>(), any::<u32>(), ".*", ".*").prop_map(
        |(start, length, over, clients, first_error, last_error)| Outage {
            start_us: start.into(),
            end_us: i64::from(start) + i64::from(length),
            over,
            clients,
            first_error,
            last_error,
        },
    );
    (vec(outage, 0..4), any::<u64>()).prop_map(|(listed, more)| Outages { listed, more })
}

fn totals() -> impl Strategy<Value = Totals> {
    let statement = (moments(), any::<u64>(), any::<u64>())
        .prop_map(|(latency, failures, retries)| StatementStats { latency, failures, retries });
    let clients = vec((any::<u32>(), any::<u64>()), 0..20).prop_map(|clients| {
        clients
            .into_iter()
            .map(|(client, transactions)| ClientCount { client, transactions })
            .collect()
    });
    let counted = (counts(), counts(), errors(), connect(), clients);
    let rest = (any::<[u64; 3]>(), any::<i64>(), 0.0..1.0, vec(vec(statement, 0..4), 0..3));
    let aborted = (vec((any::<u32>(), ".*"), 0..4), any::<u32>(), vec(".*", 0..3));
    let away = (outages(), histogram());
    let log = any::<(u32, [u64; 3])>().prop_map(|(files, [lines, bytes, lost_lines])| LogTotals {
        files,
        lines,
        bytes,
        lost_lines,
    });
    (counted, rest, aborted, away, of(log)).prop_map(|(counted, rest, aborted, away, log)| Totals {
        measured: counted.0,
        warmup: counted.1,
        errors: counted.2,
        connect: counted.3,
        clients: counted.4,
        extra_commits: rest.0[0],
        last_end_us: rest.0[1],
        inherited_backlog: rest.0[2],
        start_offset_us: rest.1,
        cpu_fraction: rest.2,
        statements: rest.3,
        aborted: aborted.0,
        aborted_clients: aborted.1,
        commits_unpredictable: aborted.2,
        outages: away.0,
        reconnecting: away.1,
        log,
    })
}

fn ack() -> impl Strategy<Value = Ack> {
    (run(), any::<u64>()).prop_map(|(run, number)| Ack { run, number })
}

fn token() -> impl Strategy<Value = Token> {
    vec(any::<u8>(), 1..64).prop_map(Token)
}

fn numbered<T: std::fmt::Debug>(
    body: impl Strategy<Value = T>,
) -> impl Strategy<Value = RunMessage<T>> {
    (run(), any::<u64>(), any::<u32>(), body).prop_map(|(run, number, part, body)| {
        let body = OfPart { part: AgentId(part), body };
        RunMessage { run, message: Numbered { number, body } }
    })
}

fn report() -> impl Strategy<Value = Report> {
    let level =
        prop_oneof![Just(NoticeLevel::Raw), Just(NoticeLevel::Info), Just(NoticeLevel::Error)];
    let notice = (of(any::<u32>()), level, ".*").prop_map(|(client, level, text)| Notice {
        client,
        level,
        text,
    });
    let ready =
        (connect(), of(any::<bool>())).prop_map(|(connect, direct)| Ready { connect, direct });
    prop_oneof![
        ready.prop_map(|ready| Report::Ready(Box::new(ready))),
        any::<(u32, i64)>().prop_map(|(attempt, lead_ns)| Report::Armed { attempt, lead_ns }),
        any::<(u32, bool)>().prop_map(|(attempt, begun)| Report::CalledOff { attempt, begun }),
        interval().prop_map(|interval| Report::Interval(Box::new(interval))),
        notice.prop_map(Report::Notice),
        (any::<u32>(), of(".*"))
            .prop_map(|(worker, reason)| Report::AbortRun { worker: WorkerId(worker), reason }),
        totals().prop_map(|totals| Report::Finished(Box::new(totals))),
        ".+".prop_map(Report::Fault),
        ".+".prop_map(Report::Leaving),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    prop_oneof![
        (plan::plan(), plan::share())
            .prop_map(|(plan, share)| Command::Prepare { plan: Box::new(plan), share }),
        any::<(u32, i64, u64)>().prop_map(|(attempt, at_ns, join_us)| Command::Start {
            attempt,
            at_ns,
            join_us
        }),
        any::<u32>().prop_map(|attempt| Command::CallOff { attempt }),
        prop_oneof![Just(Stop::Drain), Just(Stop::Now)].prop_map(Command::Stop),
        Just(Command::Release),
        Just(Command::SendLogs),
    ]
}

pub(super) fn log_part() -> impl Strategy<Value = LogPart> {
    prop_oneof![
        any::<(u32, u32)>()
            .prop_map(|(process, worker)| { LogPart::File { process, worker: WorkerId(worker) } }),
        vec(any::<u8>(), 1..100).prop_map(LogPart::Data),
        any::<(u32, u64)>().prop_map(|(files, bytes)| LogPart::End(LogReceipt { files, bytes })),
        ".+".prop_map(LogPart::Problem),
    ]
}

pub(super) fn agent_message() -> impl Strategy<Value = AgentMessage> {
    let resume = (token(), of(ack())).prop_map(|(token, run)| Resume { token, run });
    let hello =
        ("[^\\p{C}]{1,30}", ".*", 1..u32::MAX, any::<u64>(), any::<(u64, bool)>(), of(resume))
            .prop_map(|(name, software_version, cores, memory_bytes, (fd_limit, once), resume)| {
                Hello { name, software_version, cores, memory_bytes, fd_limit, once, resume }
            });
    let echo = any::<(u64, u32, u32)>().prop_map(|(probe, received, stay)| ClockEcho {
        probe,
        received_ns: received.into(),
        sent_ns: u64::from(received) + u64::from(stay),
    });
    prop_oneof![
        hello.prop_map(AgentMessage::Hello),
        Just(AgentMessage::Heartbeat),
        echo.prop_map(AgentMessage::ClockEcho),
        numbered(report()).prop_map(AgentMessage::Report),
        ack().prop_map(AgentMessage::Ack),
        Just(AgentMessage::Goodbye),
    ]
}

pub(super) fn coordinator_message() -> impl Strategy<Value = CoordinatorMessage> {
    let resumed = of(ack()).prop_map(|run| Resumed { run });
    let span = || (1..1_000_000_u64).prop_map(Duration::from_millis);
    let welcome = (token(), ".+", span(), span(), of(resumed)).prop_map(
        |(token, name, lease, heartbeat, resumed)| Welcome {
            token,
            name,
            lease,
            heartbeat,
            resumed,
        },
    );
    prop_oneof![
        welcome.prop_map(CoordinatorMessage::Welcome),
        Just(CoordinatorMessage::Heartbeat),
        any::<u64>().prop_map(CoordinatorMessage::ClockProbe),
        numbered(command()).prop_map(CoordinatorMessage::Command),
        ack().prop_map(CoordinatorMessage::Ack),
    ]
}
