//! What goes into the state machine and what comes out of it. Payloads stay with the driver: the machine
//! decides by counts and names alone.
//!
//! What is about an agent as a whole (its voice, its clock, its leaving) names it by its first part; all
//! else names the part.

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
    /// An agent cannot go on with a part and has no load of it any more.
    Fault(AgentId, String),
    /// An agent has ended all its load and knows nothing of the run any more.
    Gone(AgentId, String),
    /// The answer to [`Action::Place`].
    Placed {
        /// Whose clients.
        lost: AgentId,
        /// Who takes them over; nobody can if it is empty. Each becomes a new part with the next number.
        by: Vec<Heir>,
    },
    /// An agent broke the protocol; it may still have load until its lease is over.
    Expelled(AgentId, String),
    /// The user wants to stop.
    Interrupt,
}

/// Who takes clients over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heir {
    /// An agent of the run, by its first part.
    Agent(AgentId),
    /// A spare agent, which is known by the number of the new part from then on; the slowest probe of its
    /// clock took so long.
    Spare(Duration),
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
    /// Find a place for the clients of a lost part, let them be prepared there, and answer with
    /// [`Event::Placed`].
    Place {
        /// Whose clients.
        lost: AgentId,
        /// Agents that can take them if no spare one is there, by their first parts.
        among: Vec<AgentId>,
    },
    /// Tell an agent when the clients that it took over begin.
    Join {
        /// Which part.
        part: AgentId,
        /// Which instant, from 1.
        attempt: u32,
        /// When, since the common start; the beginning of an interval.
        after: Duration,
    },
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
    /// The clients of this part have begun, so long after the common start.
    Joined(AgentId, Duration),
    /// Nobody is there to take over the clients of this part.
    NoHeir(AgentId),
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
