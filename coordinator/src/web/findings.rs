//! The verdict so far: what the rules say to the part of the evidence that is there while a run goes on.

use std::time::Duration;

use super::board::{Agent, Run};
use crate::verdict::{AgentEvidence, Comparison, Evidence, Finding, Planned, RateEvidence, judge};

/// These say something about a whole run only: they would stand there at the beginning of every one.
const AT_THE_END: [&str; 3] = ["short-run", "no-transactions", "cut-short"];

/// Findings that will be in the report, too, unless the rest of the run outweighs them.
pub(super) fn so_far(run: &Run) -> Vec<Finding> {
    let mut findings = judge(&evidence(run)).findings;
    findings.retain(|finding| !AT_THE_END.contains(&finding.code));
    findings
}

fn evidence(run: &Run) -> Evidence {
    let unknown = || Comparison::NotCheckable("the run goes on".to_owned());
    let clients = run.plan.load.clients;
    Evidence {
        agents: run.agents.iter().map(|agent| of_agent(run, agent)).collect(),
        samples: run.response.len(),
        clipped: vec![("response time", run.response.clipped())],
        missing: Vec::new(),
        disagreements: Vec::new(),
        sessions_wanted: clients,
        sessions_obtained: clients,
        aborted_clients: 0,
        outage: None,
        cut: None,
        rate: run.plan.load.rate_tps.map(|requested_tps| rate(run, requested_tps)),
        server_commits: unknown(),
        history_rows: unknown(),
    }
}

fn of_agent(run: &Run, agent: &Agent) -> AgentEvidence {
    AgentEvidence {
        name: agent.name.clone(),
        clients: agent.clients,
        start_offset_us: None,
        clock_error_us: 0,
        clock_drift_us: 0,
        cpu_fraction: agent.cpu_sum / (run.intervals.max(1) as f64),
        loop_lag_us: agent.loop_lag_us,
        lost: agent.lost.clone().map(|reason| (run.seconds(), reason)),
        left: None,
        lost_log_lines: 0,
        logs_missing: None,
    }
}

/// Against the time that has passed, whatever bounds the run.
fn rate(run: &Run, requested_tps: f64) -> RateEvidence {
    let so_far = Duration::from_secs_f64(run.seconds());
    RateEvidence {
        requested_tps,
        begun: run.counts.transactions + run.counts.failed(),
        planned: Planned::Time(so_far),
        duration: so_far,
        lag_means_us: run.lag_means_us.clone(),
    }
}
