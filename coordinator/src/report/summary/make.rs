//! Turns a run's result into its summary document.

use pgsurge_common::plan::{End, Plan};
use pgsurge_common::stats::{ErrorCounts, Histogram, LogTotals, Outage, ScriptStats};
use pgsurge_common::target::{Address, Host};

use super::{
    AgentSummary, CheckSummary, CollectedSummary, Config, ConnectionsSummary, CoverageSummary,
    ExpectationSummary, FindingSummary, IntervalSummary, LatencyMs, LogSummary, OutageSummary,
    RampSummary, RunStatus, SCHEMA, ScriptSummary, ServerSummary, SeveritySummary, SpanSummary,
    StatementSummary, Summary, TotalsSummary, VerdictSummary,
};
use crate::logs::Collected;
use crate::report::coverage::{self, Step};
use crate::report::{
    AgentResult, Options, RunResult, ServerCount, Span, Status, TimelineEntry, evidence, pgbench,
};
use crate::verdict::{Checked, Comparison, Finding, Severity, Verdict};

impl From<&RunResult> for Summary {
    fn from(run: &RunResult) -> Self {
        Self {
            schema: SCHEMA.into(),
            pgsurge_version: env!("CARGO_PKG_VERSION").into(),
            run_id: run.plan.run_id.to_string(),
            started_at: run.started.to_string(),
            status: match run.status {
                Status::Complete => RunStatus::Complete,
                Status::CutShort | Status::Interrupted => RunStatus::Partial,
            },
            exit_code: run.exit_code as u8,
            config: config(&run.plan, &run.options),
            plan_digest: run.digests.plan.clone(),
            workload_digest: run.digests.workload.clone(),
            totals: totals(run),
            connections: connections(run),
            agents: run.agents.iter().map(|a| agent(run, a)).collect(),
            scripts: scripts(run),
            statements: statements(run),
            intervals: run.timeline.iter().map(interval).collect(),
            coverage: coverage::steps(run).iter().map(covered).collect(),
            outages: run.merged.outages.listed.iter().map(outage).collect(),
            server: server(run),
            verdict: verdict(&run.verdict),
            expectations: run.expectations.iter().map(expectation).collect(),
        }
    }
}

fn config(plan: &Plan, options: &Options) -> Config {
    let (load, workload) = (&plan.load, &plan.workload);
    let (transactions_per_client, duration_s) = match load.end {
        End::Transactions(each) => (Some(each), None),
        End::Duration(time) => (None, Some(time.as_secs_f64())),
    };
    Config {
        hosts: plan.target.hosts.iter().map(host).collect(),
        database: plan.target.database.clone(),
        user: plan.target.user.clone(),
        sslmode: plain(&plan.target.tls.mode),
        clients: load.clients,
        workers_per_agent: options.workers_per_agent,
        agents: options.agents,
        split: if options.split_by_cores { "cores" } else { "even" }.into(),
        protocol: pgbench::protocol(workload.protocol).into(),
        transactions_per_client,
        duration_s,
        warmup_s: load.warmup.as_secs_f64(),
        rate_tps: load.rate_tps,
        latency_limit_ms: load.latency_limit_us.map(ms),
        connect_per_transaction: load.connect_per_transaction,
        reconnect: load.reconnect,
        max_tries: workload.max_tries,
        continue_on_error: workload.continue_on_error,
        exit_on_abort: workload.exit_on_abort,
        scale: workload.scale,
        defines: workload.defines.clone(),
        random_seed: plan.seeds.random_seed,
        connect_rate_per_s: load.connect.rate_per_s,
        connect_concurrency: load.connect.concurrency,
        allow_fewer_clients: load.allow_fewer_clients,
        drain_timeout_s: load.drain_timeout.map(|t| t.as_secs_f64()),
        interval_s: options.interval.as_secs_f64(),
        lease_s: options.lease.as_secs_f64(),
        on_agent_loss: options.on_agent_loss.name().into(),
        fail_if: options.fail_if.iter().map(|expected| expected.text().to_owned()).collect(),
        require_valid: options.require_valid,
    }
}

/// A unit variant's name as serde writes it.
fn plain(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).ok();
    value.and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

fn host(host: &Host) -> String {
    match &host.address {
        Address::Tcp { name, addr: Some(addr) } if name.is_empty() => match addr {
            std::net::IpAddr::V4(v4) => format!("{v4}:{}", host.port),
            std::net::IpAddr::V6(v6) => format!("[{v6}]:{}", host.port),
        },
        Address::Tcp { name, .. } => format!("{name}:{}", host.port),
        Address::Unix(dir) => format!("{}/.s.PGSQL.{}", dir.display(), host.port),
    }
}

fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

fn latency(histogram: &Histogram) -> Option<LatencyMs> {
    if histogram.is_empty() {
        return None;
    }
    let moments = histogram.moments();
    let quantile = |q| ms(histogram.quantile_us(q));
    Some(LatencyMs {
        mean: moments.mean_us() / 1000.0,
        stddev: moments.stddev_us() / 1000.0,
        min: ms(moments.min),
        p50: quantile(0.50),
        p90: quantile(0.90),
        p95: quantile(0.95),
        p99: quantile(0.99),
        p99_9: quantile(0.999),
        max: ms(moments.max),
    })
}

fn totals(run: &RunResult) -> TotalsSummary {
    let merged = &run.merged;
    let counts = &merged.measured;
    TotalsSummary {
        transactions: counts.transactions,
        failed: counts.failed(),
        serialization_failures: counts.serialization_failures,
        deadlock_failures: counts.deadlock_failures,
        other_failures: counts.other_failures,
        connection_failures: counts.connection_failures,
        skipped: counts.skipped,
        retried: counts.retried,
        retries: counts.retries,
        late: counts.late,
        duration_s: merged.duration.as_secs_f64(),
        tps: run.tps(counts.transactions),
        latency_ms: latency(&merged.response),
        service_ms: merged.service.as_ref().and_then(latency),
        lag_ms: merged.lag.as_ref().and_then(latency),
        warmup_transactions: merged.warmup.transactions,
        inherited_backlog: merged.inherited_backlog,
        aborted_clients: merged.aborted_clients,
        reconnects: counts.reconnects,
        reconnecting_ms: latency(&merged.reconnecting),
        unreachable_s: counts.unreachable_us as f64 / 1e6,
        errors: by_kind(&merged.errors),
    }
}

fn by_kind(errors: &ErrorCounts) -> std::collections::BTreeMap<String, u64> {
    errors.0.clone()
}

fn connections(run: &RunResult) -> ConnectionsSummary {
    let connect = &run.connections;
    ConnectionsSummary {
        wanted: connect.wanted,
        obtained: connect.obtained,
        seconds: connect.elapsed_us as f64 / 1e6,
        latency_ms: latency(&connect.latency),
        errors: by_kind(&connect.errors),
        ramp: ramp(&connect.opened),
    }
}

/// The histogram, as a count that grows over time.
fn ramp(opened: &Histogram) -> Vec<RampSummary> {
    const MOST: u64 = 100;
    let all = opened.len();
    let points = all.min(MOST);
    let point = |n: u64| {
        let sessions = n * all / points;
        let t_s = opened.quantile_us(sessions as f64 / all as f64) as f64 / 1e6;
        RampSummary { t_s, sessions }
    };
    (1..=points).map(point).collect()
}

fn agent(run: &RunResult, agent: &AgentResult) -> AgentSummary {
    let lost = agent.lost.as_ref();
    AgentSummary {
        name: agent.name.clone(),
        clients: agent.clients(),
        workers: agent.workers(),
        transactions: agent.counts.transactions,
        tps: run.agent_tps(agent),
        latency_ms: latency(&agent.response),
        cpu_fraction: agent.cpu_fraction(),
        loop_lag_ms: ms(agent.vitals.loop_lag_us),
        start_offset_us: agent.start_offset_us(),
        clock_error_us: agent.clock.error_us,
        clock_drift_us: agent.clock.drift_us,
        lost: lost.is_some() || agent.left.is_some(),
        lost_reason: lost.map(|lost| lost.reason.clone()).or_else(|| agent.left.clone()),
        lost_at_s: lost.map(|lost| lost.at_s),
        log: agent.log().map(log),
        logs_collected: agent.logs.as_ref().map(collected),
        took_over_from: agent.took_over_from.clone(),
        ran: agent.ran.as_ref().map(span),
        unreachable: agent.unreachable.iter().map(span).collect(),
    }
}

fn log(log: LogTotals) -> LogSummary {
    let LogTotals { files, lines, bytes, lost_lines } = log;
    LogSummary { files, lines, bytes, lost_lines }
}

fn collected(collected: &Collected) -> CollectedSummary {
    CollectedSummary {
        folder: collected.path(),
        files: collected.kept.files,
        bytes: collected.kept.bytes,
        problem: collected.problem.clone(),
    }
}

/// A single script has no figures of its own, the totals are its.
fn scripts(run: &RunResult) -> Vec<ScriptSummary> {
    let merged = &run.merged;
    let single = ScriptStats { counts: merged.measured, response: merged.response.clone() };
    let several = run.plan.workload.scripts.len() > 1;
    let stats = if several { merged.scripts.as_slice() } else { std::slice::from_ref(&single) };
    let one =
        |(script, stats): (&pgsurge_common::plan::ScriptSource, &ScriptStats)| ScriptSummary {
            name: script.name.clone(),
            weight: script.weight,
            transactions: stats.counts.transactions,
            failed: stats.counts.failed(),
            skipped: stats.counts.skipped,
            latency_ms: latency(&stats.response),
        };
    run.plan.workload.scripts.iter().zip(stats).map(one).collect()
}

fn statements(run: &RunResult) -> Vec<StatementSummary> {
    let mut all = Vec::new();
    for (script, commands) in run.statements.iter().enumerate() {
        for (command, statement) in commands.iter().enumerate() {
            let latency = &statement.stats.latency;
            all.push(StatementSummary {
                script,
                command,
                text: statement.line.clone(),
                executions: latency.count,
                mean_ms: latency.mean_us() / 1000.0,
                stddev_ms: latency.stddev_us() / 1000.0,
                min_ms: ms(latency.min),
                max_ms: ms(latency.max),
                failures: statement.stats.failures,
                retries: statement.stats.retries,
            });
        }
    }
    all
}

fn span(span: &Span) -> SpanSummary {
    SpanSummary { from_s: span.from_s, until_s: span.until_s }
}

fn covered(step: &Step) -> CoverageSummary {
    CoverageSummary { from_s: step.from_s, clients: step.clients, moved: step.moved }
}

fn interval(entry: &TimelineEntry) -> IntervalSummary {
    let tps = if entry.width_s > 0.0 { entry.transactions as f64 / entry.width_s } else { 0.0 };
    let known = |us: u64| (entry.transactions > 0).then(|| ms(us));
    IntervalSummary {
        t_s: entry.t_s,
        width_s: entry.width_s,
        transactions: entry.transactions,
        failed: entry.failed,
        tps,
        p50_ms: known(entry.p50_us),
        p99_ms: known(entry.p99_us),
        reconnects: entry.reconnects,
        unreachable_s: entry.unreachable_us as f64 / 1e6,
        errors: by_kind(&entry.errors),
        clients: entry.clients,
        disconnected: entry.disconnected,
        agents: entry.agents,
        complete: entry.complete,
        agents_unreachable: entry.agents_unreachable,
        clients_moved: entry.clients_moved,
    }
}

fn outage(outage: &Outage) -> OutageSummary {
    OutageSummary {
        t_s: outage.start_us as f64 / 1e6,
        length_s: outage.length_us() as f64 / 1e6,
        over: outage.over,
        clients: outage.clients,
        first_error: outage.first_error.clone(),
        last_error: outage.last_error.clone(),
    }
}

fn server(run: &RunResult) -> ServerSummary {
    let server = &run.server;
    let evidence = evidence::of(run);
    ServerSummary {
        version: server.version.clone(),
        partition_method: server.partitions.as_ref().map(|p| p.method.clone()),
        partitions: server.partitions.as_ref().map_or(0, |p| p.count),
        xact_commit_delta: match server.commits {
            ServerCount::Counted(n) | ServerCount::CountedAmongOthers(n) => Some(n),
            ServerCount::NotCheckable(_) => None,
        },
        commit_check: check(evidence.server_commits),
        history_check: check(evidence.history_rows),
        settings: server.settings.clone(),
        observation: server.observation.clone(),
        prewarm: server.prewarm.clone(),
    }
}

fn check(comparison: Comparison) -> CheckSummary {
    let contradicted = comparison.is_contradicted();
    match comparison {
        Comparison::NotCheckable(reason) => CheckSummary::NotCheckable { reason },
        Comparison::Exactly { server, fleet }
        | Comparison::AtLeast { server, fleet }
        | Comparison::Between { server, fleet, .. } => match () {
            () if server == fleet => CheckSummary::Equal { server, fleet },
            () if contradicted => CheckSummary::Contradicted { server, fleet },
            () => CheckSummary::AtLeast { server, fleet },
        },
    }
}

fn verdict(verdict: &Verdict) -> VerdictSummary {
    VerdictSummary {
        valid: verdict.is_valid(),
        findings: verdict.findings.iter().map(finding).collect(),
    }
}

fn expectation(checked: &Checked) -> ExpectationSummary {
    ExpectationSummary {
        fail_if: checked.expression.clone(),
        value: checked.value,
        failed: checked.missed,
    }
}

fn finding(finding: &Finding) -> FindingSummary {
    FindingSummary {
        code: finding.code.into(),
        severity: match finding.severity {
            Severity::Warning => SeveritySummary::Warning,
            Severity::Invalid => SeveritySummary::Invalid,
        },
        agent: finding.agent.clone(),
        value: finding.value,
        threshold: finding.threshold,
        message: finding.message.clone(),
    }
}
