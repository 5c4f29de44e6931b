//! What goes into the state machine and what comes out of it. Payloads stay with the driver: the machine
//! decides by counts and names alone.

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_proto::message::Stop;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Time passed; comes several times a second.
    Tick,
    /// The coordinator is behind with what agents sent it: their age is its own.
    Behind,
    /// An agent gave a sign of life.
    Heard(AgentId),
    /// An agent has opened its sessions, or as many as it could.
    Opened(AgentId, Opened),
    /// The run may begin.
    Go,
    /// An agent's clock was measured; the slowest probe of the round took so long.
    Clock(AgentId, Duration),
    /// An agent has taken an instant.
    Armed {
        /// Who.
        agent: AgentId,
        /// Which instant.
        attempt: u32,
        /// The instant lay ahead.
        in_time: bool,
    },
    /// An agent has taken an instant back.
    CalledOff {
        /// Who.
        agent: AgentId,
        /// Which instant.
        attempt: u32,
        /// Its load had begun.
        begun: bool,
    },
    /// An agent delivered an interval.
    Interval(AgentId),
    /// An agent's load has ended and its totals are here.
    Finished(AgentId),
    /// A client aborted and the plan wants the whole run to end then.
    Abort,
    /// An agent was told to leave; its totals follow.
    Leaving(AgentId, String),
    /// An agent cannot go on and has no load any more.
    Fault(AgentId, String),
    /// An agent broke the protocol; it may still have load until its lease is over.
    Expelled(AgentId, String),
    /// The user wants to stop.
    Interrupt,
}

/// How an agent's connection phase ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Opened {
    /// Sessions asked for.
    pub wanted: u32,
    /// Sessions obtained.
    pub obtained: u32,
    /// Which server answered, where that is known.
    pub server: Option<String>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Measure an agent's clock.
    MeasureClock(AgentId),
    /// Tell an agent when to begin.
    Start {
        /// Whom.
        agent: AgentId,
        /// Which instant.
        attempt: u32,
        /// When, on the coordinator's clock.
        at: Duration,
    },
    /// Take an instant back.
    CallOff {
        /// From whom.
        agent: AgentId,
        /// Which instant.
        attempt: u32,
    },
    /// End an agent's load.
    Stop(AgentId, Stop),
    /// Cut an agent off for good.
    Forget(AgentId),
    /// Tell the user.
    Note(Note),
    /// The run is over; nothing follows.
    End(Ending),
}

/// Something worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// All sessions are open; [`Event::Go`] is awaited.
    Ready,
    /// The instant was called off, for these had not taken it in time.
    CalledOff(Vec<AgentId>),
    /// The run will begin at this time.
    Armed(Duration),
    /// An agent is silent.
    Unreachable(AgentId),
    /// It is back, after so long.
    Back(AgentId, Duration),
    /// It is given up, and why.
    Lost(AgentId, String),
    /// It was told to leave by someone else, and why.
    Left(AgentId, String),
}

/// How a run ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Load was on and has ended: every agent has finished or was lost.
    Done,
    /// Load never began.
    Failed(Failure),
}

/// Why load never began.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The user did not want it any more.
    Interrupted,
    /// Fewer sessions than asked for.
    TooFewSessions,
    /// Agents reached different servers.
    DifferentServers,
    /// These were not ready in time.
    NotReady(Vec<AgentId>),
    /// The clocks of these could not be measured in time.
    NoClock(Vec<AgentId>),
    /// These did not take an instant, or did not take it back.
    NotArmed {
        /// The last one.
        attempt: u32,
        /// Who.
        missing: Vec<AgentId>,
    },
    /// This one had begun before the instant was taken back.
    BeganAlone(AgentId),
    /// This one is out.
    Lost(AgentId, String),
}
