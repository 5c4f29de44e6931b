//! What the state machine goes by: times and choices of one run.

use std::time::Duration;

use pgsurge_common::plan::{End, Plan};
use pgsurge_common::stats::Phase;

use crate::fleet::FleetOptions;

/// What becomes of a run that loses an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnAgentLoss {
    /// The others drain and the run ends.
    #[default]
    Fail,
    /// The others go on.
    Continue,
    /// The others go on, and take over its clients; or a spare agent does.
    Rebalance,
}

impl OnAgentLoss {
    /// As the command line and the summary call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Continue => "continue",
            Self::Rebalance => "rebalance",
        }
    }
}

/// What may have happened before the coordinator knows that it could: the last answers to an instant may wait behind
/// the first intervals.
const HEAD_START: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// An agent ends its load when it has not heard from its coordinator for so long.
    pub lease: Duration,
    /// Added to the lease before an agent is given up: what the two sides last heard of each other may
    /// lie a heartbeat apart, and ending load takes a moment.
    pub margin: Duration,
    /// Silence from which on an agent is called unreachable.
    pub unreachable_after: Duration,
    /// Time for all agents to open their sessions.
    pub prepare_within: Duration,
    /// Time for a round of clock probes, or for taking an instant back.
    pub answer_within: Duration,
    /// At least so much time lies between naming an instant and the instant.
    pub start_lead: Duration,
    /// Instants that are named before the run is given up.
    pub attempts: u32,
    /// Clocks are measured so often during the run.
    pub clocks_every: Duration,
    /// Length of the warm-up.
    pub warmup: Duration,
    /// Length of an interval.
    pub interval: Duration,
    /// Warm-up and measured part, if they have a planned length.
    pub length: Option<Duration>,
    /// Bound on draining, if there is one.
    pub drain_timeout: Option<Duration>,
    /// What agents get beyond a bound that they keep themselves.
    pub grace: Duration,
    /// What agents get to end load at once.
    pub abort_within: Duration,
    /// An agent that is heard but delivers no interval for so long is given up.
    pub stalled_after: Duration,
    /// Sessions may be fewer than asked for, but not none.
    pub allow_fewer_clients: bool,
    /// Agents may have reached different servers.
    pub any_server: bool,
    /// See there.
    pub on_agent_loss: OnAgentLoss,
}

impl Rules {
    /// The rules that a plan implies.
    #[must_use]
    pub fn of(plan: &Plan, fleet: FleetOptions, interval: Duration) -> Self {
        let FleetOptions { lease, heartbeat } = fleet;
        let grace = Duration::from_secs(5);
        let margin = 2 * heartbeat + Duration::from_secs(1);
        Self {
            lease,
            margin,
            unreachable_after: Duration::from_secs(3),
            prepare_within: plan.load.connect.timeout + lease + grace,
            answer_within: Duration::from_secs(10).max(lease),
            start_lead: Duration::from_millis(250),
            attempts: 5,
            clocks_every: Duration::from_secs(5),
            warmup: plan.load.warmup,
            interval,
            length: match plan.load.end {
                End::Duration(measured) => Some(plan.load.warmup + measured),
                End::Transactions(_) => None,
            },
            drain_timeout: plan.load.drain_timeout,
            grace,
            abort_within: Duration::from_secs(5),
            stalled_after: (lease + margin).max(Duration::from_secs(20)),
            allow_fewer_clients: plan.load.allow_fewer_clients,
            // A target of several hosts means that they may differ.
            any_server: plan.target.hosts.len() > 1,
            on_agent_loss: OnAgentLoss::default(),
        }
    }

    /// The beginning of the first interval at or after a time of the run. The last interval of the warm-up may
    /// be shorter than the others, since those of each phase count from its own beginning.
    #[must_use]
    pub fn boundary(&self, time: Duration) -> Duration {
        let up = |time: Duration| {
            let intervals = time.as_nanos().div_ceil(self.interval.as_nanos().max(1));
            self.interval * u32::try_from(intervals).unwrap_or(u32::MAX)
        };
        match time.checked_sub(self.warmup) {
            Some(measured) => self.warmup + up(measured),
            None => up(time).min(self.warmup),
        }
    }

    /// What an agent says to have happened so long after the common start has, for all that is known: its clock may
    /// run fast, but not by a quarter.
    #[must_use]
    pub fn may_have_been(&self, time: Duration, elapsed: Duration) -> bool {
        time <= elapsed + elapsed / 4 + HEAD_START
    }

    /// The end of an interval, as time since the common start.
    #[must_use]
    pub fn end_of(&self, phase: Phase, index: u32) -> Duration {
        let begin = match phase {
            Phase::Warmup => Duration::ZERO,
            Phase::Measure => self.warmup,
        };
        begin + self.interval.saturating_mul(index.saturating_add(1))
    }

    /// The interval that is under way at a time of the run.
    #[must_use]
    pub fn interval_at(&self, time: Duration) -> (Phase, u32) {
        let index = |time: Duration| {
            let intervals = time.as_nanos() / self.interval.as_nanos().max(1);
            u32::try_from(intervals).unwrap_or(u32::MAX)
        };
        match time.checked_sub(self.warmup) {
            Some(measured) => (Phase::Measure, index(measured)),
            None => (Phase::Warmup, index(time)),
        }
    }
}
