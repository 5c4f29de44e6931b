//! No load outlives its coordinator by more than the lease (I4), and agents come back.

use std::time::Duration;

use pgsurge_agent::load::Stop;
use pgsurge_agent::session::AgentOptions;
use pgsurge_coordinator::fleet::{Fleet, FleetOptions, Listen};
use pgsurge_coordinator::run::{OnAgentLoss, prepare};
use pgsurge_tests::process::answered;
use pgsurge_tests::proxy::Proxy;

use super::SOON;
use super::runs::run;
use super::scene::{Agent, intervals, listen, loopback, options, spec};
use pgsurge_tests::fake_load::{Entry, FakeEngine, Timetable};

/// Short, and yet long enough for agents that are to keep theirs on a machine that is busy with other things.
pub fn short_lease() -> FleetOptions {
    FleetOptions { lease: Duration::from_secs(5), heartbeat: Duration::from_millis(200) }
}

pub fn endless() -> FakeEngine {
    let timetable = Timetable { intervals: u32::MAX, ..Timetable::default() };
    FakeEngine { timetable, ..FakeEngine::default() }
}

pub async fn ended(engine: &FakeEngine) -> Entry {
    answered("load ends", SOON, async || {
        engine.diary.entries().into_iter().find(|entry| *entry != Entry::Began)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_cut_off_ends_its_load_and_the_run_goes_on_without_it() {
    let fleet = Fleet::listen(loopback(), short_lease()).await.unwrap();
    let address = fleet.local_addr().unwrap();
    let proxy = Proxy::start(address);
    let (lost, stays) = (endless(), endless());
    let steady = Agent::dialling(address, "stays", &stays);
    fleet.gather(1, SOON).await.unwrap();
    let _cut_off =
        Agent::start(AgentOptions { once: false, ..options(proxy.address(), "lost") }, &lost);
    let (mut spec, mut events) = spec("r1", fleet.gather(2, SOON).await.unwrap());
    spec.fleet = short_lease();
    spec.options.on_agent_loss = OnAgentLoss::Continue;
    let interrupts = spec.interrupts.clone();
    let running = tokio::spawn(run(spec));
    intervals(&mut events, 3).await;
    proxy.close(true);
    assert!(matches!(ended(&lost).await, Entry::Ended(_, Some(Stop::Now))));
    let name = super::scene::until(&mut events, |event| match event {
        pgsurge_coordinator::run::RunEvent::Lost { agent, .. } => Some(agent),
        _ => None,
    });
    assert_eq!(name.await, "lost");
    intervals(&mut events, 3).await;
    interrupts.drain.cancel();
    let outcome = running.await.unwrap().unwrap();
    assert!(outcome.agents[1].lost.is_some());
    assert_eq!(outcome.merged.mismatches, [], "what the lost one delivered stays counted");
    assert!(outcome.merged.measured.counts.transactions > stays.diary.transactions());
    // The agent is back for the next run as soon as it can be.
    proxy.close(false);
    let back = fleet.gather(1, SOON).await.unwrap();
    assert_eq!(back[0].facts().name, "lost");
    fleet.shutdown().await;
    steady.exit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_whose_lease_was_over_says_so_when_it_comes_back() {
    let fleet = Fleet::listen(loopback(), short_lease()).await.unwrap();
    let proxy = Proxy::start(fleet.local_addr().unwrap());
    let engine = endless();
    let agent = AgentOptions { once: false, ..options(proxy.address(), "a") };
    let _agent = Agent::start(agent, &engine);
    // The run itself would wait much longer.
    let (spec, mut events) = spec("r1", fleet.gather(1, SOON).await.unwrap());
    let running = tokio::spawn(run(spec));
    intervals(&mut events, 3).await;
    proxy.close(true);
    ended(&engine).await;
    proxy.close(false);
    let outcome = running.await.unwrap().unwrap();
    let lost = outcome.agents[0].lost.as_ref().unwrap();
    assert_eq!(lost.reason, "it ended its load since it had not heard from the coordinator");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coordinator_that_is_gone_is_followed_by_the_next_on_the_same_port() {
    let (first, address) = listen().await;
    let engine = endless();
    let agent = Agent::dialling(address, "a", &engine);
    let (spec_1, mut events) = spec("r1", first.gather(1, SOON).await.unwrap());
    let running = tokio::spawn(run(spec_1));
    intervals(&mut events, 3).await;
    // As if it were killed: nothing is released.
    running.abort();
    drop(first);
    // The port is free as soon as the tasks of the first one have ended.
    let second = answered("the port is free", SOON, async || {
        let listen = Listen { address, ..loopback() };
        Fleet::listen(listen, FleetOptions::default()).await.ok()
    })
    .await;
    let handles = second.gather(1, SOON).await.unwrap();
    assert!(matches!(ended(&engine).await, Entry::Ended(_, Some(Stop::Now))));
    let (spec_2, mut events) = spec("r2", handles);
    let interrupts = spec_2.interrupts.clone();
    let running = tokio::spawn(run(spec_2));
    intervals(&mut events, 3).await;
    interrupts.drain.cancel();
    running.await.unwrap().unwrap();
    second.shutdown().await;
    agent.exit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prepared_run_that_nobody_wants_is_released() {
    let (fleet, address) = listen().await;
    let engine = FakeEngine::default();
    let agent = Agent::dialling(address, "a", &engine);
    let (spec, _events) = spec("r1", fleet.gather(1, SOON).await.unwrap());
    drop(prepare(spec).await.unwrap());
    fleet.shutdown().await;
    agent.exit().await.unwrap();
    assert_eq!(engine.diary.entries(), [Entry::Ended(0, Some(Stop::Now))]);
}
