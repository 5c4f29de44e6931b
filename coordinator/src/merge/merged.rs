//! What is left of a run when all intervals are merged: plain data, of a size that the length of the
//! run does not change.

use std::ops::Range;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Counts, ErrorCounts, Histogram, Totals, Vitals};

use super::lane::{Lane, State};
use super::{Mismatch, Missing, Sums, Timeline};

/// What is left of a run when all intervals are merged.
#[derive(Debug)]
pub struct Merged {
    /// The measured part of the whole cluster.
    pub measured: Sums,
    /// The warm-up.
    pub warmup: Counts,
    /// Errors of both.
    pub errors: ErrorCounts,
    /// One entry an agent, in the order of the setup.
    pub agents: Vec<AgentMerged>,
    /// The measured part over time.
    pub timeline: Timeline,
    /// Where totals, intervals and histograms disagree; empty is the proof of I1.
    pub mismatches: Vec<Mismatch>,
    /// Intervals that agents owed and never delivered; lost agents owe nothing.
    pub missing: Vec<Missing>,
}

/// One agent's part of [`Merged`], from its intervals.
#[derive(Debug)]
pub struct AgentMerged {
    /// Who.
    pub agent: AgentId,
    /// The measured part.
    pub counts: Counts,
    /// The warm-up.
    pub warmup: Counts,
    /// Response time in the measured part.
    pub response: Histogram,
    /// Errors of both.
    pub errors: ErrorCounts,
    /// The worst of the measured part.
    pub vitals: Vitals,
    /// What it counted itself; `None` if it was lost or never said that it had finished.
    pub totals: Option<Totals>,
    /// It was given up.
    pub lost: bool,
    /// Its intervals of the measured part: from the one in which it joined to the last that came.
    pub intervals: Range<u32>,
}

impl From<Lane> for AgentMerged {
    fn from(lane: Lane) -> Self {
        let (lost, intervals) = (matches!(lane.state, State::Lost), lane.measured_intervals());
        let totals = match lane.state {
            State::Finished(totals) => Some(*totals),
            State::Live | State::Unreachable | State::Lost => None,
        };
        Self {
            agent: lane.agent,
            counts: lane.measured,
            warmup: lane.warmup,
            response: lane.response,
            errors: lane.errors,
            vitals: lane.vitals,
            totals,
            lost,
            intervals,
        }
    }
}
