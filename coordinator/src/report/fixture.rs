//! Made-up results for the printers' tests; consistent, so that their verdict is valid.

use std::time::Duration;

use pgsurge_common::ids::{AgentId, ClientId, RunId, WorkerId};
use pgsurge_common::outcome::ExitCode;
use pgsurge_common::plan::split::{Share, WorkerShare};
use pgsurge_common::plan::{
    ConnectBudget, End, Load, Plan, Protocol, ScriptSource, Seeds, Workload,
};
use pgsurge_common::stats::{
    ClientCount, ConnectStats, Counts, ErrorCounts, Histogram, Interval, ScriptStats, Totals,
    Vitals,
};
use pgsurge_common::target::{Address, Host, Secret, Target};

use super::{
    AgentResult, Clock, Digests, Merged, Options, RunResult, ServerCount, ServerResult, Status,
    TimelineEntry,
};
use crate::merge::ClusterInterval;
use crate::verdict::Verdict;

/// The password of every sample; must appear nowhere.
pub(super) const PASSWORD: &str = "correct horse";

pub(super) fn script(name: &str, text: &str, weight: u32) -> ScriptSource {
    let builtin = name.starts_with("<builtin");
    ScriptSource { name: name.into(), text: text.into(), weight, builtin }
}

pub(super) fn tpcb() -> ScriptSource {
    script("<builtin: TPC-B (sort of)>", "INSERT INTO pgbench_history ...;\n", 1)
}

pub(crate) fn plan() -> Plan {
    let host = Host {
        address: Address::Tcp { name: "db.example".into(), addr: None },
        port: 5432,
        password: None,
    };
    let mut target = Target::new(vec![host], "bench", "pgbench");
    target.password = Some(Secret::new(PASSWORD));
    Plan {
        run_id: RunId::new("20260102-030405-abcd").expect("legal characters"),
        workload: Workload {
            scripts: vec![tpcb()],
            protocol: Protocol::Simple,
            scale: 10,
            defines: Vec::new(),
            max_tries: Some(1),
            continue_on_error: false,
            exit_on_abort: false,
            verbose_errors: false,
            report_per_command: false,
        },
        load: Load {
            clients: 2,
            end: End::Transactions(5000),
            warmup: Duration::ZERO,
            rate_tps: None,
            latency_limit_us: None,
            connect_per_transaction: false,
            reconnect: false,
            connect: ConnectBudget {
                rate_per_s: None,
                concurrency: 16,
                timeout: Duration::from_secs(60),
            },
            allow_fewer_clients: false,
            drain_timeout: None,
        },
        target,
        seeds: Seeds { random_seed: 42 },
        log: None,
    }
}

/// `n` latencies from 0.5 ms on, a hundredth of them ten times as long.
pub(crate) fn latencies(n: u64) -> Histogram {
    let mut histogram = Histogram::new();
    for i in 0..n {
        histogram.record(if i % 100 == 99 { 5_000 } else { 500 + i % 97 });
    }
    histogram
}

/// An agent with one worker.
pub(super) fn agent(name: &str, first_client: u32, clients: u32, transactions: u64) -> AgentResult {
    let counts = Counts { transactions, commits: transactions, ..Counts::default() };
    let worker = WorkerShare {
        worker: WorkerId(first_client),
        first_client: ClientId(first_client),
        clients,
    };
    let totals = Totals {
        measured: counts,
        extra_commits: u64::from(clients),
        start_offset_us: 90 + i64::from(first_client),
        clients: vec![ClientCount { client: first_client, transactions }],
        cpu_fraction: 0.34,
        ..Totals::default()
    };
    AgentResult {
        id: AgentId(first_client),
        name: name.into(),
        share: Share {
            workers: vec![worker],
            connect_concurrency: 16,
            connect_rate_per_s: None,
            moves: 0,
        },
        counts,
        response: latencies(transactions),
        totals: Some(totals),
        clock: Clock { error_us: 45, drift_us: -3 },
        vitals: Vitals { cpu_fraction: 0.4, loop_lag_us: 1200, rss_bytes: 1 << 25 },
        lost: None,
        left: None,
        logs: None,
        took_over_from: None,
        ran: None,
        unreachable: Vec::new(),
    }
}

/// An interval of so many agents, none missing.
pub(crate) fn ready(interval: Interval, agents: u32) -> ClusterInterval {
    let (missing, unreachable, parts) = (Vec::new(), Vec::new(), Vec::new());
    ClusterInterval { interval, agents, complete: true, missing, unreachable, moved: 0, parts }
}

/// A run of these agents; merged figures, server's counts and timeline follow from them.
pub(super) fn of(plan: Plan, agents: Vec<AgentResult>) -> RunResult {
    let (mut measured, mut response, mut commits) = (Counts::default(), Histogram::new(), 0);
    for agent in &agents {
        measured.merge(&agent.counts);
        response.merge(&agent.response);
        commits += agent.counts.commits + u64::from(agent.clients());
    }
    let clients = plan.load.clients;
    let timeline = TimelineEntry {
        t_s: 0.0,
        width_s: 1.0,
        transactions: measured.transactions,
        failed: 0,
        p50_us: response.quantile_us(0.5),
        p99_us: response.quantile_us(0.99),
        lag_mean_us: None,
        reconnects: 0,
        unreachable_us: 0,
        errors: ErrorCounts::default(),
        clients,
        disconnected: 0,
        agents: u32::try_from(agents.len()).expect("a few"),
        complete: true,
        agents_unreachable: 0,
        clients_moved: 0,
    };
    let mut run = RunResult {
        plan,
        digests: Digests { plan: "sha256:11".into(), workload: "sha256:22".into() },
        options: Options::default(),
        started: "2026-01-02T03:04:05Z".parse().expect("a timestamp"),
        agents,
        merged: Merged {
            measured,
            response,
            duration: Duration::from_micros(4_321_987),
            ..Merged::default()
        },
        statements: Vec::new(),
        connections: ConnectStats {
            wanted: clients,
            obtained: clients,
            elapsed_us: 12_345,
            latency: latencies(u64::from(clients)),
            opened: latencies(u64::from(clients)),
            ..ConnectStats::default()
        },
        timeline: vec![timeline],
        missing: Vec::new(),
        mismatches: Vec::new(),
        server: ServerResult {
            version: "18.1".into(),
            commits: ServerCount::Counted(commits),
            history_rows: ServerCount::Counted(measured.transactions),
            ..ServerResult::default()
        },
        status: Status::Complete,
        verdict: Verdict::default(),
        expectations: Vec::new(),
        exit_code: ExitCode::Done,
    };
    run.judge();
    run
}

/// Two clients of one in-process agent.
pub(super) fn local() -> RunResult {
    of(plan(), vec![agent("local", 0, 2, 10_000)])
}

/// Three hosts, a rate, a limit, retries, a warm-up, two scripts.
pub(super) fn cluster() -> RunResult {
    let mut plan = plan();
    plan.load.clients = 1000;
    plan.load.end = End::Duration(Duration::from_secs(20));
    plan.load.warmup = Duration::from_secs(5);
    plan.load.rate_tps = Some(1500.0);
    plan.load.latency_limit_us = Some(20_000);
    plan.workload.max_tries = Some(3);
    plan.workload.scripts = vec![tpcb(), script("own.sql", "SELECT 1;\n", 3)];
    let agents = [("host-a", 0, 334), ("host-b", 334, 333), ("far-away-host-c", 667, 333)]
        .map(|(n, f, c)| agent(n, f, c, 10_000));
    let mut run = of(plan, agents.into());
    run.options.agents = 3;
    run.options.workers_per_agent = None;
    run.merged.duration = Duration::from_micros(20_012_345);
    run.merged.warmup.transactions = 7_421;
    run.merged.service = Some(latencies(30_000));
    run.merged.lag = Some(latencies(30_000));
    let script = |n: u64| ScriptStats {
        counts: Counts { transactions: n, ..Counts::default() },
        response: latencies(n),
    };
    run.merged.scripts = vec![script(7_500), script(22_500)];
    run.judge();
    run
}
