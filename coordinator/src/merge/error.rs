//! Why an interval or a message about an agent was refused. A refusal changes nothing in the merger.

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::Phase;

/// See the module. Each one means that an agent breaks the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Not an agent of this run.
    #[error("agent {0} takes no part in this run")]
    UnknownAgent(AgentId),
    /// It said already that it had finished.
    #[error("agent {0} sent an interval after it had finished")]
    AfterFinish(AgentId),
    /// It was given up; its clients may be someone else's by then.
    #[error("agent {0} sent an interval after it had been given up as lost")]
    AfterLoss(AgentId),
    /// The interval was merged before.
    #[error("agent {agent} sent interval {index} of the {} twice", phase_name(*phase))]
    Duplicate {
        /// Who.
        agent: AgentId,
        /// Of which phase.
        phase: Phase,
        /// Which.
        index: u32,
    },
    /// One or more intervals before it are missing.
    #[error(
        "agent {agent} sent interval {index} of the {}, interval {expected} was next",
        phase_name(*phase)
    )]
    OutOfOrder {
        /// Who.
        agent: AgentId,
        /// Of which phase.
        phase: Phase,
        /// Which.
        index: u32,
        /// The one that was next.
        expected: u32,
    },
    /// Other scripts or histograms than the plan has.
    #[error("agent {agent} sent an interval with {what} other than the plan's")]
    Shape {
        /// Who.
        agent: AgentId,
        /// What differs.
        what: &'static str,
    },
}

pub(super) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Warmup => "warm-up",
        Phase::Measure => "measured part",
    }
}
