//! What a board says of made-up intervals.

use std::sync::Arc;
use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_common::plan::{End, Plan};
use pgsurge_common::stats::{Interval, Phase, Vitals};
use serde_json::Value;

use super::board::Board;
use super::figures::Figures;
use crate::merge::{ClusterInterval, PartInterval};
use crate::report::fixture;

fn plan() -> Arc<Plan> {
    let mut plan = fixture::plan();
    plan.load.end = End::Duration(Duration::from_secs(10));
    Arc::new(plan)
}

fn board() -> Arc<Board> {
    let board = Board::new(2);
    board.planned(&plan(), 1.0, &["one".to_owned(), "two".to_owned()]);
    board.starts();
    board
}

/// Both agents did this many transactions.
fn second(index: u32, each: u64, cpu_fraction: f64) -> ClusterInterval {
    let mut interval = Interval::new(Phase::Measure, index, 0, false);
    interval.counts.transactions = 2 * each;
    interval.response = fixture::latencies(2 * each);
    interval.clients = 2;
    interval.errors.add("40001", 1);
    let part = |part: u32| {
        let mut of = Interval::new(Phase::Measure, index, 0, false);
        of.counts.transactions = each;
        of.vitals = Vitals { cpu_fraction, loop_lag_us: 1000, rss_bytes: 1 << 20 };
        PartInterval {
            part: AgentId(part),
            counts: of.counts,
            response_us: Some([1, 2, 3]),
            clients: 1,
            vitals: of.vitals,
        }
    };
    let mut ready = fixture::ready(interval, 2);
    ready.parts = vec![part(0), part(1)];
    ready
}

fn heard(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn who_comes_late_gets_everything_and_then_what_is_new() {
    let board = board();
    board.interval(&second(0, 100, 0.5));
    let (whole, mut news) = board.follow();
    let whole = heard(&whole);
    assert_eq!(whole["stage"], "measuring");
    assert_eq!(whole["run"]["transactions"], 200);
    assert_eq!(whole["charts"][0]["id"], "throughput");
    assert_eq!(whole["charts"][0]["chart"]["data"][0]["y"], serde_json::json!([200.0]));

    board.interval(&second(1, 50, 0.5));
    let next = heard(&news.try_recv().expect("there is news"));
    assert_eq!(next["run"]["transactions"], 300);
    assert_eq!(next["run"]["tps"], 150.0);
    assert_eq!(next.get("charts"), None);
    assert_eq!(
        next["next"][0],
        serde_json::json!({"id": "throughput", "t": 1.0, "y": [100.0, 0.0]})
    );
}

#[test]
fn each_chart_grows_by_one_point_a_line() {
    let board = board();
    board.interval(&second(0, 100, 0.5));
    let (whole, mut news) = board.follow();
    board.interval(&second(1, 100, 0.5));
    let (whole, next) = (heard(&whole), heard(&news.try_recv().expect("there is news")));
    let charts = whole["charts"].as_array().expect("a list");
    let grown = next["next"].as_array().expect("a list");
    assert_eq!(charts.len(), grown.len());
    for (chart, grown) in charts.iter().zip(grown) {
        assert_eq!(chart["id"], grown["id"]);
        let lines = chart["chart"]["data"].as_array().expect("a list").len();
        assert_eq!(grown["y"].as_array().expect("a list").len(), lines, "{}", chart["id"]);
    }
}

#[test]
fn a_finding_shows_as_soon_as_it_is_one() {
    let board = board();
    board.interval(&second(0, 100, 0.5));
    assert!(board.read(|state| state.run.as_ref().expect("planned").findings.is_empty()));
    board.interval(&second(1, 100, 1.6));
    let codes = board.read(|state| {
        let findings = &state.run.as_ref().expect("planned").findings;
        findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
    });
    assert_eq!(codes, ["client-bound", "client-bound"], "the mean is above the threshold now");
    board.lost("two", "it was not heard from");
    board.interval(&second(2, 100, 0.1));
    let text = Figures::of(&board).text();
    assert!(text.contains("pgsurge_finding{code=\"agent-lost\",severity=\"invalid\"} 1"), "{text}");
    assert!(text.contains("_agent_lost{agent=\"two\"} 1"), "{text}");
}

#[test]
fn the_drain_belongs_to_the_end_of_the_measured_part() {
    let board = board();
    for index in 0..10 {
        board.interval(&second(index, 50, 0.1));
    }
    board.interval(&second(10, 5, 0.1));
    let (whole, _) = board.follow();
    assert_eq!(heard(&whole)["run"]["tps"], 101.0);
    board.done(Duration::from_millis(10_100), &[]);
    let (whole, _) = board.follow();
    let whole = heard(&whole);
    assert_eq!(whole["stage"], "done");
    assert_eq!(whole["run"]["tps"], 1010.0 / 10.1);
    let drawn = &whole["charts"][0]["chart"]["data"][0]["y"];
    assert_eq!(drawn.as_array().expect("a list").len(), 10, "the rest is no fall in throughput");
}

#[test]
fn prometheus_reads_what_the_board_holds() {
    let board = board();
    board.interval(&second(0, 100, 0.5));
    let text = Figures::of(&board).text();
    for line in [
        "stage{stage=\"measuring\"} 1.0",
        "transactions_total 200",
        "errors_total{code=\"40001\"} 1",
        "response_seconds_count 200",
        "response_seconds_bucket{le=\"+Inf\"} 200",
        "agent_cpu_fraction{agent=\"one\"} 0.5",
        "clients 2.0",
    ] {
        let mut lines = text.lines().filter_map(|there| there.strip_prefix("pgsurge_"));
        assert!(lines.any(|there| there == line), "{line} is not in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn before_there_is_a_plan_the_stage_is_known() {
    let board = Board::new(3);
    board.said("waiting for 3 agents");
    let (whole, _) = board.follow();
    let whole = heard(&whole);
    assert_eq!(whole["stage"], "gathering");
    assert_eq!(whole["notices"], serde_json::json!(["waiting for 3 agents"]));
    assert_eq!(whole["run"], Value::Null);
    let text = Figures::of(&board).text();
    assert!(text.contains("_agents_wanted 3"), "{text}");
}
