//! Connections that break in the middle of a run: nothing lost, nothing counted twice.

use std::time::Duration;

use pgsurge_coordinator::run::RunEvent;
use pgsurge_tests::proxy::Proxy;

use super::SOON;
use super::runs::{assert_complete, run};
use super::scene::{Agent, intervals, listen, spec, until};
use pgsurge_tests::fake_load::{FakeEngine, Timetable};

fn engine(intervals: u32) -> FakeEngine {
    let timetable = Timetable { intervals, ..Timetable::default() };
    FakeEngine { timetable, ..FakeEngine::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_cut_again_and_again_costs_no_interval() {
    let (fleet, address) = listen().await;
    let proxy = Proxy::start(address);
    let engine = engine(150);
    let cut_off = Agent::dialling(proxy.address(), "cut-off", &engine);
    let steady = Agent::dialling(address, "steady", &engine);
    let (spec, mut events) = spec("r1", fleet.gather(2, SOON).await.unwrap());
    let running = tokio::spawn(run(spec));
    for _ in 0..5 {
        intervals(&mut events, 10).await;
        proxy.cut();
    }
    let outcome = running.await.unwrap().unwrap();
    assert_complete(&outcome, &engine.diary);
    assert!(outcome.agents.iter().all(|agent| agent.lost.is_none()));
    fleet.shutdown().await;
    cut_off.exit().await.unwrap();
    steady.exit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_while_sessions_open_and_instants_are_named_is_survived() {
    let (fleet, address) = listen().await;
    let proxy = Proxy::start(address);
    let engine = engine(10);
    let agent = Agent::dialling(proxy.address(), "a", &engine);
    let (spec, mut events) = spec("r1", fleet.gather(1, SOON).await.unwrap());
    proxy.cut();
    let running = tokio::spawn(run(spec));
    until(&mut events, |event| matches!(event, RunEvent::Ready).then_some(())).await;
    proxy.cut();
    let outcome = running.await.unwrap().unwrap();
    assert_complete(&outcome, &engine.diary);
    // Also the release arrives over a new connection.
    proxy.cut();
    fleet.shutdown().await;
    agent.exit().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_stalls_makes_an_agent_unreachable_and_costs_no_interval() {
    let (fleet, address) = listen().await;
    let proxy = Proxy::start(address);
    let engine = engine(400);
    let _agent = Agent::dialling(proxy.address(), "a", &engine);
    let (spec, mut events) = spec("r1", fleet.gather(1, SOON).await.unwrap());
    let running = tokio::spawn(run(spec));
    intervals(&mut events, 5).await;
    proxy.stall(true);
    let line = until(&mut events, |event| match event {
        RunEvent::Warning(line) => Some(line),
        _ => None,
    });
    assert_eq!(line.await, "agent a is unreachable");
    proxy.stall(false);
    let outcome = running.await.unwrap().unwrap();
    assert_complete(&outcome, &engine.diary);
    let silences = &outcome.agents[0].silences;
    assert!(silences[0].length >= Duration::from_secs(3), "{silences:?}");
}
