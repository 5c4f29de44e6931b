//! From arguments to the plan that every agent executes. Pure.

use jiff::Timestamp;
use pgsurge_common::ids::RunId;
use pgsurge_common::plan::{Load, Plan, PlanError, ScriptSource, Seeds, Workload};
use pgsurge_common::target::Target;

use crate::cli::bench::BenchArgs;

/// What is executed.
pub fn workload(args: &BenchArgs, scale: i64) -> Workload {
    Workload {
        scripts: args.scripts.clone(),
        protocol: args.protocol,
        scale,
        defines: args.defines.clone(),
        max_tries: args.max_tries,
        continue_on_error: args.continue_on_error,
        exit_on_abort: args.exit_on_abort,
        verbose_errors: args.verbose_errors,
        report_per_command: args.report_per_command,
    }
}

/// The whole plan, under a new name.
pub fn plan(args: &BenchArgs, scale: i64, target: Target) -> Result<Plan, PlanError> {
    Plan {
        run_id: run_id(),
        workload: workload(args, scale),
        load: Load {
            clients: args.clients,
            end: args.end,
            warmup: args.cluster.warmup,
            rate_tps: args.rate_tps,
            latency_limit_us: args.latency_limit_us,
            connect_per_transaction: args.connect_per_transaction,
            reconnect: args.cluster.reconnect,
            connect: args.cluster.connect,
            allow_fewer_clients: args.cluster.allow_fewer_clients,
            drain_timeout: args.cluster.drain_timeout,
        },
        target,
        seeds: Seeds { random_seed: args.seed.value },
        log: args.log.clone(),
    }
    .checked()
}

/// Whether the rows of `pgbench_history` can be counted against the transactions: nobody but pgbench's own
/// scripts writes them, and one of them does.
pub fn adds_history(workload: &Workload) -> bool {
    workload.scripts.iter().all(|script| script.builtin)
        && workload.scripts.iter().any(ScriptSource::adds_history_row)
}

/// A name that sorts by time and that two runs begun in one second do not share.
fn run_id() -> RunId {
    let now = Timestamp::now();
    let micros = now.subsec_nanosecond().unsigned_abs() / 1000;
    let time = now.strftime("%Y%m%dT%H%M%SZ");
    let name = format!("{time}-{:05x}{:x}", micros, std::process::id());
    RunId::new(name).expect("digits, letters and dashes only")
}
