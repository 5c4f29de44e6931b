//! Puts what the rooms know of a run together in the one value that is printed. Pure.

use std::time::Duration;

use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_common::plan::{plan_digest, workload_digest};
use pgsurge_common::script::Program;
use pgsurge_common::stats::{ErrorCounts, StatementStats, Totals};

use super::watch::Watched;
use crate::merge::{AgentMerged, Merged, Timeline, TimelinePoint};
use crate::observe::{Facts, Figures, TargetError, Tables};
use crate::report::{
    self, AgentResult, Clock, Digests, Lost, Options, RunResult, ServerCount, ServerResult,
    StatementResult, Status, TimelineEntry,
};
use crate::run::{AgentOutcome, RunOutcome, connections};
use crate::verdict::Verdict;

/// Everything that a result is made of.
pub struct RunParts<'a> {
    pub plan: &'a Plan,
    pub options: Options,
    pub program: &'a Program,
    pub outcome: RunOutcome,
    pub watched: &'a Watched,
    pub server: ServerResult,
}

impl RunParts<'_> {
    /// The result, not judged yet.
    pub fn join(self) -> RunResult {
        let RunParts { plan, options, program, outcome, watched, server } = self;
        let status = status(&outcome);
        let shares: Vec<Share> = outcome.agents.iter().map(|agent| agent.share.clone()).collect();
        let connections = connections(outcome.agents.iter().map(|agent| &agent.ready));
        let timeline = timeline(&outcome.merged.timeline);
        let intervals_missing = outcome.merged.missing.iter().map(|m| u64::from(m.count)).sum();
        let statements = statements(plan, program, &outcome.merged);
        let merged = merged(&outcome.merged);
        let parts = outcome.agents.into_iter().zip(outcome.merged.agents);
        RunResult {
            plan: plan.clone(),
            digests: Digests { plan: plan_digest(plan, &shares), workload: workload_digest(plan) },
            options,
            started: watched.started,
            agents: parts.map(|(outcome, merged)| agent(outcome, merged)).collect(),
            merged,
            statements,
            connections,
            timeline,
            intervals_missing,
            server,
            status,
            verdict: Verdict::default(),
            exit_code: pgsurge_common::outcome::ExitCode::Done,
        }
    }
}

/// Sessions that the agents opened in all.
pub fn sessions(outcome: &RunOutcome) -> u64 {
    let totals = outcome.merged.agents.iter().filter_map(|agent| agent.totals.as_ref());
    totals.map(|t| t.measured.connects + t.warmup.connects + u64::from(t.connect.obtained)).sum()
}

/// What was seen of the target; counters that could not be read are not checkable.
pub fn server(
    facts: Facts,
    tables: Option<Tables>,
    figures: Result<Figures, TargetError>,
) -> ServerResult {
    let (commits, history_rows) = match figures {
        Ok(figures) => (figures.commits, figures.history_rows),
        Err(error) => {
            let unread = ServerCount::NotCheckable(format!("could not be read: {error}"));
            (unread.clone(), unread)
        }
    };
    ServerResult {
        version: facts.version,
        partitions: tables.and_then(|tables| tables.partitions),
        settings: facts.settings,
        commits,
        history_rows,
    }
}

fn status(outcome: &RunOutcome) -> Status {
    if outcome.interrupts > 0 {
        Status::Interrupted
    } else if outcome.aborted || outcome.cut_short {
        Status::CutShort
    } else {
        Status::Complete
    }
}

fn agent(outcome: AgentOutcome, merged: AgentMerged) -> AgentResult {
    AgentResult {
        name: outcome.facts.name,
        share: outcome.share,
        counts: merged.counts,
        response: merged.response,
        totals: merged.totals,
        clock: Clock {
            error_us: outcome.clock.error_ns.div_ceil(1000),
            drift_us: outcome.clock.drift_ns / 1000,
        },
        vitals: merged.vitals,
        lost: outcome.lost.map(|loss| Lost { at_s: loss.at_s, reason: loss.reason }),
    }
}

fn merged(merged: &Merged) -> report::Merged {
    let totals = || merged.agents.iter().filter_map(|agent| agent.totals.as_ref());
    let mut errors = ErrorCounts::default();
    errors.merge(&merged.errors);
    report::Merged {
        measured: merged.measured.counts,
        warmup: merged.warmup,
        response: merged.measured.response.clone(),
        service: merged.measured.service.clone(),
        lag: merged.measured.lag.clone(),
        scripts: merged.measured.scripts.clone(),
        errors,
        duration: Duration::from_micros(totals().map(|t| t.last_end_us).max().unwrap_or(0)),
        inherited_backlog: totals().map(|t| t.inherited_backlog).sum(),
        aborted_clients: totals().map(|t| t.aborted_clients).sum(),
        aborted: totals().flat_map(|t| t.aborted.iter().cloned()).collect(),
    }
}

/// Per-command figures of all agents, with the lines that name them.
fn statements(plan: &Plan, program: &Program, merged: &Merged) -> Vec<Vec<StatementResult>> {
    if !plan.workload.report_per_command {
        return Vec::new();
    }
    let totals: Vec<&Totals> = merged.agents.iter().filter_map(|a| a.totals.as_ref()).collect();
    let of_command = |script: usize, command: usize| {
        let mut sum = StatementStats::default();
        let each = totals.iter().filter_map(|t| t.statements.get(script)?.get(command));
        each.for_each(|stats| sum.merge(stats));
        sum
    };
    let scripts = program.scripts().iter().enumerate();
    scripts
        .map(|(script, source)| {
            let commands = source.commands().iter().enumerate();
            commands
                .map(|(command, source)| StatementResult {
                    line: String::from_utf8_lossy(source.first_line()).into_owned(),
                    stats: of_command(script, command),
                })
                .collect()
        })
        .collect()
}

fn timeline(timeline: &Timeline) -> Vec<TimelineEntry> {
    let entry = |point: &TimelinePoint| {
        let (t_s, end_s) = timeline.span_s(point);
        let response = point.response.unpack();
        TimelineEntry {
            t_s,
            width_s: end_s - t_s,
            transactions: point.counts.transactions,
            failed: point.counts.failed(),
            p50_us: response.quantile_us(0.5),
            p99_us: response.quantile_us(0.99),
            lag_mean_us: None,
            clients: point.clients,
            agents: point.agents,
            complete: point.complete,
        }
    };
    timeline.points().iter().map(entry).collect()
}
