//! The merger seen from outside: what goes in, what comes out.
#![allow(clippy::unwrap_used)]

mod order;
mod outage;
mod sums;
mod timeline;

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{ClientCount, Interval, Phase, Totals};

use super::*;

const A: AgentId = AgentId(0);
const B: AgentId = AgentId(1);
const C: AgentId = AgentId(2);

/// Intervals of a second, one script, closed loop.
fn setup(agents: &[AgentId]) -> Setup {
    Setup {
        agents: agents.to_vec(),
        interval: Duration::from_secs(1),
        scripts: 0,
        rate_limited: false,
    }
}

fn merger(agents: &[AgentId]) -> Merger {
    Merger::new(setup(agents))
}

/// An interval with one transaction for each latency.
fn interval(phase: Phase, index: u32, latencies: &[u64]) -> Interval {
    let mut interval = Interval::new(phase, index, 0, false);
    for &us in latencies {
        interval.response.record(us);
        interval.counts.transactions += 1;
        interval.counts.commits += 1;
    }
    interval.clients = 10;
    interval
}

fn measured(index: u32, latencies: &[u64]) -> Interval {
    interval(Phase::Measure, index, latencies)
}

fn warmup(index: u32) -> Interval {
    interval(Phase::Warmup, index, &[1])
}

/// The totals of an agent that did so many transactions, the last one ending within that interval.
fn totals(transactions: u64, intervals: u32) -> Totals {
    let mut totals = Totals::default();
    totals.measured.transactions = transactions;
    totals.measured.commits = transactions;
    totals.last_end_us = u64::from(intervals) * 1_000_000 - 10;
    totals.clients.push(ClientCount { client: 0, transactions });
    totals
}

/// Everything that is ready: phase, index, transactions, complete.
fn ready(merger: &mut Merger) -> Vec<(Phase, u32, u64, bool)> {
    std::iter::from_fn(|| merger.next_ready())
        .map(|r| (r.interval.phase, r.interval.index, r.interval.counts.transactions, r.complete))
        .collect()
}
