//! The messages of the fleet protocol as strict domain types.
//!
//! What belongs to a run (commands down, reports up) is numbered and acknowledged, so that a lost
//! connection loses and repeats nothing; everything else may be lost at any time.

use std::fmt;
use std::time::Duration;

use pgsurge_common::ids::{AgentId, RunId, WorkerId};
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_common::stats::{ConnectStats, Interval, Totals};

use crate::numbering::Numbered;

/// From an agent to its coordinator.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentMessage {
    /// Who dials; first on every stream.
    Hello(Hello),
    /// Still there.
    Heartbeat,
    /// The answer to a clock probe.
    ClockEcho(ClockEcho),
    /// Something about the run.
    Report(RunMessage<Report>),
    /// Commands up to this one have arrived.
    Ack(Ack),
    /// It leaves for good: no load is left and it will not come back to its session.
    Goodbye,
}

/// From a coordinator to one of its agents.
#[derive(Clone, Debug, PartialEq)]
pub enum CoordinatorMessage {
    /// The agent is admitted; first on every stream.
    Welcome(Welcome),
    /// Still there: the agent's lease begins anew, as with every other message.
    Heartbeat,
    /// To be echoed at once.
    ClockProbe(u64),
    /// Something to do for the run.
    Command(RunMessage<Command>),
    /// Reports up to this one have arrived.
    Ack(Ack),
}

/// A numbered message of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunMessage<T> {
    /// Which run.
    pub run: RunId,
    /// The message with its number.
    pub message: Numbered<OfPart<T>>,
}

/// What is said about one part of a run. An agent has one from the beginning, and one more each time that
/// it takes over clients of a lost agent.
#[derive(Clone, Debug, PartialEq)]
pub struct OfPart<T> {
    /// Which part; of what concerns the whole agent, its first.
    pub part: AgentId,
    /// What is said.
    pub body: T,
}

/// Everything up to a number has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Which run.
    pub run: RunId,
    /// The last number without a gap before it; 0 if nothing has arrived.
    pub number: u64,
}

/// Who an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// As given on its command line; the coordinator tells equal ones apart.
    pub name: String,
    /// Version of its program.
    pub software_version: String,
    /// Processors that it may use.
    pub cores: u32,
    /// Memory of its host in bytes.
    pub memory_bytes: u64,
    /// Files that it may have open, sessions included.
    pub fd_limit: u64,
    /// It leaves after one run and is not to be planned with afterwards.
    pub once: bool,
    /// The session that it comes back to, if it only lost its connection.
    pub resume: Option<Resume>,
}

/// A session that its agent wants to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// From the welcome.
    pub token: Token,
    /// The run in course and the last of its commands that arrived.
    pub run: Option<Ack>,
}

/// The answer to a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Proves, at a later hello, that it is the same agent.
    pub token: Token,
    /// The agent's name as the coordinator uses it.
    pub name: String,
    /// Load stops when nothing was heard from the coordinator for so long.
    pub lease: Duration,
    /// How often both sides say that they are there.
    pub heartbeat: Duration,
    /// The session of the hello's token goes on; else it is over and a new one begins.
    pub resumed: Option<Resumed>,
}

/// Where a session goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resumed {
    /// The run in course and the last of its reports that arrived.
    pub run: Option<Ack>,
}

/// A session's secret name. Prints as `***`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token(pub Vec<u8>);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// When a probe passed through an agent, in nanoseconds since its process began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockEcho {
    /// Which probe.
    pub probe: u64,
    /// Its arrival.
    pub received_ns: u64,
    /// The departure of this answer.
    pub sent_ns: u64,
}

/// What an agent is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Open the sessions of a share, then report [`Report::Ready`].
    Prepare {
        /// The same for every agent.
        plan: Box<Plan>,
        /// This agent's part of it.
        share: Share,
    },
    /// Begin at an instant, after reporting [`Report::Armed`].
    Start {
        /// Counts the instants that were named, from 1.
        attempt: u32,
        /// The common start in nanoseconds on the agent's own clock; in the past for clients that join
        /// later.
        at_ns: i64,
        /// When after it these clients begin, in microseconds; 0 but for clients that join later.
        join_us: u64,
    },
    /// The instant does not hold; to be answered by [`Report::CalledOff`].
    CallOff {
        /// Which one.
        attempt: u32,
    },
    /// End the load, then report [`Report::Finished`].
    Stop(Stop),
    /// The run is over: forget it.
    Release,
    /// The load has ended everywhere: deliver the logs.
    SendLogs,
}

/// Who delivers logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSender {
    /// From the welcome.
    pub token: Token,
    /// Whose logs.
    pub run: RunId,
}

/// A piece of a delivery of logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPart {
    /// The next file begins.
    File {
        /// Process id of the agent.
        process: u32,
        /// Who wrote it.
        worker: WorkerId,
    },
    /// What follows in it; never empty and at most [`crate::MAX_CHUNK_BYTES`].
    Data(Vec<u8>),
    /// All files were sent.
    End(LogReceipt),
    /// The agent cannot go on, and why.
    Problem(String),
}

/// How much was sent, or is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogReceipt {
    /// Files.
    pub files: u32,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// How load ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// No new transactions; those in flight finish and count.
    Drain,
    /// Cancel what is in flight and close.
    Now,
}

/// What an agent has to say about the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// Its sessions are open, or as many as could be had.
    Ready(Box<Ready>),
    /// It will begin at the instant named, unless the lead is not positive.
    Armed {
        /// Which instant.
        attempt: u32,
        /// Nanoseconds from arming to the instant at which its clients begin.
        lead_ns: i64,
    },
    /// It will not begin at the instant named.
    CalledOff {
        /// Which instant.
        attempt: u32,
        /// The call came too late: the load had begun.
        begun: bool,
    },
    /// One second of results.
    Interval(Box<Interval>),
    /// A line for the user.
    Notice(Notice),
    /// A client of this worker met what ends the whole run.
    AbortRun {
        /// Whose client.
        worker: WorkerId,
        /// What it met; without one the plan wants the end because a client aborted.
        reason: Option<String>,
    },
    /// The load has ended, with the agent's own totals.
    Finished(Box<Totals>),
    /// It cannot go on with the run.
    Fault(String),
    /// It was told to leave and is draining; its totals follow.
    Leaving(String),
}

/// How preparing went.
#[derive(Clone, Debug, PartialEq)]
pub struct Ready {
    /// Sessions wanted and obtained, and why not more.
    pub connect: ConnectStats,
    /// The server's process answered itself, so no pooler is in between; `None` where that is not known.
    pub direct: Option<bool>,
}

/// A line for the user's stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Which client, if one.
    pub client: Option<u32>,
    /// How it is to be printed.
    pub level: NoticeLevel,
    /// One or more lines without a last line feed.
    pub text: String,
}

/// How a notice is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// As it is: what the server or a script said.
    Raw,
    /// With the program's name before it.
    Info,
    /// With the program's name and `error:` before it.
    Error,
}
