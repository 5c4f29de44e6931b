//! Cuts a run's result down to the plain numbers that the rules of the verdict look at.

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_common::plan::{End, ScriptSource};
use pgsurge_common::stats::{Counts, Totals};

use super::{AgentResult, RunResult, ServerCount, Status};
use crate::merge::{Mismatch, Missing};
use crate::verdict::{
    AgentEvidence, Comparison, Cut, Disagreement, Evidence, MissingEvidence, OutageEvidence,
    Planned, RateEvidence,
};

/// The evidence of a run.
#[must_use]
pub(super) fn of(run: &RunResult) -> Evidence {
    let merged = &run.merged;
    let histograms = [
        ("response time", Some(&merged.response)),
        ("service time", merged.service.as_ref()),
        ("schedule lag", merged.lag.as_ref()),
    ];
    let clipped = histograms.into_iter().filter_map(|(name, h)| Some((name, h?.clipped())));
    Evidence {
        agents: run.agents.iter().map(agent).collect(),
        samples: merged.response.len(),
        clipped: clipped.collect(),
        missing: run.missing.iter().map(|missing| owed(run, missing)).collect(),
        disagreements: run.mismatches.iter().map(|found| disagreement(run, found)).collect(),
        sessions_wanted: run.connections.wanted,
        sessions_obtained: run.connections.obtained,
        aborted_clients: merged.aborted_clients,
        outage: outage(run),
        cut: cut(run),
        rate: rate(run),
        server_commits: compare(run, &run.server.commits, commits(run)),
        history_rows: bounded(run, compare(run, &run.server.history_rows, history_rows(run))),
    }
}

/// A client that was broken off has added one row at most that it could not report, and one that is still at work
/// when a run is cut short, too. Of what a lost agent did nothing is known.
fn bounded(run: &RunResult, rows: Comparison) -> Comparison {
    let all_there = run.agents.iter().all(|agent| agent.totals.is_some());
    match (rows, &run.server.history_rows) {
        (Comparison::AtLeast { server, fleet }, ServerCount::Counted(_)) if all_there => {
            let cut = run.status != Status::Complete;
            let at_work = if cut { u64::from(run.plan.load.clients) } else { 0 };
            let unseen = unknown(run) + u64::from(run.merged.aborted_clients) + at_work;
            Comparison::Between { server, fleet, most: fleet + unseen }
        }
        (rows, _) => rows,
    }
}

fn agent(agent: &AgentResult) -> AgentEvidence {
    AgentEvidence {
        name: agent.name.clone(),
        clients: agent.clients(),
        start_offset_us: agent.start_offset_us(),
        clock_error_us: agent.clock.error_us,
        clock_drift_us: agent.clock.drift_us,
        cpu_fraction: agent.cpu_fraction(),
        loop_lag_us: agent.vitals.loop_lag_us,
        lost: agent.lost.as_ref().map(|lost| (lost.at_s, lost.reason.clone())),
        left: agent.left.clone(),
        lost_log_lines: agent.log().map_or(0, |log| log.lost_lines),
        logs_missing: agent.logs.as_ref().and_then(|logs| logs.problem.clone()),
    }
}

fn name_of(run: &RunResult, id: AgentId) -> String {
    let agent = run.agents.iter().find(|agent| agent.id == id);
    agent.map_or_else(|| id.to_string(), |agent| agent.name.clone())
}

fn owed(run: &RunResult, missing: &Missing) -> MissingEvidence {
    let agent = name_of(run, missing.agent);
    MissingEvidence { agent, first: missing.first, count: missing.count }
}

fn disagreement(run: &RunResult, found: &Mismatch) -> Disagreement {
    Disagreement {
        agent: found.agent.map(|id| name_of(run, id)),
        first: found.first,
        second: found.second,
        statement: found.statement(),
    }
}

fn outage(run: &RunResult) -> Option<OutageEvidence> {
    let outages = &run.merged.outages;
    let first = outages.listed.first()?;
    Some(OutageEvidence {
        count: outages.count(),
        length: Duration::from_micros(outages.length_us()),
        first_error: first.first_error.clone(),
        unknown: unknown(run),
        in_response_time: run.plan.load.rate_tps.is_some(),
    })
}

/// Transactions that may have been committed without a report: their session was lost under way.
fn unknown(run: &RunResult) -> u64 {
    run.merged.measured.connection_failures + run.merged.warmup.connection_failures
}

fn cut(run: &RunResult) -> Option<Cut> {
    (run.status != Status::Complete).then(|| Cut {
        interrupted: run.status == Status::Interrupted,
        measured: run.merged.duration,
        transactions: begun(run),
        planned: planned(run),
    })
}

/// Transactions that were begun and came to an end.
fn begun(run: &RunResult) -> u64 {
    run.merged.measured.transactions + run.merged.measured.failed()
}

fn planned(run: &RunResult) -> Planned {
    let load = &run.plan.load;
    match load.end {
        End::Transactions(each) => {
            Planned::Transactions(each.saturating_mul(u64::from(load.clients)))
        }
        End::Duration(time) => Planned::Time(time),
    }
}

fn rate(run: &RunResult) -> Option<RateEvidence> {
    Some(RateEvidence {
        requested_tps: run.plan.load.rate_tps?,
        begun: begun(run),
        planned: planned(run),
        duration: run.merged.duration,
        lag_means_us: run.timeline.iter().filter_map(|entry| entry.lag_mean_us).collect(),
    })
}

/// Totals of all agents, if none was lost.
fn all_totals(run: &RunResult) -> Result<Vec<&Totals>, String> {
    let totals = run.agents.iter().map(|agent| agent.totals.as_ref());
    totals.collect::<Option<_>>().ok_or_else(|| "an agent was lost".into())
}

/// Commits that the server must have counted for the agents.
fn commits(run: &RunResult) -> Result<u64, String> {
    let totals = all_totals(run)?;
    if let Some(reason) = totals.iter().flat_map(|t| &t.commits_unpredictable).next() {
        return Err(reason.clone());
    }
    Ok(totals.iter().map(|t| t.measured.commits + t.warmup.commits + t.extra_commits).sum())
}

/// Rows that the built-in scripts must have added to `pgbench_history`.
fn history_rows(run: &RunResult) -> Result<u64, String> {
    let scripts = &run.plan.workload.scripts;
    if scripts.iter().any(|s| !s.builtin) {
        return Err("scripts other than pgbench's own may write it too".into());
    }
    if !scripts.iter().any(ScriptSource::adds_history_row) {
        return Err("no script writes it".into());
    }
    let merged = &run.merged;
    if scripts.iter().all(ScriptSource::adds_history_row) {
        return Ok(merged.measured.transactions + merged.warmup.transactions);
    }
    if merged.warmup != Counts::default() {
        return Err("the warm-up is not counted by script".into());
    }
    let of_writers =
        scripts.iter().zip(&merged.scripts).filter(|(script, _)| script.adds_history_row());
    Ok(of_writers.map(|(_, stats)| stats.counts.transactions).sum())
}

/// Equality where all that was begun has been seen to end; otherwise what was broken off may have
/// been committed without a report.
fn compare(run: &RunResult, server: &ServerCount, fleet: Result<u64, String>) -> Comparison {
    let fleet = match fleet {
        Err(reason) => return Comparison::NotCheckable(reason),
        Ok(fleet) => fleet,
    };
    let (server, alone) = match server {
        ServerCount::Counted(n) => (*n, true),
        ServerCount::CountedAmongOthers(n) => (*n, false),
        ServerCount::NotCheckable(reason) => return Comparison::NotCheckable(reason.clone()),
    };
    let all_seen = run.merged.aborted_clients == 0
        && unknown(run) == 0
        && run.agents.iter().all(|agent| agent.totals.is_some());
    if alone && run.status == Status::Complete && all_seen {
        Comparison::Exactly { server, fleet }
    } else {
        Comparison::AtLeast { server, fleet }
    }
}
