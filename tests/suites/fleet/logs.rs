//! Logs on their way from agents to the results: what is taken, what is not, and who keeps what then.

use std::sync::Arc;

use pgsurge_common::ids::RunId;
use pgsurge_common::plan::{Log, LogKind};
use pgsurge_coordinator::logs::Collected;
use pgsurge_proto::client::{AttachError, deliver};
use pgsurge_proto::message::{LogPart, LogReceipt, LogSender, Token};
use tokio::sync::mpsc;
use tonic::transport::Endpoint;

use super::SOON;
use super::runs::run;
use super::scene::{Agent, listen, spec};
use pgsurge_tests::fake_load::{FakeEngine, FakeLog, Timetable};

/// More than a connection takes at a time.
const BYTES: u64 = 3_000_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_complete_only_if_it_is_what_the_agent_counted_and_else_stays_on_its_host() {
    let folder = tempfile::tempdir().unwrap();
    let (fleet, address) = listen().await;
    let cases = [
        ("whole", BYTES, false, true, None),
        ("short", BYTES + 1, false, true, Some("it had counted 3000001 bytes in 1 files")),
        ("strange", BYTES, true, true, Some("a file of worker 99, which is not to come from it")),
        ("absent", BYTES, false, false, Some("cannot read")),
    ];
    let mut agents = Vec::new();
    for (name, counted, of_stranger, is_there, _) in cases {
        let path = folder.path().join(name);
        if is_there {
            std::fs::write(&path, vec![b'x'; usize::try_from(BYTES).unwrap()]).unwrap();
        }
        let log = Some(FakeLog { path, counted, of_stranger });
        let timetable = Timetable { log, ..Timetable::default() };
        let engine = FakeEngine { timetable, ..FakeEngine::default() };
        agents.push(Agent::dialling(address, name, &engine));
    }
    let (mut spec, _events) = spec("r1", fleet.gather(cases.len(), SOON).await.unwrap());
    let mut plan = (*spec.plan).clone();
    let kind = LogKind::Transactions { sampling_rate: None };
    plan.log = Some(Log { prefix: "log".into(), kind, failures_detailed: false, collect: true });
    spec.plan = Arc::new(plan);
    let place = folder.path().join("logs");
    spec.options.logs = Some(place.clone());
    let outcome = run(spec).await.unwrap();
    fleet.shutdown().await;
    for agent in agents {
        agent.exit().await.unwrap();
    }
    for (name, _, _, is_there, expected) in cases {
        let agent = outcome.agents.iter().find(|agent| agent.facts.name == name).unwrap();
        let Collected { problem, kept, .. } = agent.logs.clone().unwrap();
        match (expected, &problem) {
            (None, None) => assert_eq!(kept, LogReceipt { files: 1, bytes: BYTES }),
            (Some(part), Some(problem)) => assert!(problem.contains(part), "{name}: {problem}"),
            _ => panic!("{name}: {problem:?}"),
        }
        assert_eq!(place.join(name).is_dir(), expected.is_none(), "{name}");
        assert_eq!(place.join(format!("{name}.partial")).is_dir(), expected.is_some(), "{name}");
        let stays = is_there && expected.is_some();
        assert_eq!(folder.path().join(name).exists(), stays, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_that_nobody_asked_for_are_refused() {
    let (fleet, address) = listen().await;
    let agent = Agent::dialling(address, "honest", &FakeEngine::default());
    let _agents = fleet.gather(1, SOON).await.unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let channel = endpoint.connect().await.unwrap();
    let sender = LogSender { token: Token(vec![7; 16]), run: RunId::new("r1").unwrap() };
    let (outgoing, parts) = mpsc::channel(1);
    outgoing.send(LogPart::End(LogReceipt::default())).await.unwrap();
    match deliver(channel, sender, parts).await {
        Err(AttachError::RefusedForGood(why)) => assert_eq!(why, "nobody asked for these logs"),
        other => panic!("{other:?}"),
    }
    agent.shutdown.abort.cancel();
    agent.exit().await.unwrap();
    drop(fleet);
}
