//! What only a cluster can say, below pgbench's lines: agents, percentiles, clocks, sessions, the
//! server's own count, the verdict.
//!
//! No line contains `tps = `, `latency average` or any other label of pgbench's, so that whatever
//! searches for those finds pgbench's lines only.

use std::io::{self, Write};

use pgsurge_common::stats::{Histogram, LogTotals};
use pgsurge_common::wording::counted;

use super::table::Table;
use super::{AgentResult, RunResult, Status, coverage, evidence, server};
use crate::verdict::{Comparison, Severity};

/// The percentiles that every report shows, with their names.
pub const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.50), ("p90", 0.90), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// Prints the block.
///
/// # Errors
/// The writer fails.
pub fn report(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    writeln!(out)?;
    writeln!(out, "run {}: {}", run.plan.run_id, state(run))?;
    writeln!(out)?;
    agents(out, run)?;
    writeln!(out)?;
    percentiles(out, run)?;
    writeln!(out)?;
    facts(out, run)?;
    server::report(out, run)?;
    verdict(out, run)?;
    expectations(out, run)
}

fn state(run: &RunResult) -> String {
    let measured = format!("{:.3} s measured", run.merged.duration.as_secs_f64());
    match run.status {
        Status::Complete => measured,
        Status::CutShort => format!("{measured}, cut short"),
        Status::Interrupted => format!("{measured}, interrupted"),
    }
}

fn agents(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let mut table = Table::new(&[
        "agent",
        "clients",
        "workers",
        "transactions",
        "per s",
        "p50 ms",
        "p99 ms",
        "max ms",
        "cpu",
        "start ms",
        "clock ms",
    ]);
    for agent in &run.agents {
        table.row(agent_row(run, agent));
    }
    if run.agents.len() > 1 {
        let workers: u32 = run.agents.iter().map(AgentResult::workers).sum();
        let beginning = run.agents.iter().filter(|agent| agent.took_over_from.is_none());
        let clients: u32 = beginning.map(AgentResult::clients).sum();
        let measured = run.merged.measured.transactions;
        let mut row = vec!["all".into(), clients.to_string(), workers.to_string()];
        row.extend([measured.to_string(), format!("{:.1}", run.tps(measured))]);
        row.extend(three_times(&run.merged.response));
        table.row(row);
    }
    table.print(out)
}

fn agent_row(run: &RunResult, agent: &AgentResult) -> Vec<String> {
    let done = agent.counts.transactions;
    let mut row =
        vec![agent.name.clone(), agent.clients().to_string(), agent.workers().to_string()];
    row.extend([done.to_string(), format!("{:.1}", run.agent_tps(agent))]);
    row.extend(three_times(&agent.response));
    row.push(format!("{:.0} %", 100.0 * agent.cpu_fraction()));
    row.push(
        agent.start_offset_us().map_or("-".into(), |us| format!("{:+.3}", us as f64 / 1000.0)),
    );
    row.push(format!("±{:.3}", agent.clock.error_us as f64 / 1000.0));
    row.push(remarks(agent).join("; "));
    row
}

/// What sets an agent apart from one that was there from beginning to end.
fn remarks(agent: &AgentResult) -> Vec<String> {
    let took = agent.took_over_from.as_ref().zip(agent.ran);
    let took = took.map(|(from, ran)| match ran.seconds() {
        0.0 => format!("was to take over from {from}"),
        _ => format!("took over from {from} at {:.0} s", ran.from_s),
    });
    let silent = agent.unreachable.iter().take(3);
    let silent =
        silent.map(|span| format!("unreachable {:.1} to {:.1} s", span.from_s, span.until_s));
    let gone = match (&agent.lost, &agent.left) {
        (Some(lost), _) => Some(format!("lost, heard until {:.1} s", lost.at_s)),
        (None, Some(_)) => Some("left".to_owned()),
        (None, None) => None,
    };
    took.into_iter().chain(silent).chain(gone).collect()
}

fn three_times(latency: &Histogram) -> [String; 3] {
    [0.50, 0.99, 1.0].map(|q| ms(latency, q))
}

fn ms(latency: &Histogram, q: f64) -> String {
    if latency.is_empty() {
        return "-".into();
    }
    format!("{:.3}", latency.quantile_us(q) as f64 / 1000.0)
}

fn percentiles(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let names = PERCENTILES.map(|(name, _)| name);
    let mut heading = vec!["milliseconds"];
    heading.extend(names);
    heading.extend(["max", "mean", "count"]);
    let mut table = Table::new(&heading);
    let merged = &run.merged;
    let connecting = Some(&run.connections.latency).filter(|latency| !latency.is_empty());
    let reconnecting = Some(&merged.reconnecting).filter(|latency| !latency.is_empty());
    let rows = [
        ("response time", Some(&merged.response)),
        ("service time", merged.service.as_ref()),
        ("schedule lag", merged.lag.as_ref()),
        ("connecting", connecting),
        ("reconnecting", reconnecting),
    ];
    for (name, latency) in rows {
        let Some(latency) = latency else { continue };
        let mut row = vec![name.to_owned()];
        row.extend(PERCENTILES.iter().map(|&(_, q)| ms(latency, q)));
        row.push(ms(latency, 1.0));
        let mean = latency.moments().mean_us() / 1000.0;
        row.push(if latency.is_empty() { "-".into() } else { format!("{mean:.3}") });
        row.push(latency.len().to_string());
        table.row(row);
    }
    table.print(out)
}

/// One labelled line.
pub(super) fn fact(out: &mut impl Write, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{label:<15} {text}")
}

fn facts(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let connections = &run.connections;
    let seconds = connections.elapsed_us as f64 / 1e6;
    let sessions = match (connections.obtained, connections.wanted) {
        (_, wanted) if run.plan.load.connect_per_transaction => {
            let clients = counted(wanted.into(), "client");
            format!("{clients}, a new session for every transaction")
        }
        (obtained, wanted) => format!("{obtained} of {wanted} in {seconds:.3} s"),
    };
    fact(out, "sessions", &sessions)?;
    if run.agents.len() > 1
        && let Some(spread) = run.start_spread_us()
    {
        let spread = format!("{:.3} ms from the first agent to the last", spread as f64 / 1000.0);
        fact(out, "start spread", &spread)?;
    }
    warmup(out, run)?;
    if let Some(part) = coverage::sentence(run) {
        fact(out, "figures hold", &part)?;
    }
    outages(out, run)?;
    if !run.merged.errors.is_empty() {
        let errors: Vec<String> =
            run.merged.errors.0.iter().map(|(kind, n)| format!("{kind} x {n}")).collect();
        fact(out, "errors", &errors.join(", "))?;
    }
    log(out, run)?;
    let evidence = evidence::of(run);
    fact(out, "server commits", &comparison(&evidence.server_commits))?;
    match &evidence.history_rows {
        Comparison::NotCheckable(_) => Ok(()),
        checked => fact(out, "history rows", &comparison(checked)),
    }
}

/// When clients were without their sessions, and what that leaves unknown.
fn outages(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    /// Those that are shown one by one; the summary has more.
    const SHOWN: usize = 10;
    let (outages, counts) = (&run.merged.outages, &run.merged.measured);
    if outages.count() == 0 {
        return Ok(());
    }
    let away = counts.unreachable_us as f64 / 1e6;
    let (count, reconnects) = (outages.count(), counts.reconnects);
    let text = format!("{count}, with {reconnects} reconnects, {away:.3} s of clients' time lost");
    fact(out, "outages", &text)?;
    for outage in outages.listed.iter().take(SHOWN) {
        let (at, length) = (outage.start_us as f64 / 1e6, outage.length_us() as f64 / 1e6);
        let to_the_end = if outage.over { "" } else { " to the end" };
        let clients = outage.clients;
        writeln!(out, "  at {at:.3} s for {length:.3} s{to_the_end}, {clients} clients")?;
        writeln!(out, "    first {}", outage.first_error)?;
        if outage.last_error != outage.first_error {
            writeln!(out, "    last {}", outage.last_error)?;
        }
    }
    if counts.connection_failures > 0 {
        let unknown = counts.connection_failures;
        let text = format!("{unknown} transactions lost their session and may be committed or not");
        fact(out, "unknown outcome", &text)?;
    }
    Ok(())
}

/// How much was logged, and how much of it is here.
fn log(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    if run.plan.log.is_none() {
        return Ok(());
    }
    let mut written = LogTotals::default();
    run.agents.iter().filter_map(AgentResult::log).for_each(|log| written.merge(&log));
    let (lines, files) = (counted(written.lines, "line"), counted(written.files.into(), "file"));
    let mut parts = vec![format!("{lines} in {files}")];
    if written.lost_lines > 0 {
        parts.push(format!("{} lost", counted(written.lost_lines, "line")));
    }
    let collected = || run.agents.iter().filter_map(|agent| agent.logs.as_ref());
    if collected().next().is_some() {
        let bytes: u64 = collected().map(|logs| logs.kept.bytes).sum();
        parts.push(format!("{} collected in logs/", counted(bytes, "byte")));
    }
    fact(out, "log", &parts.join(", "))
}

fn warmup(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let planned = run.plan.load.warmup.as_secs_f64();
    if planned <= 0.0 {
        return Ok(());
    }
    let done = run.merged.warmup.transactions;
    let length = match run.merged.warmup_cut {
        Some(cut) => format!("{:.1} s of {planned}", cut.as_secs_f64()),
        None => planned.to_string(),
    };
    let text = format!("{length} s with {}, in no figure above", counted(done, "transaction"));
    fact(out, "warm-up", &text)?;
    if run.plan.load.rate_tps.is_some() {
        let backlog = run.merged.inherited_backlog;
        let text = format!("{backlog} transactions were due and not begun when measuring began");
        fact(out, "backlog", &text)?;
    }
    Ok(())
}

fn comparison(count: &Comparison) -> String {
    match *count {
        Comparison::NotCheckable(ref reason) => format!("not checkable: {reason}"),
        Comparison::Exactly { server, fleet }
        | Comparison::AtLeast { server, fleet }
        | Comparison::Between { server, fleet, .. } => match () {
            () if server == fleet => format!("{server}, as the agents counted"),
            () if count.is_contradicted() => format!("{server}, but the agents counted {fleet}"),
            () => format!("{server}, at least the {fleet} that the agents counted"),
        },
    }
}

fn verdict(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let findings = &run.verdict.findings;
    let word = match (run.verdict.is_valid(), run.status, findings.is_empty()) {
        (false, ..) => "invalid",
        (true, Status::Complete, true) => "valid",
        (true, Status::Complete, false) => "valid, with warnings",
        (true, ..) => "valid as far as it went",
    };
    fact(out, "verdict", word)?;
    if run.options.require_valid && !findings.is_empty() {
        writeln!(out, "  --require valid: no finding was allowed")?;
    }
    for finding in findings {
        let severity = match finding.severity {
            Severity::Warning => "warning",
            Severity::Invalid => "invalid",
        };
        writeln!(out, "  {severity}: {}: {}", finding.code, finding.message)?;
    }
    Ok(())
}

/// One line for each `--fail-if`.
fn expectations(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    for checked in &run.expectations {
        let outcome = if checked.missed { "failed" } else { "passed" };
        fact(out, "fail-if", &format!("{}: {outcome}, {}", checked.expression, checked.shown))?;
    }
    Ok(())
}
