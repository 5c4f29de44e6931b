//! Admission and upkeep of all sessions: one reader task a stream, one task for heartbeats.
//!
//! The lock is never held across an await. A run that does not take its events holds up the readers of
//! its own agents and nobody else.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pgsurge_proto::message::{
    AgentMessage, CoordinatorMessage, Hello, LogReceipt, Resumed, Token, Welcome,
};
use pgsurge_proto::server::{Admission, Delivery, Newcomer, Outgoing, Refusal};
use pgsurge_proto::{Incoming, ReceiveError};
use tokio::sync::{Notify, mpsc};

use super::FleetOptions;
use super::complaints::Complaints;
use super::peer::Peer;
use super::registry::{Agent, FleetEvent, Key, Registry, Sign};

/// Messages to one agent that may wait for its connection.
const LINK_DEPTH: usize = 256;

/// A probe that did not come back for so long is sent again.
const PROBE_AGAIN: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug)]
pub(super) struct Hub {
    pub options: FleetOptions,
    /// Some agent came, went, or was measured.
    pub changed: Notify,
    pub complaints: Arc<Complaints>,
    epoch: Instant,
    registry: Mutex<Registry>,
    random: rustls::crypto::CryptoProvider,
}

impl Hub {
    pub fn new(options: FleetOptions) -> Self {
        Self {
            options,
            changed: Notify::new(),
            complaints: Arc::default(),
            epoch: Instant::now(),
            registry: Mutex::default(),
            random: rustls::crypto::ring::default_provider(),
        }
    }

    /// Nanoseconds since the coordinator's fleet began.
    pub fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub fn lock(&self) -> MutexGuard<'_, Registry> {
        // A panic while holding the lock is a bug that its own thread reports; the data stay usable.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with one agent, if it is still known.
    pub fn with<T>(&self, key: Key, f: impl FnOnce(&mut Agent) -> T) -> Option<T> {
        self.lock().agents.get_mut(&key).map(f)
    }

    /// Forgets an agent: its stream ends, its token is worth nothing.
    pub fn forget(&self, key: Key) {
        self.lock().agents.remove(&key);
        self.changed.notify_waiters();
    }

    /// Ends all streams and takes nobody any more: a connection that outlives the server by a moment must
    /// not attach an agent to a coordinator that is gone.
    pub fn close(&self) {
        self.complaints.close();
        let mut registry = self.lock();
        registry.closed = true;
        registry.agents.clear();
    }

    /// Says once per heartbeat that the coordinator is there, and forgets who left.
    pub async fn keep_alive(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(self.options.heartbeat);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.complaints.settle();
            let now_ns = self.now_ns();
            let lease = self.options.lease;
            let mut registry = self.lock();
            registry.agents.retain(|_, agent| {
                let serves = agent.run.as_ref().is_some_and(|run| !run.released);
                agent.link.is_some() || serves || agent.last_heard.elapsed() < lease
            });
            for agent in registry.agents.values_mut() {
                agent.send(CoordinatorMessage::Heartbeat);
                agent.probe_again(now_ns, PROBE_AGAIN);
            }
        }
    }

    fn token(&self) -> Result<Token, Refusal> {
        let mut bytes = vec![0; 16];
        match self.random.secure_random.fill(&mut bytes) {
            Ok(()) => Ok(Token(bytes)),
            Err(_) => Err(Refusal::Later("the coordinator has no random numbers".into())),
        }
    }

    /// Finds or makes the session of a hello and puts the welcome on the stream.
    fn session(
        &self,
        hello: Hello,
        peer: &Peer,
        link: mpsc::Sender<CoordinatorMessage>,
    ) -> Result<(Key, u64), Refusal> {
        let token = self.token()?;
        let now_ns = self.now_ns();
        let resume = hello.resume.clone();
        let mut registry = self.lock();
        if registry.closed {
            return Err(Refusal::Later("the coordinator is leaving".into()));
        }
        let known = resume.as_ref().and_then(|resume| registry.by_token(&resume.token));
        let key = match known {
            Some(key) => key,
            None => registry.admit(hello, peer.clone(), token).inspect_err(|refusal| {
                self.complaints.add(&format!("the agent from {peer}"), &refusal.to_string());
            })?,
        };
        let agent = registry.agents.get_mut(&key).expect("found or admitted just above");
        agent.generation += 1;
        agent.last_heard = Instant::now();
        let given_up =
            agent.relink(link, peer.clone(), resume.and_then(|resume| resume.run).as_ref());
        // An agent that has given its run up begins anew: it may be given clients of the same run again.
        let goes_on = known.is_some() && given_up.is_none();
        if let Some((agent, events)) = given_up {
            let reason = "it ended its load since it had not heard from the coordinator".to_owned();
            let sign = Sign::Gone(reason);
            // Not here: the lock is held, and the run may be slow to take it.
            tokio::spawn(async move { events.send(FleetEvent { agent, sign }).await });
        }
        let resumed = goes_on.then(|| Resumed { run: agent.reports_received() });
        tracing::info!(
            agent = agent.facts.name, from = %peer, again = known.is_some(), "agent attached"
        );
        agent.send(CoordinatorMessage::Welcome(Welcome {
            token: agent.token.clone(),
            name: agent.facts.name.clone(),
            lease: self.options.lease,
            heartbeat: self.options.heartbeat,
            resumed,
        }));
        agent.flush();
        if agent.clock.is_none() || agent.measuring() {
            agent.measure(now_ns);
        }
        Ok((key, agent.generation))
    }

    /// Reads a stream to its end.
    async fn read(
        self: Arc<Self>,
        (key, generation): (Key, u64),
        mut messages: Incoming<AgentMessage>,
        peer: Peer,
    ) {
        let why = loop {
            match messages.next().await {
                Ok(Some(message)) => match self.take((key, generation), message).await {
                    Ok(true) => peer.heard(),
                    Ok(false) => break "another stream took its place".to_owned(),
                    Err(fault) => {
                        self.expel(key, fault).await;
                        return;
                    }
                },
                Ok(None) => break "the agent closed it".to_owned(),
                Err(ReceiveError::Connection(why)) => break why,
                Err(error @ (ReceiveError::Message(_) | ReceiveError::Garbled(_))) => {
                    self.expel(key, error.to_string()).await;
                    return;
                }
            }
        };
        if let Some(agent) = self.lock().current(key, generation) {
            tracing::info!(agent = agent.facts.name, why, "stream ended");
            agent.link = None;
        }
        self.changed.notify_waiters();
    }

    /// Takes one message; `false` if the stream counts no longer.
    async fn take(
        &self,
        (key, generation): (Key, u64),
        message: AgentMessage,
    ) -> Result<bool, String> {
        let (heard, now_ns) = (Instant::now(), self.now_ns());
        let for_run = matches!(message, AgentMessage::Report(_) | AgentMessage::ClockEcho(_));
        let events = match self.lock().current(key, generation) {
            None => return Ok(false),
            Some(agent) => {
                agent.last_heard = heard;
                agent.run.as_ref().filter(|_| for_run).map(|run| (run.agent, run.events.clone()))
            }
        };
        // Waiting for room before the message counts as arrived: what is dropped here comes again.
        let room = match events {
            Some((agent, events)) => events.reserve_owned().await.ok().map(|room| (agent, room)),
            None => None,
        };
        let mut registry = self.lock();
        let Some(agent) = registry.current(key, generation) else { return Ok(false) };
        let sign = match message {
            AgentMessage::Hello(_) => return Err("a second hello came".into()),
            AgentMessage::Heartbeat => None,
            AgentMessage::Ack(ack) => {
                agent.acknowledged(&ack);
                None
            }
            AgentMessage::Goodbye => {
                tracing::info!(agent = agent.facts.name, "agent left");
                registry.agents.remove(&key);
                None
            }
            AgentMessage::ClockEcho(echo) => agent.echo(&echo, now_ns).map(Sign::Clock),
            AgentMessage::Report(report) => agent.report(report)?.map(Sign::Report),
        };
        if let (Some(sign), Some((agent, room))) = (sign, room) {
            room.send(FleetEvent { agent, sign });
        }
        self.changed.notify_waiters();
        Ok(true)
    }

    /// Ends the session of an agent that breaks the protocol.
    async fn expel(&self, key: Key, fault: String) {
        let agent = self.lock().agents.remove(&key);
        self.changed.notify_waiters();
        let Some(agent) = agent else { return };
        let who = format!("agent {}, attached from {}", agent.facts.name, agent.peer);
        self.complaints.add(&who, &format!("it broke the protocol: {fault}"));
        if let Some(run) = agent.run {
            let event = FleetEvent { agent: run.agent, sign: Sign::Expelled(fault) };
            let _ = run.events.send(event).await;
        }
    }
}

/// The hub as the server sees it.
#[derive(Debug)]
pub(super) struct Door(pub Arc<Hub>);

impl Admission for Door {
    type Peer = Peer;

    fn attach(&self, newcomer: Newcomer<Peer>) -> Result<Outgoing, Refusal> {
        let Newcomer { peer, hello, messages } = newcomer;
        let (link, outgoing) = mpsc::channel(LINK_DEPTH);
        let session = self.0.session(hello, &peer, link)?;
        peer.admit();
        tokio::spawn(Arc::clone(&self.0).read(session, messages, peer));
        self.0.changed.notify_waiters();
        Ok(outgoing)
    }

    async fn deliver(&self, delivery: Delivery<Peer>) -> Result<LogReceipt, Refusal> {
        self.0.deliver(delivery).await
    }

    fn rejected(&self, peer: Option<&Peer>, why: &str) {
        let peer = peer.map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        self.0.complaints.add(&format!("the agent from {peer}"), why);
    }
}
