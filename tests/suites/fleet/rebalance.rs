//! Clients of a lost agent go on elsewhere: on the others, on a spare agent, on the same as it comes back.
//! Nothing is counted twice, and nobody has clients of an agent that may still be at work.

use std::collections::BTreeSet;

use pgsurge_agent::load::Stop;
use pgsurge_agent::session::AgentOptions;
use pgsurge_common::ids::AgentId;
use pgsurge_coordinator::fleet::Fleet;
use pgsurge_coordinator::merge::ClusterInterval;
use pgsurge_coordinator::run::{
    AgentOutcome, Interrupts, OnAgentLoss, RunEvent, RunOutcome, RunSpec,
};
use pgsurge_tests::proxy::Proxy;
use tokio::sync::mpsc::Receiver;
use tokio::task::JoinHandle;

use super::SOON;
use super::lease::{ended, endless, short_lease};
use super::runs::run;
use super::scene::{Agent, CLIENTS, intervals, loopback, options, spec, until};
use pgsurge_tests::fake_load::{Entry, FakeEngine, PACE};

/// A run of agents `stays-1`, ... and, last, `lost`, which is behind a proxy that can cut it off.
struct Scene {
    fleet: Fleet,
    proxy: Proxy,
    lost: FakeEngine,
    stays: FakeEngine,
    agents: Vec<Agent>,
    events: Receiver<RunEvent>,
    running: JoinHandle<RunOutcome>,
    interrupts: Interrupts,
}

impl Scene {
    async fn start(staying: usize) -> Self {
        let fleet = Fleet::listen(loopback(), short_lease()).await.unwrap();
        let address = fleet.local_addr().unwrap();
        let proxy = Proxy::start(address);
        let (lost, stays) = (endless(), endless());
        let mut agents = Vec::new();
        for number in 1..=staying {
            agents.push(Agent::dialling(address, &format!("stays-{number}"), &stays));
            fleet.gather(number, SOON).await.unwrap();
        }
        let behind = AgentOptions { once: false, ..options(proxy.address(), "lost") };
        agents.push(Agent::start(behind, &lost));
        let handles = fleet.gather(staying + 1, SOON).await.unwrap();
        let (mut spec, events) = spec("r1", handles);
        spec.fleet = short_lease();
        spec.options.on_agent_loss = OnAgentLoss::Rebalance;
        let interrupts = spec.interrupts.clone();
        let running = tokio::spawn(finished(spec));
        let mut scene = Self { fleet, proxy, lost, stays, agents, events, running, interrupts };
        intervals(&mut scene.events, 3).await;
        scene
    }

    /// Waits for a warning that contains this.
    async fn warned(&mut self, part: &str) {
        until(&mut self.events, |event| match event {
            RunEvent::Warning(line) if line.contains(part) => Some(()),
            _ => None,
        })
        .await;
    }

    /// The next interval in which all clients are at work again.
    async fn whole_again(&mut self) -> ClusterInterval {
        until(&mut self.events, |event| match event {
            RunEvent::Interval(interval) if interval.complete && interval.moved == CLIENTS => {
                Some(*interval)
            }
            _ => None,
        })
        .await
    }

    /// Ends the run; what all loads but the lost one produced is in the outcome, once.
    async fn end(self) -> RunOutcome {
        self.interrupts.drain.cancel();
        let outcome = self.running.await.unwrap();
        assert_eq!(outcome.merged.mismatches, []);
        assert_eq!(outcome.merged.missing, []);
        let counts =
            |agent: &AgentOutcome| outcome.merged.agents[agent.id.0 as usize].counts.transactions;
        let whole: u64 = outcome.agents.iter().map(counts).sum();
        assert_eq!(outcome.merged.measured.counts.transactions, whole);
        let survived = outcome.agents.iter().filter(|agent| agent.lost.is_none());
        let survived: u64 = survived.map(counts).sum();
        assert_eq!(survived, self.stays.diary.transactions());
        self.fleet.shutdown().await;
        drop(self.agents);
        outcome
    }
}

async fn finished(spec: RunSpec) -> RunOutcome {
    run(spec).await.unwrap()
}

fn clients(agent: &AgentOutcome) -> impl Iterator<Item = u32> + use<> {
    let first = agent.share.first_client().0;
    first..first + agent.share.clients()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_others_take_over_the_clients_of_a_lost_agent_when_its_lease_is_over() {
    let mut scene = Scene::start(2).await;
    scene.proxy.close(true);
    scene.warned("agent stays-1 takes over").await;
    let entries = scene.lost.diary.entries();
    assert!(
        matches!(entries[..], [Entry::Began, Entry::Ended(_, Some(Stop::Now))]),
        "it may still be at work: {entries:?}"
    );
    scene.warned("go on on agent stays-2").await;
    let whole = scene.whole_again().await;
    assert_eq!((whole.interval.clients, whole.agents), (3 * CLIENTS, 2));
    let outcome = scene.end().await;

    let of_lost: BTreeSet<u32> = clients(&outcome.agents[2]).collect();
    let heirs = &outcome.agents[3..];
    assert_eq!(heirs.iter().flat_map(clients).collect::<BTreeSet<_>>(), of_lost);
    assert_eq!(heirs.iter().map(|heir| heir.share.clients()).sum::<u32>(), CLIENTS);
    for heir in heirs {
        let took = heir.took_over.unwrap();
        assert_eq!((took.from, heir.share.moves), (AgentId(2), 1));
        let begun = outcome.merged.agents[heir.id.0 as usize].intervals.start;
        let second = f64::from(begun) * PACE.as_secs_f64();
        assert!((took.at_s.unwrap() - second).abs() < 1e-6, "{took:?} is not second {second}");
    }
    assert!(outcome.agents[2].lost.is_some() && outcome.agents[1].lost.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spare_agent_takes_the_place_of_a_lost_one() {
    let mut scene = Scene::start(1).await;
    // Its process begins after the run has: its own clock knows the common start as a time before.
    let address = scene.fleet.local_addr().unwrap();
    let _spare = Agent::dialling(address, "spare", &scene.stays);
    scene.fleet.gather(1, SOON).await.unwrap();
    scene.proxy.close(true);
    scene.warned("agent spare takes over clients 3 to 5 of agent lost").await;
    let whole = scene.whole_again().await;
    assert_eq!((whole.interval.clients, whole.agents), (2 * CLIENTS, 2));
    let outcome = scene.end().await;
    assert_eq!(outcome.agents.len(), 3);
    assert_eq!(outcome.agents[2].facts.name, "spare");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_comes_back_after_its_lease_gets_its_clients_again() {
    let mut scene = Scene::start(1).await;
    scene.proxy.close(true);
    ended(&scene.lost).await;
    scene.proxy.close(false);
    scene.warned("takes over clients 3 to 5 of agent lost").await;
    scene.whole_again().await;
    let stays = scene.stays.clone();
    scene.interrupts.drain.cancel();
    let outcome = scene.running.await.unwrap();
    assert_eq!((&outcome.merged.mismatches, &outcome.merged.missing), (&vec![], &vec![]));
    let last = &outcome.agents[2];
    let back = outcome.merged.agents[2].counts.transactions;
    if last.facts.name == "lost" {
        let of_first_life = scene.lost.diary.entries().into_iter().find_map(|entry| match entry {
            Entry::Ended(transactions, _) => Some(transactions),
            Entry::Began => None,
        });
        assert_eq!(back, scene.lost.diary.transactions() - of_first_life.unwrap());
    } else {
        // On a starved machine the run may have lost patience before the agent was back.
        let own = outcome.merged.agents[0].counts.transactions;
        assert_eq!(own + back, stays.diary.transactions());
    }
    scene.fleet.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clients_of_an_agent_that_leaves_are_taken_over_when_it_has_drained() {
    let mut scene = Scene::start(1).await;
    scene.agents[1].shutdown.drain.cancel();
    scene.warned("agent stays-1 takes over clients 3 to 5 of agent lost").await;
    let entries = scene.lost.diary.entries();
    assert!(matches!(entries[..], [Entry::Began, Entry::Ended(_, Some(Stop::Drain))]));
    scene.whole_again().await;
    scene.interrupts.drain.cancel();
    let outcome = scene.running.await.unwrap();
    assert_eq!((&outcome.merged.mismatches, &outcome.merged.missing), (&vec![], &vec![]));
    let produced = scene.lost.diary.transactions() + scene.stays.diary.transactions();
    assert_eq!(outcome.merged.measured.counts.transactions, produced);
    scene.fleet.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_has_lost_everybody_ends() {
    let scene = Scene::start(0).await;
    scene.proxy.close(true);
    let Scene { mut events, running, .. } = scene;
    let line = "no agent is there to take over clients 0 to 2 of agent lost";
    until(&mut events, |event| {
        matches!(event, RunEvent::Warning(warning) if warning == line).then_some(())
    })
    .await;
    let outcome = running.await.unwrap();
    assert!(outcome.agents[0].lost.is_some());
}
