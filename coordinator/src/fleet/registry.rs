//! All agents that the coordinator knows, with their sessions: plain data behind one lock.
//!
//! Sends by trying only, so that no agent that does not read can hold up another: what belongs to a run
//! waits in its outbox, everything else is dropped. Knows nothing of connections below the stream.

use std::collections::{BTreeMap, HashSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use pgsurge_common::ids::{AgentId, RunId};
use pgsurge_proto::message::{
    Ack, ClockEcho, Command, CoordinatorMessage, Hello, OfPart, Report, RunMessage, Token,
};
use pgsurge_proto::numbering::{Arrival, Inbox, Outbox};
use pgsurge_proto::server::Refusal;
use tokio::sync::mpsc;

use super::clock::{ClockReading, ClockRound, RoundStep};
use super::logs::LogDelivery;
use super::peer::Peer;

/// Sessions at a time; more connections there are not either.
const MOST_AGENTS: usize = 8192;

/// An agent's session, numbered as they came.
pub(super) type Key = u64;

/// What an agent said of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFacts {
    /// Its name, unique among the agents present.
    pub name: String,
    /// Version of its program.
    pub software_version: String,
    /// Processors that it may use.
    pub cores: u32,
    /// Memory of its host in bytes.
    pub memory_bytes: u64,
    /// Files that it may have open.
    pub fd_limit: u64,
    /// Where it dialled from; absent inside the process.
    pub peer: Option<SocketAddr>,
}

/// Something that an agent of a run did.
#[derive(Debug)]
pub struct FleetEvent {
    /// Which agent of the run, by the number of its first part.
    pub agent: AgentId,
    /// What it did.
    pub sign: Sign,
}

/// See [`FleetEvent`].
#[derive(Debug)]
pub enum Sign {
    /// It reported something of one of its parts; each report comes once and in order.
    Report(OfPart<Report>),
    /// Its clock was measured.
    Clock(ClockReading),
    /// It broke the protocol and will not be heard again.
    Expelled(String),
    /// It has ended all its load, and its part in the run is over.
    Gone(String),
}

/// One agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub facts: AgentFacts,
    /// Its last connection.
    pub peer: Peer,
    pub token: Token,
    /// Counts its streams; what comes over an earlier one is not listened to.
    pub generation: u64,
    pub link: Option<mpsc::Sender<CoordinatorMessage>>,
    pub last_heard: Instant,
    pub clock: Option<ClockReading>,
    pub run: Option<RunLink>,
    /// It leaves after its first run.
    once: bool,
    /// It has served one.
    served: bool,
    round: Option<ClockRound>,
    probes: u64,
    probed_ns: u64,
}

/// An agent's part in a run.
#[derive(Debug)]
pub(super) struct RunLink {
    pub id: RunId,
    pub agent: AgentId,
    pub events: mpsc::Sender<FleetEvent>,
    pub outbox: Outbox<OfPart<Command>>,
    pub inbox: Inbox,
    pub released: bool,
    /// Where its logs go, once they are asked for.
    pub logs: Option<mpsc::Sender<LogDelivery>>,
}

impl RunLink {
    pub fn new(id: RunId, agent: AgentId, events: mpsc::Sender<FleetEvent>) -> Self {
        let (outbox, inbox) = (Outbox::default(), Inbox::default());
        Self { id, agent, events, outbox, inbox, released: false, logs: None }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Registry {
    pub agents: BTreeMap<Key, Agent>,
    last_key: Key,
    /// Nobody is taken any more.
    pub closed: bool,
}

impl Registry {
    /// The agent that owns a token.
    pub fn by_token(&self, token: &Token) -> Option<Key> {
        self.agents.iter().find(|(_, agent)| agent.token == *token).map(|(key, _)| *key)
    }

    /// Takes a new agent. Its name gets a number if another one has it; one that is not connected and has
    /// no part in a run is taken for an earlier life of the same and makes room.
    ///
    /// # Errors
    /// There are too many, and none of them is away.
    pub fn admit(&mut self, hello: Hello, peer: Peer, token: Token) -> Result<Key, Refusal> {
        self.agents.retain(|_, agent| !agent.is_away() || agent.facts.name != hello.name);
        if self.agents.len() >= MOST_AGENTS {
            let away = self.agents.iter().filter(|(_, agent)| agent.is_away());
            let longest = away.min_by_key(|(_, agent)| agent.last_heard).map(|(key, _)| *key);
            let longest = longest.ok_or_else(|| Refusal::Later("there are too many agents".into()));
            self.agents.remove(&longest?);
        }
        let Hello { name, software_version, cores, memory_bytes, fd_limit, once, resume: _ } =
            hello;
        let name = self.free_name(name);
        let address = peer.address;
        let facts =
            AgentFacts { name, software_version, cores, memory_bytes, fd_limit, peer: address };
        let agent = Agent {
            facts,
            peer,
            token,
            generation: 0,
            link: None,
            last_heard: Instant::now(),
            clock: None,
            run: None,
            once,
            served: false,
            round: None,
            probes: 0,
            probed_ns: 0,
        };
        self.last_key += 1;
        self.agents.insert(self.last_key, agent);
        Ok(self.last_key)
    }

    fn free_name(&self, name: String) -> String {
        let taken: HashSet<&str> =
            self.agents.values().map(|agent| agent.facts.name.as_str()).collect();
        if !taken.contains(name.as_str()) {
            return name;
        }
        let mut numbered = (2_u32..).map(|n| format!("{name}-{n}"));
        let free = numbered.find(|name| !taken.contains(name.as_str()));
        free.expect("there are fewer agents than numbers")
    }

    /// The agent of a stream, unless a later stream took its place.
    pub fn current(&mut self, key: Key, generation: u64) -> Option<&mut Agent> {
        self.agents.get_mut(&key).filter(|agent| agent.generation == generation)
    }
}

impl Agent {
    /// Goes on over a new stream; what was on its way over the last one is sent again. An agent that had
    /// taken commands of its run and knows nothing of it any more has given it up: the run's channel is
    /// returned, to be told.
    pub fn relink(
        &mut self,
        link: mpsc::Sender<CoordinatorMessage>,
        peer: Peer,
        commands: Option<&Ack>,
    ) -> Option<(AgentId, mpsc::Sender<FleetEvent>)> {
        (self.link, self.peer) = (Some(link), peer);
        let run = self.run.as_mut()?;
        self.peer.serve();
        if let Some(ack) = commands.filter(|ack| ack.run == run.id) {
            run.outbox.rewind(ack.number);
            self.acknowledged(ack);
        } else if run.outbox.acknowledged() == 0 {
            run.outbox.rewind(0);
        } else {
            return self.run.take().map(|run| (run.agent, run.events));
        }
        None
    }

    /// What of the run in course has arrived here, for the welcome.
    pub fn reports_received(&self) -> Option<Ack> {
        let run = self.run.as_ref()?;
        Some(Ack { run: run.id.clone(), number: run.inbox.received() })
    }

    /// It is not connected, and nobody waits for it.
    fn is_away(&self) -> bool {
        self.link.is_none() && self.run.is_none()
    }

    /// It can take part in a run.
    pub fn is_free(&self) -> bool {
        let leaves = self.once && self.served;
        self.link.is_some() && self.clock.is_some() && self.run.is_none() && !leaves
    }

    /// Sends what may be lost.
    pub fn send(&mut self, message: CoordinatorMessage) {
        if let Some(link) = &self.link {
            let _ = link.try_send(message);
        }
    }

    /// Sends what must not be lost.
    pub fn command(&mut self, part: AgentId, command: Command) {
        if let Some(run) = &mut self.run {
            run.released |= command == Command::Release;
            run.outbox.push(OfPart { part, body: command });
        }
        self.flush();
    }

    /// Puts on its way what waits. A link that takes no more is given up: its agent comes back.
    pub fn flush(&mut self) {
        let (Some(run), Some(link)) = (&mut self.run, &self.link) else { return };
        while let Some(message) = run.outbox.next_unsent() {
            let message = RunMessage { run: run.id.clone(), message };
            if link.try_send(CoordinatorMessage::Command(message)).is_err() {
                self.link = None;
                return;
            }
        }
    }

    /// A report came: to be handed on if it is new.
    pub fn report(&mut self, report: RunMessage<Report>) -> Result<Option<OfPart<Report>>, String> {
        let Some(run) = self.run.as_mut().filter(|run| run.id == report.run) else {
            return Ok(None);
        };
        let arrival = run.inbox.accept(report.message.number);
        let ack = Ack { run: run.id.clone(), number: run.inbox.received() };
        match arrival {
            Arrival::Gap => {
                return Err(format!("report {} came too early", report.message.number));
            }
            Arrival::New | Arrival::Again => self.send(CoordinatorMessage::Ack(ack)),
        }
        Ok((arrival == Arrival::New).then_some(report.message.body))
    }

    /// Commands arrived; a release that did ends the agent's part in the run.
    pub fn acknowledged(&mut self, ack: &Ack) {
        let Some(run) = self.run.as_mut().filter(|run| run.id == ack.run) else { return };
        run.outbox.acknowledge(ack.number);
        if run.released && run.outbox.is_empty() {
            (self.run, self.served) = (None, true);
        }
    }

    /// Begins to measure the clock, over again if it was at it.
    pub fn measure(&mut self, now_ns: u64) {
        self.round = Some(ClockRound::default());
        self.probe(now_ns);
    }

    /// Whether a measurement is in course.
    pub fn measuring(&self) -> bool {
        self.round.is_some()
    }

    fn probe(&mut self, now_ns: u64) {
        let Some(round) = &mut self.round else { return };
        (self.probes, self.probed_ns) = (self.probes + 1, now_ns);
        round.probe(self.probes, now_ns);
        self.send(CoordinatorMessage::ClockProbe(self.probes));
    }

    /// Replaces a probe that is overdue.
    pub fn probe_again(&mut self, now_ns: u64, overdue: Duration) {
        if u128::from(now_ns.saturating_sub(self.probed_ns)) >= overdue.as_nanos() {
            self.probe(now_ns);
        }
    }

    /// A probe came back; the reading, if it was the last of its round.
    pub fn echo(&mut self, echo: &ClockEcho, now_ns: u64) -> Option<ClockReading> {
        match self.round.as_mut()?.echo(echo, now_ns) {
            RoundStep::Again => self.probe(now_ns),
            RoundStep::Stray => {}
            RoundStep::Done(reading) => {
                self.round = None;
                self.clock = Some(reading);
                return Some(reading);
            }
        }
        None
    }
}
