//! Invariant I1: what an agent counted itself = the sum of its intervals = the samples in its
//! histograms, and the cluster = the sum of its agents.
//!
//! The three are counted at different places, so a lost or doubled transaction shows as a difference.

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Counts, Phase};

use super::Sums;
use super::error::phase_name;
use super::lane::{Lane, State};

/// Two counts of the same thing that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Whose; the cluster's if absent.
    pub agent: Option<AgentId>,
    /// Of which phase.
    pub phase: Phase,
    /// What was counted.
    pub what: &'static str,
    /// The two ways to count it that disagree.
    pub between: Between,
    /// The count by the first way.
    pub first: u64,
    /// The count by the second way.
    pub second: u64,
}

/// Two ways to count the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The agent's own totals, and the sum of its intervals.
    TotalsAndIntervals,
    /// Successful transactions, and samples in the histogram of response times.
    CountAndSamples,
    /// Successful transactions, and their sum over clients.
    CountAndClients,
    /// Successful transactions, and their sum over scripts.
    CountAndScripts,
    /// The cluster's intervals, and the sum over agents.
    ClusterAndAgents,
}

impl Mismatch {
    /// The disagreement without whose it is.
    #[must_use]
    pub fn statement(&self) -> String {
        let (first, second) = match self.between {
            Between::TotalsAndIntervals => ("its own totals", "its intervals"),
            Between::CountAndSamples => ("counters", "response time samples"),
            Between::CountAndClients => ("counters", "the sum over clients"),
            Between::CountAndScripts => ("counters", "the sum over scripts"),
            Between::ClusterAndAgents => ("the cluster's intervals", "the sum over agents"),
        };
        let (what, phase) = (self.what, phase_name(self.phase));
        format!("{what} of the {phase}: {} by {first}, {} by {second}", self.first, self.second)
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.agent {
            Some(agent) => write!(f, "agent {agent}, {}", self.statement()),
            None => write!(f, "cluster, {}", self.statement()),
        }
    }
}

/// Intervals that an agent owed and never delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Whose.
    pub agent: AgentId,
    /// The first one, of the measured part.
    pub first: u32,
    /// How many, as far as its totals tell; at least 1.
    pub count: u32,
}

/// All differences; none is the proof.
pub(super) fn mismatches(lanes: &[Lane], measured: &Sums, warmup: &Counts) -> Vec<Mismatch> {
    let mut found = Vec::new();
    for lane in lanes {
        of_agent(lane, &mut found);
    }
    of_cluster(lanes, measured, warmup, &mut found);
    found.retain(|mismatch| mismatch.first != mismatch.second);
    found
}

fn of_agent(lane: &Lane, found: &mut Vec<Mismatch>) {
    let agent = Some(lane.agent);
    let transactions = |between, second| Mismatch {
        agent,
        phase: Phase::Measure,
        what: "transactions",
        between,
        first: lane.measured.transactions,
        second,
    };
    found.push(transactions(Between::CountAndSamples, lane.response.len()));
    let State::Finished(totals) = &lane.state else { return };
    let clients = totals.clients.iter().map(|client| client.transactions);
    let clients = clients.fold(0, u64::saturating_add);
    found.push(transactions(Between::CountAndClients, clients));
    for (phase, own, sum) in [
        (Phase::Warmup, &totals.warmup, &lane.warmup),
        (Phase::Measure, &totals.measured, &lane.measured),
    ] {
        found.extend(compare(agent, phase, Between::TotalsAndIntervals, own, sum));
    }
}

fn of_cluster(lanes: &[Lane], measured: &Sums, warmup: &Counts, found: &mut Vec<Mismatch>) {
    let sum = |counts: fn(&Lane) -> &Counts| {
        let mut sum = Counts::default();
        for lane in lanes {
            sum.merge(counts(lane));
        }
        sum
    };
    for (phase, cluster, agents) in [
        (Phase::Warmup, warmup, sum(|lane| &lane.warmup)),
        (Phase::Measure, &measured.counts, sum(|lane| &lane.measured)),
    ] {
        found.extend(compare(None, phase, Between::ClusterAndAgents, cluster, &agents));
    }
    let transactions = |between, second| Mismatch {
        agent: None,
        phase: Phase::Measure,
        what: "transactions",
        between,
        first: measured.counts.transactions,
        second,
    };
    found.push(transactions(Between::CountAndSamples, measured.response.len()));
    if !measured.scripts.is_empty() {
        let scripts = measured.scripts.iter().map(|script| script.counts.transactions);
        let scripts = scripts.fold(0, u64::saturating_add);
        found.push(transactions(Between::CountAndScripts, scripts));
    }
}

fn compare(
    agent: Option<AgentId>,
    phase: Phase,
    between: Between,
    a: &Counts,
    b: &Counts,
) -> impl Iterator<Item = Mismatch> {
    a.events().into_iter().zip(b.events()).map(move |((what, first), (_, second))| Mismatch {
        agent,
        phase,
        what,
        between,
        first,
        second,
    })
}

/// What agents owe: one that finished, every interval up to the end of its last transaction; one that
/// never said that it had finished, at least one more. A lost one owes nothing, its loss is a finding
/// of its own.
pub(super) fn missing(lanes: &[Lane], interval_us: u64) -> Vec<Missing> {
    let of_lane = |lane: &Lane| {
        let first = lane.received(Phase::Measure);
        let count = match &lane.state {
            State::Lost => 0,
            _ if !lane.has_begun(Phase::Measure, u32::MAX) => 0,
            State::Live | State::Unreachable => 1,
            State::Finished(totals) => {
                let owed = totals.last_end_us.div_ceil(interval_us.max(1));
                u32::try_from(owed).unwrap_or(u32::MAX).saturating_sub(first)
            }
        };
        (count > 0).then_some(Missing { agent: lane.agent, first, count })
    };
    lanes.iter().filter_map(of_lane).collect()
}
