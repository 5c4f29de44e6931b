//! What a page is told: JSON that its script puts in place. Every message has the small figures; charts come
//! whole at first, then point by point.

use serde::Serialize;

use super::board::{Agent, Run, State};
use crate::picture::live::{Drawn, Next};
use crate::verdict::Severity;

/// Agents that a page lists.
const AGENTS_MOST: usize = 50;

/// Where a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Agents are waited for.
    #[default]
    Gathering,
    /// Sessions are being opened.
    Preparing,
    /// Load that no figure counts.
    Warmup,
    /// What the figures are about.
    Measuring,
    /// It is over.
    Done,
}

#[derive(Debug, Serialize)]
pub(super) struct Message<'a> {
    stage: Stage,
    agents_wanted: u32,
    /// Other runs follow at the same address.
    several: bool,
    run: Option<RunNow<'a>>,
    notices: Vec<&'a str>,
    /// All charts, to be drawn anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    charts: Option<Vec<Drawn>>,
    /// Points to add to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Vec<Next>>,
}

#[derive(Debug, Serialize)]
struct RunNow<'a> {
    id: &'a str,
    clients_wanted: u32,
    rate_tps: Option<f64>,
    seconds: f64,
    planned_s: Option<f64>,
    transactions: u64,
    failed: u64,
    tps: f64,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    last_tps: Option<f64>,
    clients: u32,
    disconnected: u32,
    agents_unreachable: usize,
    agents: Vec<AgentNow<'a>>,
    agents_in_all: usize,
    findings: Vec<FindingNow<'a>>,
}

#[derive(Debug, Serialize)]
struct AgentNow<'a> {
    name: &'a str,
    clients: u32,
    transactions: u64,
    cpu_fraction: f64,
    loop_lag_ms: f64,
    memory_mb: f64,
    lost: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct FindingNow<'a> {
    code: &'a str,
    severity: &'static str,
    message: &'a str,
}

impl<'a> Message<'a> {
    /// Everything.
    pub(super) fn whole(state: &'a State) -> Self {
        let charts = state.run.as_ref().map(|run| run.charts.charts());
        Self { charts, ..Self::short(state) }
    }

    /// Without the charts, which stay as they are.
    pub(super) fn short(state: &'a State) -> Self {
        Self {
            stage: state.stage,
            agents_wanted: state.agents_wanted,
            several: state.several,
            run: state.run.as_ref().map(RunNow::of),
            notices: state.notices.iter().map(String::as_str).collect(),
            charts: None,
            next: None,
        }
    }

    /// With the newest points.
    pub(super) fn next(state: &'a State, next: Vec<Next>) -> Self {
        Self { next: Some(next), ..Self::short(state) }
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }
}

impl<'a> RunNow<'a> {
    fn of(run: &'a Run) -> Self {
        let response = Some(&run.response).filter(|h| !h.is_empty());
        let ms = |q| response.map(|h| h.quantile_us(q) as f64 / 1000.0);
        let last = run.last.as_ref();
        let seconds = run.seconds();
        let finding = |found: &'a crate::verdict::Finding| FindingNow {
            code: found.code,
            severity: match found.severity {
                Severity::Invalid => "invalid",
                Severity::Warning => "warning",
            },
            message: &found.message,
        };
        Self {
            id: run.plan.run_id.as_str(),
            clients_wanted: run.plan.load.clients,
            rate_tps: run.plan.load.rate_tps,
            seconds,
            planned_s: run.planned_s(),
            transactions: run.counts.transactions,
            failed: run.counts.failed(),
            tps: if seconds > 0.0 { run.counts.transactions as f64 / seconds } else { 0.0 },
            p50_ms: ms(0.50),
            p99_ms: ms(0.99),
            last_tps: last.map(|last| last.tps),
            clients: last.map_or(0, |last| last.clients),
            disconnected: last.map_or(0, |last| last.disconnected),
            agents_unreachable: last.map_or(0, |last| last.unreachable),
            agents: run.agents.iter().take(AGENTS_MOST).map(AgentNow::of).collect(),
            agents_in_all: run.agents.len(),
            findings: run.findings.iter().map(finding).collect(),
        }
    }
}

impl<'a> AgentNow<'a> {
    fn of(agent: &'a Agent) -> Self {
        Self {
            name: &agent.name,
            clients: agent.clients,
            transactions: agent.transactions,
            cpu_fraction: agent.vitals.cpu_fraction,
            loop_lag_ms: agent.vitals.loop_lag_us as f64 / 1000.0,
            memory_mb: agent.vitals.rss_bytes as f64 / 1e6,
            lost: agent.lost.as_deref(),
        }
    }
}
