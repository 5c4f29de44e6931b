//! pgbench's own report, to the letter of version 18, so that whatever reads pgbench's output reads
//! ours. Nothing of a cluster appears here.
//!
//! Figures that pgbench derives are derived the same way: without `-R`, `-P` or `-L` the latency is
//! duration x clients / transactions, otherwise it is measured.

use std::io::{self, Write};

use pgsurge_common::plan::{End, Protocol};
use pgsurge_common::stats::{Counts, Histogram};

use super::{AgentResult, RunResult, scripts};

/// The first line, printed before the run.
///
/// # Errors
/// The writer fails.
pub fn banner(out: &mut impl Write, server_version: &str) -> io::Result<()> {
    writeln!(out, "pgsurge ({}, server {server_version})", env!("CARGO_PKG_VERSION"))
}

/// Everything that pgbench prints after its run.
///
/// # Errors
/// The writer fails.
pub fn report(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let counts = &run.merged.measured;
    workload(out, run)?;
    amount(out, run)?;
    if counts.all() == 0 {
        return Ok(());
    }
    outcomes(out, run, "", counts, counts.all())?;
    if let Some(limit) = run.plan.load.latency_limit_us {
        let share = percent(counts.late, counts.transactions);
        writeln!(
            out,
            "number of transactions above the {:.1} ms latency limit: {}/{} ({share:.3}%)",
            limit as f64 / 1000.0,
            counts.late,
            counts.transactions
        )?;
    }
    latency(out, run)?;
    if let Some(lag) = &run.merged.lag {
        let sum = lag.moments().sum as f64;
        let average = sum / counts.transactions as f64 / 1000.0;
        let max = lag.moments().max as f64 / 1000.0;
        writeln!(out, "rate limit schedule lag: avg {average:.3} (max {max:.3}) ms")?;
    }
    rate(out, run)?;
    scripts::report(out, run)
}

fn workload(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let workload = &run.plan.workload;
    let kind = match workload.scripts.as_slice() {
        [only] => only.name.as_str(),
        _ => "multiple scripts",
    };
    writeln!(out, "transaction type: {kind}")?;
    writeln!(out, "scaling factor: {}", workload.scale)?;
    if let Some(partitions) = &run.server.partitions
        && workload.scripts.iter().any(|s| s.builtin)
    {
        writeln!(out, "partition method: {}", partitions.method)?;
        writeln!(out, "partitions: {}", partitions.count)?;
    }
    writeln!(out, "query mode: {}", protocol(workload.protocol))?;
    writeln!(out, "number of clients: {}", run.plan.load.clients)?;
    writeln!(
        out,
        "number of threads: {}",
        run.agents.iter().map(AgentResult::workers).sum::<u32>()
    )?;
    if let Some(tries) = workload.max_tries {
        writeln!(out, "maximum number of tries: {tries}")?;
    }
    Ok(())
}

fn amount(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let processed = run.merged.measured.transactions;
    match run.plan.load.end {
        End::Transactions(each) => {
            let wanted = u128::from(each) * u128::from(run.plan.load.clients);
            writeln!(out, "number of transactions per client: {each}")?;
            writeln!(out, "number of transactions actually processed: {processed}/{wanted}")
        }
        End::Duration(time) => {
            writeln!(out, "duration: {} s", time.as_secs())?;
            writeln!(out, "number of transactions actually processed: {processed}")
        }
    }
}

/// The lines on failures, retries and skips; `all` is what the percentages are of.
pub(super) fn outcomes(
    out: &mut impl Write,
    run: &RunResult,
    prefix: &str,
    counts: &Counts,
    all: u64,
) -> io::Result<()> {
    let mut line = |label: &str, n: u64| {
        writeln!(out, "{prefix}number of {label}: {n} ({:.3}%)", percent(n, all))
    };
    line("failed transactions", counts.failed())?;
    if run.options.failures_detailed {
        line("serialization failures", counts.serialization_failures)?;
        line("deadlock failures", counts.deadlock_failures)?;
        if run.plan.workload.continue_on_error {
            line("other failures", counts.other_failures)?;
        }
        if run.plan.load.reconnect {
            line("connection failures", counts.connection_failures)?;
        }
    }
    if run.plan.workload.max_tries != Some(1) {
        line("transactions retried", counts.retried)?;
        writeln!(out, "{prefix}total number of retries: {}", counts.retries)?;
    }
    if run.plan.load.rate_tps.is_some() && run.plan.load.latency_limit_us.is_some() {
        let share = percent(counts.skipped, all);
        writeln!(out, "{prefix}number of transactions skipped: {} ({share:.3}%)", counts.skipped)?;
    }
    Ok(())
}

fn latency(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let load = &run.plan.load;
    let measured = load.rate_tps.is_some()
        || load.latency_limit_us.is_some()
        || run.options.progress_s.is_some();
    if measured {
        return mean_and_stddev(out, "", &run.merged.response);
    }
    let counts = &run.merged.measured;
    let clients = f64::from(run.connections.obtained);
    let average = run.merged.duration.as_secs_f64() * 1000.0 * clients / counts.all() as f64;
    let note = if counts.failed() > 0 { " (including failures)" } else { "" };
    writeln!(out, "latency average = {average:.3} ms{note}")
}

/// The measured pair of lines; nothing if nothing was measured.
pub(super) fn mean_and_stddev(
    out: &mut impl Write,
    prefix: &str,
    latency: &Histogram,
) -> io::Result<()> {
    if latency.is_empty() {
        return Ok(());
    }
    let moments = latency.moments();
    writeln!(out, "{prefix}latency average = {:.3} ms", moments.mean_us() / 1000.0)?;
    writeln!(out, "{prefix}latency stddev = {:.3} ms", moments.stddev_us() / 1000.0)
}

fn rate(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let counts = &run.merged.measured;
    let tps = run.tps(counts.transactions);
    if run.plan.load.connect_per_transaction {
        let connections = (counts.transactions + counts.failed()) as f64;
        let average = counts.connect_us as f64 / 1000.0 / connections;
        writeln!(out, "average connection time = {average:.3} ms")?;
        writeln!(out, "tps = {tps:.6} (including reconnection times)")
    } else {
        let elapsed = run.connections.elapsed_us as f64 / 1000.0;
        writeln!(out, "initial connection time = {elapsed:.3} ms")?;
        writeln!(out, "tps = {tps:.6} (without initial connection time)")
    }
}

/// `n` of `all` in percent; 0 of nothing is 0, as pgbench has it.
pub(super) fn percent(n: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * n as f64 / all as f64 }
}

/// The name as `-M` takes it.
pub(super) fn protocol(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Simple => "simple",
        Protocol::Extended => "extended",
        Protocol::Prepared => "prepared",
    }
}
