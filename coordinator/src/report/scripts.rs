//! pgbench's blocks on each script (where there are several) and each command (`-r`).

use std::io::{self, Write};

use pgsurge_common::stats::ScriptStats;

use super::pgbench::{mean_and_stddev, outcomes, percent};
use super::{RunResult, StatementResult};

/// Prints the blocks that the run calls for; none for a single script without `-r`.
pub(super) fn report(out: &mut impl Write, run: &RunResult) -> io::Result<()> {
    let scripts = &run.plan.workload.scripts;
    let several = scripts.len() > 1;
    let prefix = if several { " - " } else { "" };
    for (number, script) in scripts.iter().enumerate() {
        if several {
            writeln!(out, "SQL script {}: {}", number + 1, script.name)?;
            if let Some(stats) = run.merged.scripts.get(number) {
                one_script(out, run, script.weight, stats)?;
            }
        }
        if run.plan.workload.report_per_command {
            let commands = run.statements.get(number).map_or(&[][..], Vec::as_slice);
            statements(out, prefix, run.plan.workload.max_tries == Some(1), commands)?;
        }
    }
    Ok(())
}

fn one_script(
    out: &mut impl Write,
    run: &RunResult,
    weight: u32,
    stats: &ScriptStats,
) -> io::Result<()> {
    let weights: u64 = run.plan.workload.scripts.iter().map(|s| u64::from(s.weight)).sum();
    let target = percent(u64::from(weight), weights);
    writeln!(out, " - weight: {weight} (targets {target:.1}% of total)")?;
    let counts = &stats.counts;
    let all = counts.all();
    let share = percent(all, run.merged.measured.all());
    writeln!(out, " - {all} transactions ({share:.1}% of total)")?;
    if all == 0 {
        return Ok(());
    }
    let processed = counts.transactions;
    writeln!(
        out,
        " - number of transactions actually processed: {processed} (tps = {:.6})",
        run.tps(processed)
    )?;
    outcomes(out, run, " - ", counts, all)?;
    mean_and_stddev(out, " - ", &stats.response)
}

fn statements(
    out: &mut impl Write,
    prefix: &str,
    single_try: bool,
    commands: &[StatementResult],
) -> io::Result<()> {
    let figures = if single_try { " and failures" } else { ", failures and retries" };
    writeln!(out, "{prefix}statement latencies in milliseconds{figures}:")?;
    for command in commands {
        let stats = &command.stats;
        write!(out, "   {:11.3}  {:10}", stats.latency.mean_us() / 1000.0, stats.failures)?;
        if !single_try {
            write!(out, " {:10}", stats.retries)?;
        }
        writeln!(out, " {}", command.line)?;
    }
    Ok(())
}
