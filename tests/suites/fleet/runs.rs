//! Runs from attaching to their totals, and all the ways to end before.

use std::time::Duration;

use pgsurge_agent::load::Stop;
use pgsurge_agent::session::{AgentExit, AgentOptions, Coordinator};
use pgsurge_coordinator::fleet::{Fleet, FleetOptions};
use pgsurge_coordinator::run::{OnAgentLoss, RunError, RunOutcome, RunSpec, prepare};

use super::SOON;
use super::scene::{Agent, intervals, listen, options, spec};
use pgsurge_tests::fake_load::{Diary, Entry, FakeEngine, Timetable};

pub async fn run(spec: RunSpec) -> Result<RunOutcome, RunError> {
    let whole = async { prepare(spec).await?.measure().await };
    tokio::time::timeout(SOON, whole).await.expect("the run ends")
}

/// Everything that loads produced is in the outcome, once.
pub fn assert_complete(outcome: &RunOutcome, diary: &Diary) {
    assert_eq!(outcome.merged.mismatches, []);
    assert_eq!(outcome.merged.missing, []);
    assert_eq!(outcome.merged.measured.counts.transactions, diary.transactions());
    assert!(diary.transactions() > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_in_the_same_process_takes_the_same_path() {
    let (fleet, pipes) = Fleet::in_process(FleetOptions::default());
    let engine = FakeEngine::default();
    let agent = Agent::start(
        AgentOptions {
            coordinator: Coordinator::Pipe(pipes),
            name: "local".into(),
            once: true,
            give_up_after: None,
        },
        &engine,
    );
    let agents = fleet.gather(1, SOON).await.unwrap();
    let (spec, _events) = spec("r1", agents);
    let outcome = run(spec).await.unwrap();
    assert_complete(&outcome, &engine.diary);
    assert_eq!(outcome.agents[0].facts.name, "local");
    assert!(outcome.agents[0].clock.error_ns > 0);
    fleet.shutdown().await;
    assert_eq!(agent.exit().await.unwrap(), AgentExit::ServedOnce);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_of_equal_names_are_told_apart_and_their_figures_add_up() {
    let (fleet, address) = listen().await;
    let engine = FakeEngine::default();
    let agents: Vec<_> = (0..3).map(|_| Agent::dialling(address, "twin", &engine)).collect();
    let handles = fleet.gather(3, SOON).await.unwrap();
    let names: Vec<_> = handles.iter().map(|handle| handle.facts().name.clone()).collect();
    assert_eq!(names, ["twin", "twin-2", "twin-3"]);
    let (spec, _events) = spec("r1", handles);
    let outcome = run(spec).await.unwrap();
    assert_complete(&outcome, &engine.diary);
    assert_eq!(outcome.merged.agents.len(), 3);
    fleet.shutdown().await;
    for agent in agents {
        assert_eq!(agent.exit().await.unwrap(), AgentExit::ServedOnce);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_agent_serves_one_run_after_another() {
    let (fleet, address) = listen().await;
    let engine = FakeEngine::default();
    let agent = Agent::start(AgentOptions { once: false, ..options(address, "a") }, &engine);
    for id in ["r1", "r2", "r3"] {
        let handles = fleet.gather(1, SOON).await.unwrap();
        let (spec, _events) = spec(id, handles);
        run(spec).await.unwrap();
    }
    assert_eq!(engine.diary.entries().len(), 6);
    agent.shutdown.drain.cancel();
    assert_eq!(agent.exit().await.unwrap(), AgentExit::Drained);
    fleet.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_agents_are_named_by_those_that_came() {
    let (fleet, address) = listen().await;
    let _agent = Agent::dialling(address, "alone", &FakeEngine::default());
    fleet.gather(1, SOON).await.unwrap();
    let error = fleet.gather(2, Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(error.to_string(), "1 of 2 agents attached within 0.05 s: alone");
}

/// Runs with one agent of each timetable until it fails.
async fn failure(timetables: [Timetable; 2]) -> String {
    let (fleet, address) = listen().await;
    let mut agents = Vec::new();
    for (name, timetable) in ["a", "b"].into_iter().zip(timetables) {
        let engine = FakeEngine { timetable, ..FakeEngine::default() };
        agents.push(Agent::dialling(address, name, &engine));
        // One after the other, so that their order is known.
        fleet.gather(agents.len(), SOON).await.unwrap();
    }
    let (spec, _events) = spec("r1", fleet.gather(2, SOON).await.unwrap());
    let error = run(spec).await.unwrap_err();
    fleet.shutdown().await;
    for agent in agents {
        agent.exit().await.unwrap();
    }
    error.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fewer_sessions_than_asked_for_are_said_with_their_reasons() {
    let refused = Timetable { refused: 2, ..Timetable::default() };
    assert_eq!(
        failure([Timetable::default(), refused]).await,
        "4 of 6 clients connected (53300: 2): sorry, too many clients already\n\
         hint: --allow-fewer-clients goes on with those that connected"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_that_reached_different_servers_do_not_start() {
    let other = Timetable { server: "another one".into(), ..Timetable::default() };
    assert_eq!(
        failure([Timetable::default(), other]).await,
        "agents reached different servers (a: the one; b: another one), use --any-server if that is wanted"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_cannot_do_is_said_in_its_own_words() {
    let unable = Timetable { fault: Some("no shell here".into()), ..Timetable::default() };
    assert_eq!(
        failure([Timetable::default(), unable]).await,
        "agent b does not take part: no shell here"
    );
}

fn endless() -> FakeEngine {
    let timetable = Timetable { intervals: u32::MAX, ..Timetable::default() };
    FakeEngine { timetable, ..FakeEngine::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_interrupt_drains_and_keeps_every_interval() {
    let (fleet, address) = listen().await;
    let engine = endless();
    let agents = [Agent::dialling(address, "a", &engine), Agent::dialling(address, "b", &engine)];
    let (spec, mut events) = spec("r1", fleet.gather(2, SOON).await.unwrap());
    let interrupts = spec.interrupts.clone();
    let running = tokio::spawn(run(spec));
    intervals(&mut events, 3).await;
    interrupts.drain.cancel();
    let outcome = running.await.unwrap().unwrap();
    assert_eq!(outcome.interrupts, 1);
    assert_complete(&outcome, &engine.diary);
    let ended = engine.diary.entries().into_iter().filter(|entry| *entry != Entry::Began);
    for entry in ended {
        assert!(matches!(entry, Entry::Ended(_, Some(Stop::Drain))), "{entry:?}");
    }
    fleet.shutdown().await;
    for agent in agents {
        agent.exit().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_ends_load_at_once_and_still_has_totals() {
    let (fleet, address) = listen().await;
    let engine = endless();
    let _agent = Agent::dialling(address, "a", &engine);
    let (spec, mut events) = spec("r1", fleet.gather(1, SOON).await.unwrap());
    let interrupts = spec.interrupts.clone();
    let running = tokio::spawn(run(spec));
    intervals(&mut events, 1).await;
    interrupts.abort.cancel();
    let outcome = running.await.unwrap().unwrap();
    assert_eq!(outcome.interrupts, 2);
    assert_complete(&outcome, &engine.diary);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_is_told_to_leave_drains_and_the_others_go_on() {
    let (fleet, address) = listen().await;
    let (short, long) = (FakeEngine::default(), endless());
    let stays = Agent::dialling(address, "stays", &short);
    fleet.gather(1, SOON).await.unwrap();
    let leaves = Agent::dialling(address, "leaves", &long);
    let (mut spec, mut events) = spec("r1", fleet.gather(2, SOON).await.unwrap());
    spec.options.on_agent_loss = OnAgentLoss::Continue;
    let running = tokio::spawn(run(spec));
    intervals(&mut events, 2).await;
    leaves.shutdown.drain.cancel();
    assert_eq!(leaves.exit().await.unwrap(), AgentExit::Drained);
    let outcome = running.await.unwrap().unwrap();
    assert_eq!(outcome.merged.mismatches, []);
    let produced = short.diary.transactions() + long.diary.transactions();
    assert_eq!(outcome.merged.measured.counts.transactions, produced);
    assert_eq!(outcome.agents[1].left.as_deref(), Some("it was told to leave"));
    assert!(outcome.agents[1].lost.is_none());
    fleet.shutdown().await;
    stays.exit().await.unwrap();
}
