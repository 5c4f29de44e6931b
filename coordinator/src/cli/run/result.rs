//! Hands what the rooms know of a run to the report, which puts it together. Pure.

use std::collections::BTreeSet;

use pgsurge_common::ids::AgentId;
use pgsurge_common::plan::split::Share;
use pgsurge_common::plan::{Plan, plan_digest, workload_digest};
use pgsurge_common::script::Program;
use pgsurge_common::stats::Counts;
use pgsurge_common::target::Target;

use super::watch::Watched;
use crate::observe::{Facts, Figures, Tables};
use crate::report::{
    AgentPart, Clock, Digests, Lost, Options, Parts, RunResult, ServerCount, ServerResult, Span,
    Status,
};
use crate::run::{AgentOutcome, RunOutcome, Silence, connections};

/// What a result is made of, as the rooms have it.
pub struct Found<'a> {
    pub plan: &'a Plan,
    pub options: Options,
    pub program: &'a Program,
    pub outcome: RunOutcome,
    pub watched: &'a Watched,
    pub server: ServerResult,
}

impl Found<'_> {
    /// The result, judged.
    pub fn assemble(self) -> RunResult {
        let Found { plan, options, program, outcome, watched, mut server } = self;
        let done = outcome.merged.measured.counts.transactions;
        if let Some(wal) = server.observation.as_mut().and_then(|seen| seen.wal.as_mut()) {
            wal.bytes_per_transaction = (done > 0).then(|| wal.bytes as f64 / done as f64);
        }
        let beginning = outcome.agents.iter().filter(|agent| agent.took_over.is_none());
        let shares: Vec<Share> = beginning.map(|agent| agent.share.clone()).collect();
        RunResult::assemble(Parts {
            plan: plan.clone(),
            digests: Digests { plan: plan_digest(plan, &shares), workload: workload_digest(plan) },
            options,
            started: watched.started,
            status: status(&outcome),
            stopped_after: outcome.stopped_after,
            connections: {
                // Sessions that were opened anew for clients of lost agents are no more clients.
                let beginning = outcome.agents.iter().filter(|agent| agent.took_over.is_none());
                connections(beginning.map(|agent| &agent.ready))
            },
            agents: agents(outcome.agents),
            merged: outcome.merged,
            commands: commands(plan, program),
            server,
        })
    }
}

/// Sessions that the agents opened in all.
pub fn sessions(outcome: &RunOutcome) -> u64 {
    let totals = outcome.merged.agents.iter().filter_map(|agent| agent.totals.as_ref());
    let opened = |counts: &Counts| counts.connects + counts.reconnects;
    totals.map(|t| opened(&t.measured) + opened(&t.warmup) + u64::from(t.connect.obtained)).sum()
}

/// Why the server whose counters were read may not be the one that had the load.
pub fn several_servers(target: &Target, outcome: &RunOutcome) -> Option<String> {
    if target.load_balance {
        return Some("load_balance_hosts=random may spread the sessions over servers".into());
    }
    let identities = outcome.agents.iter().map(|agent| &agent.ready.connect.server_identity);
    let different: BTreeSet<_> = identities.flatten().collect();
    (different.len() > 1).then(|| "the agents reached different servers".into())
}

/// What was seen of the target; counters that could not be read are not checkable.
pub fn server(
    facts: Facts,
    tables: Option<Tables>,
    figures: Result<Figures, String>,
) -> ServerResult {
    let (commits, history_rows) = match figures {
        Ok(figures) => (figures.commits, figures.history_rows),
        Err(reason) => {
            let unread = ServerCount::NotCheckable(reason);
            (unread.clone(), unread)
        }
    };
    ServerResult {
        version: facts.version,
        partitions: tables.and_then(|tables| tables.partitions),
        settings: facts.settings,
        commits,
        history_rows,
        observation: None,
        prewarm: None,
    }
}

fn status(outcome: &RunOutcome) -> Status {
    if outcome.interrupts > 0 {
        Status::Interrupted
    } else if outcome.aborted.is_some() || outcome.cut_short {
        Status::CutShort
    } else {
        Status::Complete
    }
}

fn agents(outcomes: Vec<AgentOutcome>) -> Vec<AgentPart> {
    let names: Vec<String> = outcomes.iter().map(|agent| agent.facts.name.clone()).collect();
    let name = |agent: AgentId| names.get(agent.0 as usize).cloned().unwrap_or_default();
    outcomes.into_iter().map(|outcome| agent(outcome, name)).collect()
}

fn agent(outcome: AgentOutcome, name: impl Fn(AgentId) -> String) -> AgentPart {
    let silent = |silence: &Silence| Span {
        from_s: silence.until_s - silence.length.as_secs_f64(),
        until_s: silence.until_s,
    };
    AgentPart {
        took_over_from: outcome.took_over.map(|took| name(took.from)),
        unreachable: outcome.silences.iter().map(silent).collect(),
        name: outcome.facts.name,
        share: outcome.share,
        clock: Clock {
            error_us: outcome.clock.error_ns.div_ceil(1000),
            drift_us: outcome.clock.drift_ns / 1000,
        },
        lost: outcome.lost.map(|loss| Lost { at_s: loss.at_s, reason: loss.reason }),
        left: outcome.left,
        logs: outcome.logs,
    }
}

/// The lines that name per-command figures, where there are any.
fn commands(plan: &Plan, program: &Program) -> Vec<Vec<String>> {
    if !plan.workload.report_per_command {
        return Vec::new();
    }
    let line = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let scripts = program.scripts().iter();
    scripts.map(|s| s.commands().iter().map(|c| line(c.first_line())).collect()).collect()
}
