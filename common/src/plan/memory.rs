//! What the statistics of a plan take on one agent, before anything is allocated.
//!
//! A histogram takes about 190 kB whatever it holds; with many scripts and workers these add up.

use super::Plan;
use super::split::Share;
use crate::stats::Histogram;

/// Intervals a worker has at a time: one in progress in each phase, two handed over or spare.
const INTERVALS_PER_WORKER: u64 = 4;

/// Intervals an agent has at a time, merged and not yet sent.
const INTERVALS_PER_AGENT: u64 = 4;

/// Statistics of any plan may take this much; beyond it they may take a quarter of an agent's memory.
const ALWAYS_ALLOWED: u64 = 512 << 20;

/// A plan whose statistics would take more memory than is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the statistics of {scripts} scripts and {workers} workers would take {} MB on an agent, at most {} MB are allowed; use fewer scripts or a lower -j",
    needed_bytes >> 20, allowed_bytes >> 20
)]
pub struct TooMuchMemory {
    /// Scripts of the plan.
    pub scripts: usize,
    /// Workers of the agent.
    pub workers: usize,
    /// What they would take.
    pub needed_bytes: u64,
    /// What is allowed.
    pub allowed_bytes: u64,
}

/// Histograms in one interval of a plan.
#[must_use]
pub fn histograms_per_interval(plan: &Plan) -> usize {
    let scripts = plan.workload.scripts.len();
    let of_scripts = if scripts > 1 { scripts } else { 0 };
    // Response time always, service time and lag under a rate.
    of_scripts + if plan.load.rate_tps.is_some() { 3 } else { 1 }
}

/// Memory for the statistics of an agent with so many workers, in bytes.
#[must_use]
pub fn statistics_bytes(plan: &Plan, workers: usize) -> u64 {
    let intervals = INTERVALS_PER_WORKER * workers as u64 + INTERVALS_PER_AGENT;
    intervals * histograms_per_interval(plan) as u64 * Histogram::BYTES as u64
}

/// Refuses a plan whose statistics would take too much of an agent's memory.
pub fn check_memory(plan: &Plan, share: &Share, agent_bytes: u64) -> Result<(), TooMuchMemory> {
    let workers = share.workers.len();
    let needed_bytes = statistics_bytes(plan, workers);
    let allowed_bytes = (agent_bytes / 4).max(ALWAYS_ALLOWED);
    if needed_bytes <= allowed_bytes {
        return Ok(());
    }
    let scripts = plan.workload.scripts.len();
    Err(TooMuchMemory { scripts, workers, needed_bytes, allowed_bytes })
}
