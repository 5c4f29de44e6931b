//! The plan and a share of it.

use std::time::Duration;

use pgsurge_common::ids::{ClientId, RunId, WorkerId};
use pgsurge_common::plan::split::{Share, WorkerShare};
use pgsurge_common::plan::{
    ConnectBudget, End, Load, Log, LogKind, Plan, Protocol, ScriptSource, Seeds, Workload,
};

use crate::error::{WireError, each, optional, required, text};
use crate::wire;

/// Nanoseconds of a duration; saturates after 584 years.
pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn run_id(value: String, field: &'static str) -> Result<RunId, WireError> {
    let value = text(value, field)?;
    RunId::new(value.clone()).ok_or_else(|| WireError::invalid(field, &format!("\"{value}\"")))
}

fn positive(value: u32, field: &'static str) -> Result<u32, WireError> {
    if value == 0 { Err(WireError::Missing(field)) } else { Ok(value) }
}

/// A rate that can be kept: finite and above zero.
fn rate(value: Option<f64>, field: &'static str) -> Result<Option<f64>, WireError> {
    match value {
        Some(rate) if !rate.is_finite() || rate <= 0.0 => Err(WireError::invalid(field, &rate)),
        rate => Ok(rate),
    }
}

impl From<&Plan> for wire::Plan {
    fn from(plan: &Plan) -> Self {
        let Plan { run_id, workload, load, target, seeds, log } = plan;
        let Seeds { random_seed } = *seeds;
        Self {
            run_id: run_id.to_string(),
            workload: Some(workload.into()),
            load: Some(load.into()),
            target: Some(target.into()),
            seeds: Some(wire::Seeds { random_seed }),
            log: log.as_ref().map(Into::into),
        }
    }
}

impl TryFrom<wire::Plan> for Plan {
    type Error = WireError;

    fn try_from(wire: wire::Plan) -> Result<Self, WireError> {
        let wire::Seeds { random_seed } = wire.seeds.ok_or(WireError::Missing("Plan.seeds"))?;
        let plan = Self {
            run_id: run_id(wire.run_id, "Plan.run_id")?,
            workload: required(wire.workload, "Plan.workload")?,
            load: required(wire.load, "Plan.load")?,
            target: required(wire.target, "Plan.target")?,
            seeds: Seeds { random_seed },
            log: optional(wire.log)?,
        };
        plan.checked().map_err(|e| WireError::invalid("Plan", &e))
    }
}

impl From<&Log> for wire::Log {
    fn from(log: &Log) -> Self {
        use wire::log::Kind;
        let Log { prefix, kind, failures_detailed, collect } = log;
        let kind = match *kind {
            LogKind::Transactions { sampling_rate } => {
                Kind::Transactions(wire::TransactionLog { sampling_rate })
            }
            LogKind::Aggregates(seconds) => Kind::AggregateIntervalS(seconds),
        };
        Self {
            prefix: prefix.clone(),
            kind: Some(kind),
            failures_detailed: *failures_detailed,
            collect: *collect,
        }
    }
}

impl TryFrom<wire::Log> for Log {
    type Error = WireError;

    fn try_from(wire: wire::Log) -> Result<Self, WireError> {
        use wire::log::Kind;
        let kind = match wire.kind.ok_or(WireError::Missing("Log.kind"))? {
            Kind::Transactions(wire::TransactionLog { sampling_rate }) => {
                LogKind::Transactions { sampling_rate }
            }
            Kind::AggregateIntervalS(seconds) => LogKind::Aggregates(seconds),
        };
        let wire::Log { prefix, kind: _, failures_detailed, collect } = wire;
        Ok(Self { prefix, kind, failures_detailed, collect })
    }
}

impl From<&Workload> for wire::Workload {
    fn from(workload: &Workload) -> Self {
        let Workload {
            scripts,
            protocol,
            scale,
            defines,
            max_tries,
            continue_on_error,
            exit_on_abort,
            verbose_errors,
            report_per_command,
        } = workload;
        let protocol = match protocol {
            Protocol::Simple => wire::Protocol::Simple,
            Protocol::Extended => wire::Protocol::Extended,
            Protocol::Prepared => wire::Protocol::Prepared,
        };
        let defines = defines
            .iter()
            .map(|(name, value)| wire::Define { name: name.clone(), value: value.clone() });
        Self {
            scripts: scripts.iter().map(Into::into).collect(),
            protocol: protocol.into(),
            scale: *scale,
            defines: defines.collect(),
            max_tries: *max_tries,
            continue_on_error: *continue_on_error,
            exit_on_abort: *exit_on_abort,
            verbose_errors: *verbose_errors,
            report_per_command: *report_per_command,
        }
    }
}

impl TryFrom<wire::Workload> for Workload {
    type Error = WireError;

    fn try_from(wire: wire::Workload) -> Result<Self, WireError> {
        let protocol = match wire.protocol() {
            wire::Protocol::Unspecified => return Err(WireError::Missing("Workload.protocol")),
            wire::Protocol::Simple => Protocol::Simple,
            wire::Protocol::Extended => Protocol::Extended,
            wire::Protocol::Prepared => Protocol::Prepared,
        };
        if wire.scripts.is_empty() {
            return Err(WireError::Missing("Workload.scripts"));
        }
        Ok(Self {
            scripts: each(wire.scripts)?,
            protocol,
            scale: wire.scale,
            defines: wire.defines.into_iter().map(|define| (define.name, define.value)).collect(),
            max_tries: wire.max_tries,
            continue_on_error: wire.continue_on_error,
            exit_on_abort: wire.exit_on_abort,
            verbose_errors: wire.verbose_errors,
            report_per_command: wire.report_per_command,
        })
    }
}

impl From<&ScriptSource> for wire::ScriptSource {
    fn from(script: &ScriptSource) -> Self {
        let ScriptSource { name, text, weight, builtin } = script;
        Self { name: name.clone(), text: text.clone(), weight: *weight, builtin: *builtin }
    }
}

impl From<wire::ScriptSource> for ScriptSource {
    fn from(wire: wire::ScriptSource) -> Self {
        let wire::ScriptSource { name, text, weight, builtin } = wire;
        Self { name, text, weight, builtin }
    }
}

impl From<&Load> for wire::Load {
    fn from(load: &Load) -> Self {
        let Load {
            clients,
            end,
            warmup,
            rate_tps,
            latency_limit_us,
            connect_per_transaction,
            reconnect,
            connect,
            allow_fewer_clients,
            drain_timeout,
        } = load;
        let end = match *end {
            End::Transactions(transactions) => wire::load::End::Transactions(transactions),
            End::Duration(duration) => wire::load::End::DurationNs(nanos(duration)),
        };
        let ConnectBudget { rate_per_s, concurrency, timeout } = *connect;
        let timeout_ns = nanos(timeout);
        Self {
            clients: *clients,
            end: Some(end),
            warmup_ns: nanos(*warmup),
            rate_tps: *rate_tps,
            latency_limit_us: *latency_limit_us,
            connect_per_transaction: *connect_per_transaction,
            reconnect: *reconnect,
            connect: Some(wire::ConnectBudget { rate_per_s, concurrency, timeout_ns }),
            allow_fewer_clients: *allow_fewer_clients,
            drain_timeout_ns: drain_timeout.map(nanos),
        }
    }
}

impl TryFrom<wire::Load> for Load {
    type Error = WireError;

    fn try_from(wire: wire::Load) -> Result<Self, WireError> {
        let end = match wire.end.ok_or(WireError::Missing("Load.end"))? {
            wire::load::End::Transactions(transactions) => End::Transactions(transactions),
            wire::load::End::DurationNs(nanos) => End::Duration(Duration::from_nanos(nanos)),
        };
        let connect = wire.connect.ok_or(WireError::Missing("Load.connect"))?;
        Ok(Self {
            clients: positive(wire.clients, "Load.clients")?,
            end,
            warmup: Duration::from_nanos(wire.warmup_ns),
            rate_tps: rate(wire.rate_tps, "Load.rate_tps")?,
            latency_limit_us: wire.latency_limit_us,
            connect_per_transaction: wire.connect_per_transaction,
            reconnect: wire.reconnect,
            connect: ConnectBudget {
                rate_per_s: rate(connect.rate_per_s, "ConnectBudget.rate_per_s")?,
                concurrency: positive(connect.concurrency, "ConnectBudget.concurrency")?,
                timeout: Duration::from_nanos(connect.timeout_ns),
            },
            allow_fewer_clients: wire.allow_fewer_clients,
            drain_timeout: wire.drain_timeout_ns.map(Duration::from_nanos),
        })
    }
}

impl From<&Share> for wire::Share {
    fn from(share: &Share) -> Self {
        let Share { workers, connect_concurrency, connect_rate_per_s, moves } = share;
        Self {
            workers: workers.iter().map(|worker| (*worker).into()).collect(),
            connect_concurrency: *connect_concurrency,
            connect_rate_per_s: *connect_rate_per_s,
            moves: *moves,
        }
    }
}

impl TryFrom<wire::Share> for Share {
    type Error = WireError;

    fn try_from(wire: wire::Share) -> Result<Self, WireError> {
        Ok(Self {
            workers: each(wire.workers)?,
            connect_concurrency: positive(wire.connect_concurrency, "Share.connect_concurrency")?,
            connect_rate_per_s: rate(wire.connect_rate_per_s, "Share.connect_rate_per_s")?,
            moves: moves(wire.moves)?,
        })
    }
}

impl From<WorkerShare> for wire::WorkerShare {
    fn from(share: WorkerShare) -> Self {
        let WorkerShare { worker, first_client, clients } = share;
        Self { worker: worker.0, first_client: first_client.0, clients }
    }
}

impl TryFrom<wire::WorkerShare> for WorkerShare {
    type Error = WireError;

    fn try_from(wire: wire::WorkerShare) -> Result<Self, WireError> {
        if wire.first_client.checked_add(wire.clients).is_none() {
            return Err(WireError::invalid("WorkerShare.clients", &wire.clients));
        }
        Ok(Self {
            worker: WorkerId(wire.worker),
            first_client: ClientId(wire.first_client),
            clients: wire.clients,
        })
    }
}

/// Each move takes a jump of every client's streams, so a number from nowhere must not cost hours.
fn moves(moves: u32) -> Result<u32, WireError> {
    const MOST: u32 = 10_000;
    if moves > MOST {
        return Err(WireError::invalid("Share.moves", &moves));
    }
    Ok(moves)
}
