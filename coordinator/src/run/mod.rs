//! One run over agents that were gathered: prepared, started at one instant, measured, drained.
//!
//! All decisions are those of the pure [`Machine`]; the driver feeds it what the fleet says and the clock,
//! does what it answers, and merges. In two steps, so that the caller can look at the target when all
//! sessions are open and no load is on:
//!
//! ```ignore
//! let prepared = run::prepare(spec).await?;   // sessions are open, or the run is over
//! let outcome = prepared.measure().await?;    // start, intervals as events, drain, totals
//! fleet.shutdown().await;                     // agents are released
//! ```

mod driver;
mod error;
pub mod machine;
mod outcome;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::{Share, SplitRules};
use pgsurge_proto::message::Notice;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::fleet::{AgentHandle, FleetOptions};
use crate::merge::ClusterInterval;

pub use driver::{Prepared, prepare};
pub use error::{Missing, RunError};
pub use machine::{Machine, OnAgentLoss};
pub use outcome::{Aborted, AgentOutcome, Loss, RunOutcome, Silence, TookOver, connections};

/// Everything that a run needs.
#[derive(Debug)]
pub struct RunSpec {
    /// Shipped to every agent.
    pub plan: Arc<Plan>,
    /// Who takes part, with which share; numbered in this order.
    pub agents: Vec<(AgentHandle, Share)>,
    /// The fleet's own options, for its deadlines.
    pub fleet: FleetOptions,
    /// What the plan does not say.
    pub options: RunOptions,
    /// What happens on the way. Must be read, for a full channel holds the run up.
    pub events: mpsc::Sender<RunEvent>,
    /// What the user wants in the middle of it.
    pub interrupts: Interrupts,
}

/// What the plan does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Length of an interval; the agents' is one second.
    pub interval: Duration,
    /// Agents may have reached different servers. Always so if the target names several hosts.
    pub any_server: bool,
    /// What becomes of a run that loses an agent.
    pub on_agent_loss: OnAgentLoss,
    /// How clients of a lost agent are spread over the workers of those that take them.
    pub split: SplitRules,
    /// Where logs are collected, if the plan wants them to be.
    pub logs: Option<PathBuf>,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(1),
            any_server: false,
            on_agent_loss: OnAgentLoss::default(),
            split: SplitRules::default(),
            logs: None,
        }
    }
}

/// What a user may ask for; both tokens stay cancelled once they are.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    /// Drain and report what there is.
    pub drain: CancellationToken,
    /// End all load at once.
    pub abort: CancellationToken,
}

/// What happens during a run, in order.
#[derive(Debug)]
pub enum RunEvent {
    /// All agents have named how many sessions they have; [`Prepared`] is about to be returned.
    Ready,
    /// The run begins at this instant; the measured part one warm-up later.
    Starts(std::time::Instant),
    /// A cluster interval, in order.
    Interval(Box<ClusterInterval>),
    /// A line of an agent for the user.
    Notice {
        /// Who says it.
        agent: String,
        /// What.
        notice: Notice,
    },
    /// Something that the user should know, as a line without a full stop.
    Warning(String),
    /// The load has ended, and the logs of so many agents are being collected.
    CollectingLogs(usize),
    /// This agent has another part of the run from now on: clients of a lost one.
    Joins(String),
    /// An agent was given up.
    Lost {
        /// Its name.
        agent: String,
        /// Why.
        reason: String,
    },
}
