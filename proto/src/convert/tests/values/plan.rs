//! Arbitrary plans and shares.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use pgsurge_common::ids::{ClientId, WorkerId};
use pgsurge_common::plan::split::{Share, WorkerShare};
use pgsurge_common::plan::{
    ConnectBudget, End, Load, Log, LogKind, Plan, Protocol, ScriptSource, Seeds, Workload,
};
use pgsurge_common::target::{Address, Host, Secret, Target};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::run;

fn duration() -> impl Strategy<Value = Duration> {
    (0..86_400_000_000_000_u64).prop_map(Duration::from_nanos)
}

fn host() -> impl Strategy<Value = Host> {
    let address = prop_oneof![
        (".*", of(any::<IpAddr>())).prop_map(|(name, addr)| Address::Tcp { name, addr }),
        "/[a-z]{1,9}".prop_map(|path| Address::Unix(PathBuf::from(path))),
    ];
    (address, any::<u16>(), of(".*")).prop_map(|(address, port, password)| Host {
        address,
        port,
        password: password.map(Secret::new),
    })
}

fn workload() -> impl Strategy<Value = Workload> {
    let script = (".{1,20}", vec(any::<u8>(), 0..50), 1..100_u32, any::<bool>())
        .prop_map(|(name, text, weight, builtin)| ScriptSource { name, text, weight, builtin });
    let protocol =
        prop_oneof![Just(Protocol::Simple), Just(Protocol::Extended), Just(Protocol::Prepared)];
    (
        vec(script, 1..4),
        protocol,
        1..i64::MAX,
        vec((".*", ".*"), 0..3),
        1..9_u32,
        any::<[bool; 4]>(),
    )
        .prop_map(|(scripts, protocol, scale, defines, max_tries, switches)| Workload {
            scripts,
            protocol,
            scale,
            defines,
            max_tries: Some(max_tries),
            continue_on_error: switches[0],
            exit_on_abort: switches[1],
            verbose_errors: switches[2],
            report_per_command: switches[3],
        })
}

fn load() -> impl Strategy<Value = Load> {
    let end = prop_oneof![
        (1..u64::MAX).prop_map(End::Transactions),
        (1..1_000_000_u64).prop_map(|s| End::Duration(Duration::from_secs(s))),
    ];
    let rate = || of(0.001..1e9_f64);
    let connect =
        (rate(), 1..u32::MAX, duration()).prop_map(|(rate_per_s, concurrency, timeout)| {
            ConnectBudget { rate_per_s, concurrency, timeout }
        });
    (
        1..u32::MAX,
        end,
        duration(),
        rate(),
        1..1_000_000_u64,
        connect,
        any::<[bool; 3]>(),
        of(duration()),
    )
        .prop_map(
            |(clients, end, warmup, rate_tps, limit, connect, switches, drain_timeout)| Load {
                clients,
                end,
                warmup,
                rate_tps,
                latency_limit_us: Some(limit),
                connect_per_transaction: switches[0],
                reconnect: switches[2],
                connect,
                allow_fewer_clients: switches[1],
                drain_timeout,
            },
        )
}

fn log() -> impl Strategy<Value = Log> {
    let kind = prop_oneof![
        of(0.001..=1.0_f64).prop_map(|sampling_rate| LogKind::Transactions { sampling_rate }),
        (1..u32::MAX).prop_map(LogKind::Aggregates),
    ];
    (".*", kind, any::<[bool; 2]>()).prop_map(|(prefix, kind, [failures_detailed, collect])| Log {
        prefix,
        kind,
        failures_detailed,
        collect,
    })
}

pub(super) fn plan() -> impl Strategy<Value = Plan> {
    let target = (vec(host(), 1..3), ".*", ".*", of(".*"));
    (run(), workload(), load(), target, any::<u64>(), of(log())).prop_map(
        |(run_id, workload, load, (hosts, user, database, password), random_seed, log)| {
            let mut target = Target::new(hosts, user, database);
            target.password = password.map(Secret::new);
            Plan { run_id, workload, load, target, seeds: Seeds { random_seed }, log }
        },
    )
}

pub(super) fn share() -> impl Strategy<Value = Share> {
    let worker =
        (any::<u32>(), 0..1_000_000_u32, 0..1_000_000_u32).prop_map(|(worker, first, clients)| {
            WorkerShare { worker: WorkerId(worker), first_client: ClientId(first), clients }
        });
    (vec(worker, 0..5), 1..1000_u32, of(0.001..1e6_f64), 0..9_u32).prop_map(
        |(workers, connect_concurrency, connect_rate_per_s, moves)| Share {
            workers,
            connect_concurrency,
            connect_rate_per_s,
            moves,
        },
    )
}
