//! What the intervals of a run look like: what each must contain and how many may be open.

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_common::plan::Plan;
use pgsurge_common::stats::Histogram;

/// Memory that open intervals may take, in bytes; at a common second and a lease of 10 s some dozen
/// intervals of 200 kB are open when an agent is lost.
const OPEN_BYTES: usize = 128 << 20;

/// Open intervals that are always allowed.
const OPEN_LEAST: usize = 8;

/// What the intervals of a run look like.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Everyone who takes part.
    pub agents: Vec<AgentId>,
    /// Length of an interval.
    pub interval: Duration,
    /// Scripts with figures of their own: 0 where there is only one script.
    pub scripts: usize,
    /// There are service times and lags.
    pub rate_limited: bool,
}

impl Setup {
    /// The setup that a plan implies.
    #[must_use]
    pub fn of(plan: &Plan, agents: Vec<AgentId>, interval: Duration) -> Self {
        Self {
            agents,
            interval,
            scripts: Some(plan.workload.scripts.len()).filter(|&n| n > 1).unwrap_or(0),
            rate_limited: plan.load.rate_tps.is_some(),
        }
    }

    /// Open intervals beyond which the oldest is yielded without those who are behind.
    pub(super) fn open_most(&self) -> usize {
        let histograms = 1 + 2 * usize::from(self.rate_limited) + self.scripts;
        (OPEN_BYTES / (histograms * Histogram::BYTES)).max(OPEN_LEAST)
    }
}
