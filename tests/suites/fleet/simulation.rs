//! The path of `tests/fleet` with a small fleet: nothing is missing and everything is in order. What it costs is
//! for people to look at.

use pgsurge_tests::simulated_fleet::{Size, observe};

#[test]
fn every_interval_of_a_fleet_of_forty_is_there_whole_and_in_order() {
    let size = Size { agents: 40, clients: 2, transactions: 20, seconds: 3 };
    let observed = observe(size);
    let report = &observed.report;
    assert_eq!(report.measured("t_s"), ["0.0", "1.0", "2.0"], "{}", report.finished);
    assert_eq!(report.measured("agents"), ["40"; 3]);
    assert_eq!(report.measured("complete"), ["true"; 3]);
    assert_eq!(report.sum_measured("transactions"), observed.diary.transactions());
    assert!(observed.diary.transactions() > 0);
    let agents = report.summary()["agents"].as_array().map(Vec::len);
    assert_eq!(agents, Some(40), "{}", report.finished);
}
