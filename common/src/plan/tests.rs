//! Plans: what they must fulfil, how they are told apart, what they take.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::split::{Share, SplitRules, split};
use super::*;
use crate::target::{Address, Host, Secret};

fn plan() -> Plan {
    let host = Address::Tcp { name: "db.example".into(), addr: None };
    let host = Host { address: host, port: 5432, password: Some(Secret::new("hidden-of-host")) };
    let mut target = Target::new(vec![host], "surge", "bench");
    target.password = Some(Secret::new("hidden"));
    Plan {
        run_id: RunId::new("r1").unwrap(),
        workload: Workload {
            scripts: vec![ScriptSource {
                name: "a.sql".into(),
                text: b"SELECT 1;\n".to_vec(),
                weight: 1,
                builtin: false,
            }],
            protocol: Protocol::Simple,
            scale: 1,
            defines: vec![("x".into(), "1".into())],
            max_tries: Some(1),
            continue_on_error: false,
            exit_on_abort: false,
            verbose_errors: false,
            report_per_command: false,
        },
        load: Load {
            clients: 10,
            end: End::Duration(Duration::from_secs(20)),
            warmup: Duration::from_secs(2),
            rate_tps: Some(100.0),
            latency_limit_us: Some(5000),
            connect_per_transaction: false,
            reconnect: false,
            connect: ConnectBudget {
                rate_per_s: None,
                concurrency: 8,
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

fn log(kind: LogKind) -> Log {
    Log { prefix: "p".into(), kind, failures_detailed: false, collect: false }
}

fn shares(plan: &Plan, agents: usize) -> Vec<Share> {
    split(&plan.load, &vec![2; agents], SplitRules::default()).unwrap()
}

/// A change to a plan.
type Change = fn(&mut Plan);

/// Whether the change alters the plan's digest, and the workload's.
fn alters(change: Change) -> (bool, bool) {
    let (before, mut after) = (plan(), plan());
    change(&mut after);
    let shares = shares(&before, 2);
    (
        plan_digest(&before, &shares) != plan_digest(&after, &shares),
        workload_digest(&before) != workload_digest(&after),
    )
}

#[test]
fn what_is_run_changes_both_digests() {
    let changes: &[Change] = &[
        |p| p.workload.scripts[0].text.push(b' '),
        |p| p.workload.scripts[0].weight = 2,
        |p| p.workload.scripts.push(p.workload.scripts[0].clone()),
        |p| p.workload.protocol = Protocol::Prepared,
        |p| p.workload.scale = 2,
        |p| p.workload.defines[0].1 = "2".into(),
        |p| p.workload.defines.push(("x".into(), "1".into())),
        |p| p.workload.max_tries = None,
        |p| p.workload.continue_on_error = true,
        |p| p.load.clients = 11,
        |p| p.load.end = End::Transactions(20),
        |p| p.load.end = End::Duration(Duration::from_secs(21)),
        |p| p.load.warmup = Duration::ZERO,
        |p| p.load.rate_tps = Some(100.000_000_1),
        |p| p.load.latency_limit_us = None,
        |p| p.load.connect_per_transaction = true,
        |p| p.load.reconnect = true,
    ];
    for (number, change) in changes.iter().enumerate() {
        assert_eq!(alters(*change), (true, true), "change {number}");
    }
}

#[test]
fn how_and_where_it_is_run_changes_the_plans_digest_only() {
    let changes: &[Change] = &[
        |p| p.workload.scripts[0].name = "b.sql".into(),
        |p| p.workload.exit_on_abort = true,
        |p| p.workload.verbose_errors = true,
        |p| p.workload.report_per_command = true,
        |p| p.load.connect.concurrency = 9,
        |p| p.load.allow_fewer_clients = true,
        |p| p.load.drain_timeout = Some(Duration::from_secs(1)),
        |p| p.target.hosts[0].port = 5433,
        |p| p.target.user = "other".into(),
        |p| p.seeds.random_seed = 43,
        |p| p.log = Some(log(LogKind::Aggregates(1))),
    ];
    for (number, change) in changes.iter().enumerate() {
        assert_eq!(alters(*change), (true, false), "change {number}");
    }
    let plan = plan();
    assert_ne!(plan_digest(&plan, &shares(&plan, 2)), plan_digest(&plan, &shares(&plan, 3)));
}

#[test]
fn neither_the_name_of_a_run_nor_a_password_changes_a_digest() {
    assert_eq!(alters(|p| p.run_id = RunId::new("r2").unwrap()), (false, false));
    assert_eq!(alters(|p| p.target.password = Some(Secret::new("else"))), (false, false));
}

#[test]
fn digests_stay_the_same_from_version_to_version() {
    let plan = plan();
    assert_eq!(
        workload_digest(&plan),
        "b06bac0dd0ea6a86e40dcb2835bfa0f59cb163926146a667e831378d20b9e6c1"
    );
    assert_eq!(plan_digest(&plan, &[]).len(), 64);
}

#[test]
fn a_plan_as_text_holds_no_secret() {
    let text = serde_json::to_string(&plan()).unwrap() + &format!("{:?}", plan());
    assert!(text.contains("***") && !text.contains("hidden"), "{text}");
}

#[test]
fn a_plan_that_cannot_be_run_is_refused_with_the_option_to_change() {
    assert!(plan().checked().is_ok());
    let cases: &[(Change, &str)] = &[
        (|p| p.workload.scripts.clear(), "no script to run; name one with -b or -f"),
        (
            |p| p.workload.scripts = vec![p.workload.scripts[0].clone(); 129],
            "at most 128 SQL scripts are allowed, not 129",
        ),
        (|p| p.workload.scripts[0].weight = 0, "total script weight must not be zero"),
        (|p| p.workload.scale = 0, "--scale must be at least 1"),
        (|p| p.workload.max_tries = Some(0), "--max-tries must be at least 1"),
        (|p| p.load.clients = 0, "--client must be at least 1"),
        (|p| p.load.end = End::Transactions(0), "--transactions must be at least 1"),
        (|p| p.load.end = End::Duration(Duration::ZERO), "--time must be at least 1"),
        (
            |p| p.load.end = End::Duration(Duration::MAX),
            "--time must be at most 2147483647 s, not 18446744073709551615 s",
        ),
        (
            |p| p.load.warmup = LONGEST + Duration::from_secs(1),
            "--warmup must be at most 2147483647 s, not 2147483648 s",
        ),
        (|p| p.load.rate_tps = Some(0.0), "--rate must be a positive number, not 0"),
        (|p| p.load.rate_tps = Some(f64::NAN), "--rate must be a positive number, not NaN"),
        (
            |p| p.load.connect.rate_per_s = Some(f64::INFINITY),
            "--connect-rate must be a positive number, not inf",
        ),
        (|p| p.load.connect.concurrency = 0, "--connect-concurrency must be at least 1"),
        (
            |p| p.load.latency_limit_us = Some(0),
            "--latency-limit (in microseconds) must be at least 1",
        ),
        (
            |p| {
                p.workload.max_tries = None;
                p.load.latency_limit_us = None;
                p.load.end = End::Transactions(1);
            },
            "an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)",
        ),
        (|p| p.target.hosts.clear(), "no host to connect to"),
        (
            |p| p.log = Some(log(LogKind::Transactions { sampling_rate: Some(f64::NAN) })),
            "invalid sampling rate: \"NaN\"",
        ),
        (|p| p.log = Some(log(LogKind::Aggregates(0))), "--aggregate-interval must be at least 1"),
    ];
    for (change, message) in cases {
        let mut plan = plan();
        change(&mut plan);
        assert_eq!(plan.checked().unwrap_err().to_string(), *message);
    }
}
