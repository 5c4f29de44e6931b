//! Agents that attach and arm like any other and then do not tell the truth: each is found out by its own fault, and the
//! figures of the honest ones stay what they are.

use pgsurge_common::ids::{AgentId, RunId};
use pgsurge_common::stats::{Interval, Phase, Totals};
use pgsurge_coordinator::fleet::Fleet;
use pgsurge_coordinator::run::{OnAgentLoss, RunEvent};
use pgsurge_proto::message::{Command, Report};
use pgsurge_tests::fake_load::{FakeEngine, Timetable};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::SOON;
use super::frames::Raw;
use super::lease::short_lease;
use super::runs::run;
use super::scene::{Agent, loopback, spec, until};

/// What a liar says once it is armed.
#[derive(Clone, Copy, Debug)]
enum Lie {
    Jumps,
    Repeats,
    Skips,
    Foresees,
    FinishesInTheFuture,
    Garbles,
    SpeaksForAnother,
    HasAnotherRun,
    Boasts,
}

/// Each lie, and what is said of it; who is found out by the sums alone is not lost.
const LIES: [(Lie, Option<&str>); 9] = [
    (Lie::Jumps, Some("report 1002 came too early")),
    (Lie::Repeats, Some("interval 0 of the measured part twice")),
    (Lie::Skips, Some("interval 0 was next")),
    (Lie::Foresees, Some("it reported an interval that ends")),
    (Lie::FinishesInTheFuture, Some("it reported transactions 3600.0 s after the start")),
    (Lie::Garbles, Some("invalid field Histogram.buckets")),
    (Lie::SpeaksForAnother, Some("it reported on part 0, which it has not")),
    (Lie::HasAnotherRun, None),
    (Lie::Boasts, None),
];

fn interval(index: u32) -> Interval {
    let mut interval = Interval::new(Phase::Measure, index, 0, false);
    (0..50).for_each(|n| interval.response.record(1000 + 7 * n));
    interval.counts.transactions = interval.response.len();
    interval
}

async fn delivers(liar: &mut Raw, interval: Interval) {
    liar.says(Report::Interval(Box::new(interval))).await;
}

impl Lie {
    async fn tell(self, liar: &mut Raw) {
        match self {
            Self::Jumps => {
                liar.reports += 999;
                delivers(liar, interval(0)).await;
            }
            Self::Repeats => {
                delivers(liar, interval(0)).await;
                delivers(liar, interval(0)).await;
            }
            Self::Skips => delivers(liar, interval(5)).await,
            Self::Foresees => {
                // A second has fifty of them here.
                for index in 0..3000 {
                    delivers(liar, interval(index)).await;
                }
            }
            Self::FinishesInTheFuture => {
                let totals = Totals { last_end_us: 3_600_000_000, ..Totals::default() };
                liar.says(Report::Finished(Box::new(totals))).await;
            }
            Self::Garbles => {
                let interval = interval(0);
                let buckets = interval.response.encode();
                let mut bytes = liar.report(None, Report::Interval(Box::new(interval)));
                let at = bytes.windows(buckets.len()).position(|window| window == buckets).unwrap();
                bytes[at..at + buckets.len()].fill(0);
                liar.say(&bytes).await;
            }
            Self::SpeaksForAnother => {
                let place = (RunId::new("r1").unwrap(), AgentId(0));
                let bytes = liar.report(Some(place), Report::Interval(Box::new(interval(0))));
                liar.say(&bytes).await;
            }
            Self::HasAnotherRun => {
                let place = (RunId::new("another").unwrap(), AgentId(0));
                let bytes = liar.report(Some(place), Report::Interval(Box::new(interval(0))));
                liar.say(&bytes).await;
                liar.reports -= 1;
                liar.says(Report::Finished(Box::default())).await;
            }
            Self::Boasts => {
                let mut boast = interval(0);
                boast.counts.transactions = 1_000_000;
                delivers(liar, boast).await;
                liar.says(Report::Finished(Box::default())).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_lie_is_found_out_and_honest_figures_stay() {
    let fleet = Fleet::listen(loopback(), short_lease()).await.unwrap();
    let address = fleet.local_addr().unwrap();
    let timetable = Timetable { intervals: 100, ..Timetable::default() };
    let engine = FakeEngine { timetable, ..FakeEngine::default() };
    let honest = [(); 2].map(|()| Agent::dialling(address, "honest", &engine));
    fleet.gather(2, SOON).await.unwrap();
    let mut liars = JoinSet::new();
    let all_armed = CancellationToken::new();
    for (number, (lie, _)) in (1..).zip(LIES) {
        let mut liar = Raw::attach(address, &format!("{lie:?}")).await;
        let all_armed = all_armed.clone();
        liars.spawn(async move {
            assert!(liar.obeys_until(|command| matches!(command, Command::Start { .. })).await);
            // One that is lost before would keep the run from starting.
            all_armed.cancelled().await;
            lie.tell(&mut liar).await;
            liar.obeys_until(|command| *command == Command::Release).await;
        });
        // One after the other, so that their order is known.
        fleet.gather(2 + number, SOON).await.unwrap();
    }
    let (mut spec, mut events) = spec("r1", fleet.gather(2 + LIES.len(), SOON).await.unwrap());
    spec.fleet = short_lease();
    spec.options.on_agent_loss = OnAgentLoss::Continue;
    let listening = tokio::spawn(async move {
        until(&mut events, |event| matches!(event, RunEvent::Starts(_)).then_some(())).await;
        all_armed.cancel();
        while events.recv().await.is_some() {}
    });
    let outcome = run(spec).await.unwrap();

    let counts = |at: usize| outcome.merged.agents[at].counts.transactions;
    assert_eq!(counts(0) + counts(1), engine.diary.transactions());
    assert!(outcome.agents[..2].iter().all(|agent| agent.lost.is_none()));
    for (at, (lie, fault)) in (2..).zip(LIES) {
        let lost = outcome.agents[at].lost.as_ref().map(|lost| lost.reason.as_str());
        match (lost, fault) {
            (Some(reason), Some(fault)) => assert!(reason.contains(fault), "{lie:?}: {reason}"),
            (None, None) => {}
            (lost, _) => panic!("{lie:?}: {lost:?}"),
        }
    }
    let boaster = Some(AgentId(10));
    let mismatches = &outcome.merged.mismatches;
    assert!(mismatches.iter().any(|mismatch| mismatch.agent == boaster), "{mismatches:?}");
    let honest_ids = [Some(AgentId(0)), Some(AgentId(1))];
    assert!(!mismatches.iter().any(|m| honest_ids.contains(&m.agent)), "{mismatches:?}");
    assert_eq!(counts(9), 0, "what belongs to another run is in none");
    fleet.shutdown().await;
    for agent in honest {
        agent.exit().await.unwrap();
    }
    liars.shutdown().await;
    listening.await.unwrap();
}
