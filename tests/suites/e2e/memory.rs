//! I7: memory does not grow with the length of a run.

use pgsurge_tests::cluster::Cluster;
use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::process::Running;
use pgsurge_tests::{turn, usage};

use super::fixture::PATIENCE;

/// When memory is looked at; between two looks lie four intervals.
const LOOKS: [&str; 5] = [
    "progress: 7.0 s",
    "progress: 11.0 s",
    "progress: 15.0 s",
    "progress: 19.0 s",
    "progress: 23.0 s",
];

/// Half of what four intervals would take if their histograms (190 kB each) were kept.
const KEPT_KIB: i64 = 380;

/// Resident memory of a process.
fn resident_kib(process: &Running) -> i64 {
    let kib = usage::resident_kib(process.pid()).expect("the process is at work");
    i64::try_from(kib).unwrap()
}

/// What is kept for each interval shows between any two looks. Memory that is touched once, such as the
/// page of a histogram that the first slow transaction of a busy machine falls into, shows between two
/// of them only; so the least growth of all is what counts.
fn least_growth_kib(looks: &[i64]) -> i64 {
    looks.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap()
}

#[test]
fn neither_agent_nor_coordinator_grows_from_interval_to_interval() {
    let _turn = turn::take();
    let server = FakeServer::start(Behaviour::default());
    let cluster = Cluster::start(1);
    let arguments = ["-c", "4", "-R", "400", "-T", "25", "-P", "1", "-S", "-n", &server.uri()];
    let run = cluster.run(&arguments).start();
    let (mut agent, mut coordinator) = (Vec::new(), Vec::new());
    for moment in LOOKS {
        run.process.wait_for_stderr(moment, PATIENCE);
        agent.push(resident_kib(cluster.agent(0)));
        coordinator.push(resident_kib(&run.process));
    }
    for (who, looks) in [("agent", &agent), ("coordinator", &coordinator)] {
        let growth = least_growth_kib(looks);
        assert!(
            growth < KEPT_KIB,
            "{who}: grows by {growth} KiB and more in four intervals: {looks:?} KiB"
        );
    }
    let _ = run.finish(PATIENCE).expect_code(0);
}
