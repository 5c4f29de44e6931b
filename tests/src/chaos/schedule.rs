//! What is to happen: a workload on a cluster, and the events that disturb it.

use std::fmt;

use super::draw::Draw;

/// One experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// All of it follows from this.
    pub seed: u64,
    /// Agents that the run asks for.
    pub agents: u32,
    /// Agents beyond those.
    pub spares: u32,
    /// The fleet port is TLS with client certificates.
    pub tls: bool,
    /// What is run.
    pub workload: Workload,
    /// What disturbs it, in the order of time.
    pub events: Vec<Event>,
}

/// The load and its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// `-c`.
    pub clients: u32,
    /// `-j`.
    pub workers: u32,
    /// `-T`.
    pub seconds: u32,
    /// `--warmup`.
    pub warmup: u32,
    /// `-M`.
    pub protocol: Protocol,
    /// `-R`.
    pub rate: Option<u32>,
    /// `-C`.
    pub connect_each: bool,
    /// `--reconnect`.
    pub reconnect: bool,
    /// `--on-agent-loss`.
    pub policy: Policy,
    /// `--lease`.
    pub lease: u32,
}

/// `-M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the option's values")]
pub enum Protocol {
    Simple,
    Extended,
    Prepared,
}

/// `--on-agent-loss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the option's values")]
pub enum Policy {
    Fail,
    Continue,
    Rebalance,
}

/// Something that happens once the load is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Milliseconds since the first transaction was seen on the server.
    pub at_ms: u32,
    /// What.
    pub what: What,
}

/// Agents count from 0; times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// SIGKILL; it may be started again after a time.
    KillAgent(u32, Option<u32>),
    /// SIGTERM: it drains and leaves.
    EndAgent(u32),
    /// SIGSTOP, and SIGCONT after a time.
    StopAgent(u32, u32),
    /// Its cable is pulled for a time.
    CutAgent(u32, u32),
    /// Nothing of what it sends reaches the server (or the other way round) for a time.
    CutAgentFromServer(u32, Way, u32),
    /// Nothing reaches the coordinator, or comes from it, for a time.
    CutCoordinator(u32),
    /// SIGKILL.
    KillCoordinator,
    /// SIGINT or SIGTERM: the run drains.
    InterruptCoordinator(Signal),
    /// SIGSTOP, and SIGCONT after a time.
    StopCoordinator(u32),
    /// The server restarts, its sessions are ended in order.
    RestartServer,
    /// The same at once, without a checkpoint.
    CrashServer,
    /// All its processes are killed; it comes back after a time.
    KillServer(u32),
}

/// Packets of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the agent to the server.
    ToServer,
    /// From the server to the agent.
    FromServer,
}

/// What ends a coordinator in good order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT.
    Int,
    /// SIGTERM.
    Term,
}

impl Schedule {
    /// The schedule of a seed.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let agents = draw.between(2, 4);
        let policy = draw.one_of(&[Policy::Fail, Policy::Continue, Policy::Rebalance]);
        let spares = u32::from(policy == Policy::Rebalance && draw.percent(50));
        let tls = draw.percent(30);
        let mut workload = workload(&mut draw, policy, agents);
        let mut events: Vec<Event> = (0..draw.between(1, 4))
            .map(|_| Event {
                at_ms: draw.between(200, 1000 * workload.seconds),
                what: what(&mut draw, agents + spares),
            })
            .collect();
        events.sort_by_key(|event| event.at_ms);
        if events.iter().any(|event| event.what == What::KillCoordinator) {
            // Only the lease can end this load.
            workload.seconds = 600;
        }
        Self { seed, agents, spares, tls, workload, events }
    }
}

fn workload(draw: &mut Draw, policy: Policy, agents: u32) -> Workload {
    let clients = draw.between(agents, 12);
    Workload {
        clients,
        workers: draw.between(1, 2),
        seconds: draw.between(4, 9),
        warmup: if draw.percent(25) { draw.between(1, 2) } else { 0 },
        protocol: draw.one_of(&[Protocol::Simple, Protocol::Extended, Protocol::Prepared]),
        rate: draw.percent(35).then(|| draw.between(20, 400)),
        connect_each: draw.percent(15),
        reconnect: draw.percent(50),
        policy,
        lease: draw.between(2, 3),
    }
}

fn what(draw: &mut Draw, agents: u32) -> What {
    let agent = draw.between(0, agents - 1);
    // Around the 3 s after which an agent is unreachable, and the lease.
    let pause = draw.one_of(&[300, 1500, 3500, 6000, 9000]);
    match draw.between(0, 11) {
        0 => What::KillAgent(agent, None),
        1 => What::KillAgent(agent, Some(pause)),
        2 => What::EndAgent(agent),
        3 => What::StopAgent(agent, pause),
        4 => What::CutAgent(agent, pause),
        5 => {
            let way = draw.one_of(&[Way::ToServer, Way::FromServer]);
            What::CutAgentFromServer(agent, way, pause)
        }
        6 => What::CutCoordinator(pause),
        7 => What::KillCoordinator,
        8 => What::InterruptCoordinator(draw.one_of(&[Signal::Int, Signal::Term])),
        9 => What::StopCoordinator(pause),
        10 => draw.one_of(&[What::RestartServer, What::CrashServer]),
        _ => What::KillServer(draw.between(200, 3000)),
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, agents, spares, tls, workload, events } = self;
        let tls = if *tls { ", TLS" } else { "" };
        writeln!(f, "seed {seed}: {agents} agents, {spares} spare{tls}; {workload:?}")?;
        events.iter().try_for_each(|event| writeln!(f, "  {:6} ms {:?}", event.at_ms, event.what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_schedule_again_and_others_give_others() {
        assert_eq!(Schedule::of(7), Schedule::of(7));
        assert_ne!(Schedule::of(7), Schedule::of(8));
    }

    #[test]
    fn every_kind_of_event_policy_and_rule_comes_up() {
        let all: Vec<Schedule> = (0..200).map(Schedule::of).collect();
        let text: Vec<String> = all.iter().map(Schedule::to_string).collect();
        let text = text.concat();
        for part in [
            "KillAgent",
            "None",
            "EndAgent",
            "StopAgent",
            "CutAgent(",
            "ToServer",
            "FromServer",
            "CutCoordinator",
            "KillCoordinator",
            "Interrupt",
            "StopCoordinator",
            "RestartServer",
            "CrashServer",
            "KillServer",
            "Fail",
            "Continue",
            "Rebalance",
            "1 spare",
            "TLS",
            "Prepared",
            "connect_each: true",
            "reconnect: true",
            "warmup: 2",
            "rate: Some",
        ] {
            assert!(text.contains(part), "{part} never comes up");
        }
        assert!(all.iter().all(|s| s.events.is_sorted_by_key(|event| event.at_ms)));
    }
}
