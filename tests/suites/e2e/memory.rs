//! I7: memory does not grow with the length of a run.

use pgsurge_tests::cluster::Cluster;
use pgsurge_tests::fake_server::{Behaviour, FakeServer};
use pgsurge_tests::process::Running;
use pgsurge_tests::turn;

use super::fixture::PATIENCE;

/// Half of what the histograms of the intervals in between would take if they were kept.
const SLACK_KIB: u64 = 1536;

/// Resident memory of a process.
fn resident_kib(process: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn neither_agent_nor_coordinator_grows_from_interval_to_interval() {
    let _turn = turn::take();
    let server = FakeServer::start(Behaviour::default());
    let cluster = Cluster::start(1);
    let arguments = ["-c", "4", "-R", "400", "-T", "24", "-P", "1", "-S", "-n", &server.uri()];
    let run = cluster.run(&arguments).start();
    let memory = |moment: &str| {
        run.process.wait_for_stderr(moment, PATIENCE);
        [resident_kib(cluster.agent(0)), resident_kib(&run.process)]
    };
    let (early, late) = (memory("progress: 8.0 s"), memory("progress: 22.0 s"));
    for (who, early, late) in [("agent", early[0], late[0]), ("coordinator", early[1], late[1])] {
        assert!(late <= early + SLACK_KIB, "{who}: from {early} to {late} KiB in 14 intervals");
    }
    let _ = run.finish(PATIENCE).expect_code(0);
}
