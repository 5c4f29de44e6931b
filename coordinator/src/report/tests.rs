//! What the printers print, kept as snapshots beside this file.

use std::time::Duration;

use insta::assert_snapshot;
use pgsurge_common::outcome::ExitCode;
use pgsurge_common::plan::End;
use pgsurge_common::stats::{Counts, Histogram, Interval, Moments, Outage, Phase, StatementStats};

use super::fixture::{self, latencies};
use super::{
    Lost, Options, Partitions, Progress, RunResult, ServerCount, StatementResult, Status, cluster,
    pgbench,
};
use crate::verdict::Expectation;

/// pgbench's part.
fn report(run: &RunResult) -> String {
    let mut out = Vec::new();
    pgbench::report(&mut out, run).expect("a vector takes everything");
    String::from_utf8(out).expect("all names are text")
}

/// The cluster's part.
fn block(run: &RunResult) -> String {
    let mut out = Vec::new();
    cluster::report(&mut out, run).expect("a vector takes everything");
    String::from_utf8(out).expect("all names are text")
}

fn statement(line: &str, sum: u128) -> StatementResult {
    let latency = Moments { count: 1000, sum, ..Moments::default() };
    StatementResult {
        line: line.into(),
        stats: StatementStats { latency, failures: 7, retries: 3 },
    }
}

/// Spoils a part of the transactions of the only agent.
fn with_counts(run: &mut RunResult, counts: Counts) {
    run.merged.measured = counts;
    run.merged.response = latencies(counts.transactions);
}

#[test]
fn the_plainest_run() {
    let mut banner = Vec::new();
    pgbench::banner(&mut banner, "18.1").expect("a vector takes everything");
    let banner = String::from_utf8_lossy(&banner).into_owned();
    assert_eq!(banner, format!("pgsurge ({}, server 18.1)\n", env!("CARGO_PKG_VERSION")));
    assert_snapshot!(report(&fixture::local()));
}

#[test]
fn a_timed_run_on_partitions_in_prepared_mode() {
    let mut run = fixture::local();
    run.plan.load.end = End::Duration(Duration::from_secs(20));
    run.plan.workload.protocol = pgsurge_common::plan::Protocol::Prepared;
    run.server.partitions = Some(Partitions { method: "hash".into(), count: 7 });
    assert_snapshot!(report(&run));
}

#[test]
fn partitions_are_not_shown_for_scripts_of_ones_own() {
    let mut run = fixture::local();
    run.plan.workload.scripts = vec![fixture::script("own.sql", "SELECT 1;\n", 1)];
    run.server.partitions = Some(Partitions { method: "hash".into(), count: 7 });
    assert!(!report(&run).contains("partition"));
}

#[test]
fn progress_alone_switches_to_measured_latency() {
    let mut run = fixture::local();
    run.options.progress_s = Some(1);
    assert_snapshot!(report(&run));
}

#[test]
fn failures_in_detail_with_retries_and_commands() {
    let mut run = fixture::local();
    run.options.failures_detailed = true;
    run.plan.workload.max_tries = Some(4);
    run.plan.workload.report_per_command = true;
    let counts = Counts {
        transactions: 9_000,
        serialization_failures: 700,
        deadlock_failures: 300,
        retried: 1_800,
        retries: 2_400,
        ..Counts::default()
    };
    with_counts(&mut run, counts);
    run.statements = vec![vec![
        statement("\\set x random(1, 10)", 1_234),
        statement("UPDATE t SET a = a + 1", 812_345),
    ]];
    assert_snapshot!(report(&run));
}

#[test]
fn other_failures_are_shown_where_they_can_happen() {
    let mut run = fixture::local();
    run.options.failures_detailed = true;
    run.plan.workload.continue_on_error = true;
    assert!(report(&run).contains("\nnumber of other failures: 0 (0.000%)\n"));
    run.plan.workload.continue_on_error = false;
    assert!(!report(&run).contains("other failures"));
}

#[test]
fn unlimited_tries_have_no_line_and_commands_show_failures_and_retries() {
    let mut run = fixture::local();
    run.plan.workload.max_tries = None;
    run.plan.workload.report_per_command = true;
    run.statements = vec![vec![statement("SELECT 1;", 10)]];
    let text = report(&run);
    assert!(!text.contains("maximum number of tries"));
    assert!(text.contains("\nnumber of transactions retried: 0 (0.000%)\n"));
    assert!(text.ends_with(
        "statement latencies in milliseconds, failures and retries:\n         \
         0.000           7          3 SELECT 1;\n"
    ));
}

#[test]
fn several_scripts_with_rate_limit_and_latency_limit() {
    assert_snapshot!(report(&fixture::cluster()));
}

#[test]
fn several_scripts_with_commands_and_one_script_never_drawn() {
    let mut run = fixture::cluster();
    run.plan.workload.report_per_command = true;
    run.plan.workload.max_tries = Some(1);
    run.merged.scripts[0] = pgsurge_common::stats::ScriptStats::default();
    run.statements = vec![vec![statement("SELECT 1;", 0)], vec![statement("SELECT 2;", 5_000_000)]];
    assert_snapshot!(report(&run));
}

#[test]
fn a_new_connection_for_every_transaction() {
    let mut run = fixture::local();
    run.plan.load.connect_per_transaction = true;
    run.merged.measured.connect_us = 18_120_000;
    assert_snapshot!(report(&run));
}

#[test]
fn nothing_processed_ends_the_report_early() {
    let mut run = fixture::local();
    run.plan.workload.report_per_command = true;
    with_counts(&mut run, Counts::default());
    assert!(report(&run).ends_with("number of transactions actually processed: 0/10000\n"));
}

#[test]
fn a_rate_limited_run_in_which_all_failed_has_no_latency_and_no_average_lag() {
    let mut run = fixture::local();
    run.plan.load.rate_tps = Some(100.0);
    run.plan.load.latency_limit_us = Some(10_000);
    run.merged.lag = Some(Histogram::new());
    with_counts(&mut run, Counts { serialization_failures: 10, ..Counts::default() });
    assert_snapshot!(report(&run));
}

#[test]
fn a_closed_loop_in_which_all_failed_says_that_failures_are_included() {
    let mut run = fixture::local();
    with_counts(&mut run, Counts { serialization_failures: 10, ..Counts::default() });
    assert!(report(&run).contains("\nlatency average = 864.397 ms (including failures)\n"));
}

#[test]
fn the_block_of_a_local_run() {
    assert_snapshot!(block(&fixture::local()));
}

#[test]
fn the_block_of_a_cluster() {
    assert_snapshot!(block(&fixture::cluster()));
}

#[test]
fn the_block_of_a_run_that_lost_an_agent() {
    let mut run = fixture::cluster();
    run.agents[1].lost = Some(Lost { at_s: 12.3, reason: "silent for 11.0 s".into() });
    run.agents[1].totals = None;
    run.merged.errors.add("40001", 17);
    run.merged.errors.add("ECONNRESET", 2);
    run.merged.aborted_clients = 2;
    run.connections.obtained = 990;
    run.status = Status::CutShort;
    run.judge();
    assert_snapshot!(block(&run));
}

#[test]
fn the_servers_count_is_compared_as_far_as_it_can_be() {
    let line = |spoil: &dyn Fn(&mut RunResult)| {
        let mut run = fixture::local();
        spoil(&mut run);
        run.judge();
        let block = block(&run);
        let line = block.lines().find(|line| line.starts_with("server commits"));
        line.expect("it is always there").trim_start_matches("server commits").trim().to_owned()
    };
    assert_eq!(line(&|_| ()), "10002, as the agents counted");
    assert_eq!(
        line(&|run| run.server.commits = ServerCount::Counted(10_001)),
        "10001, but the agents counted 10002"
    );
    assert_eq!(
        line(&|run| {
            run.server.commits = ServerCount::Counted(10_003);
            run.merged.aborted_clients = 1;
        }),
        "10003, at least the 10002 that the agents counted"
    );
    assert_eq!(
        line(&|run| run.server.commits = ServerCount::NotCheckable("a pooler answered".into())),
        "not checkable: a pooler answered"
    );
}

#[test]
fn no_line_of_the_block_can_be_taken_for_one_of_pgbenchs() {
    let labels = ["tps", "latency average", "latency stddev", "number of", "duration:", " = "];
    for run in [fixture::local(), fixture::cluster()] {
        let block = block(&run);
        for label in labels {
            assert!(!block.contains(label), "{label}: {block}");
        }
    }
}

/// Seconds of a run as progress lines.
fn progress(options: &Options, plan: &pgsurge_common::plan::Plan) -> Vec<String> {
    let started = "2026-01-02T03:04:05.678Z".parse().expect("a timestamp");
    let mut progress = Progress::new(plan, options, started).expect("-P is given");
    let rate_limited = plan.load.rate_tps.is_some();
    let seconds = [(Phase::Warmup, 0), (Phase::Warmup, 1)];
    let seconds = seconds.into_iter().chain((0..6).map(|index| (Phase::Measure, index)));
    let lines = seconds.filter_map(|(phase, index)| {
        let mut interval = Interval::new(phase, index, 0, rate_limited);
        interval.counts = Counts {
            transactions: 100,
            serialization_failures: 1,
            skipped: 2,
            retried: 3,
            retries: 4,
            ..Counts::default()
        };
        interval.response = latencies(100);
        interval.lag = rate_limited.then(|| latencies(100));
        interval.clients = if index < 5 { 10 } else { 0 };
        progress.record(&fixture::ready(interval, 3))
    });
    lines.collect()
}

#[test]
fn progress_lines_have_pgbenchs_fields_and_the_clusters_at_the_end() {
    let mut plan = fixture::plan();
    plan.load.end = End::Duration(Duration::from_secs(4));
    let options = Options { progress_s: Some(2), ..Options::default() };
    let closed = progress(&options, &plan);
    plan.load.rate_tps = Some(100.0);
    let rated = progress(&options, &plan);
    plan.load.latency_limit_us = Some(1000);
    plan.workload.max_tries = Some(2);
    let everything = progress(&options, &plan);
    assert_snapshot!([closed, rated, everything].map(|lines| lines.join("\n")).join("\n\n"));
}

#[test]
fn progress_timestamps_are_seconds_of_the_epoch() {
    let mut plan = fixture::plan();
    plan.load.warmup = Duration::from_secs(2);
    let options = Options { progress_s: Some(1), progress_timestamp: true, ..Options::default() };
    let lines = progress(&options, &plan);
    assert!(lines[0].starts_with("warm-up: 1767323044.678 s, "), "{}", lines[0]);
    assert!(lines[2].starts_with("progress: 1767323046.678 s, "), "{}", lines[2]);
}

#[test]
fn past_the_planned_end_only_clients_at_work_are_worth_a_line() {
    let mut plan = fixture::plan();
    plan.load.end = End::Duration(Duration::from_secs(4));
    let options = Options { progress_s: Some(1), ..Options::default() };
    // The sixth second (index 5) has no client left.
    assert_eq!(progress(&options, &plan).len(), 2 + 5);
}

#[test]
fn conditions_that_failed_a_run_stand_below_the_verdict() {
    let mut run = fixture::local();
    let conditions = "p99>4ms,failed>0,tps<1,lag.p99>1s";
    run.options.fail_if = Expectation::list(conditions).expect("they are well formed");
    run.options.require_valid = true;
    run.merged.aborted_clients = 1;
    run.judge();
    let block = block(&run);
    let verdict = block.find("verdict").expect("there is one");
    assert_snapshot!(block[verdict..]);
    assert_eq!(run.exit_code, ExitCode::ExpectationMissed);
}

#[test]
fn a_warning_is_a_failure_where_the_run_must_be_valid() {
    let mut run = fixture::local();
    for (aborted, require_valid, code) in [
        (0, true, ExitCode::Done),
        (1, false, ExitCode::ClientsUnfinished),
        (1, true, ExitCode::Invalid),
    ] {
        run.merged.aborted_clients = aborted;
        run.options.require_valid = require_valid;
        run.judge();
        assert_eq!(run.exit_code, code, "{aborted} aborted, require {require_valid}");
    }
}

#[test]
fn a_run_with_an_outage_says_when_it_was_and_what_it_leaves_unknown() {
    let mut run = fixture::local();
    run.plan.load.reconnect = true;
    run.options.failures_detailed = true;
    run.merged.measured.connection_failures = 2;
    run.merged.measured.reconnects = 2;
    run.merged.measured.unreachable_us = 5_000_000;
    run.merged.reconnecting = latencies(2);
    let refused = "ECONNREFUSED: connection to server failed: Connection refused";
    run.merged.outages.push(Outage {
        start_us: 1_250_000,
        end_us: 3_750_000,
        over: true,
        clients: 2,
        first_error: "57P01: FATAL:  terminating connection due to administrator command".into(),
        last_error: refused.into(),
    });
    run.judge();
    assert!(report(&run).contains("number of connection failures: 2 (0.020%)\n"));
    let block = block(&run);
    for line in [
        "outages         1, with 2 reconnects, 5.000 s of clients' time lost\n  \
         at 1.250 s for 2.500 s, 2 clients\n    first 57P01: FATAL:  terminating connection due to \
         administrator command\n    last ECONNREFUSED: connection to server failed: Connection refused\n",
        "unknown outcome 2 transactions lost their session and may be committed or not\n",
        "server commits  10002, as the agents counted\n",
        "  warning: outage: clients were without their sessions for 2.500 s in 1 outage",
    ] {
        assert!(block.contains(line), "no {line:?} in\n{block}");
    }
    // More commits than reported are no contradiction, fewer are.
    for (commits, valid) in [(10_004, true), (10_001, false)] {
        run.server.commits = ServerCount::Counted(commits);
        run.judge();
        assert_eq!(run.verdict.is_valid(), valid, "{commits}");
    }
}
