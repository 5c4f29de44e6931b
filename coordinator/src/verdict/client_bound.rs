//! `client-bound`: a load host at its limit measures itself.

use super::{AgentEvidence, Evidence, Finding, Severity};

/// A worker this busy has queues of its own: at a utilisation of 0.9 what waits for it waits nine
/// times as long as it is served.
pub const CPU_FRACTION: f64 = 0.90;

/// A worker that was away this long let replies wait that long before it read their time. Timers are
/// a millisecond coarse and schedulers hand out slices of some milliseconds; this is beyond both.
pub const LOOP_LAG_US: u64 = 50_000;

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.agents.iter().flat_map(|agent| [busy(agent), late(agent)]).flatten().collect()
}

fn busy(agent: &AgentEvidence) -> Option<Finding> {
    let seen = agent.cpu_fraction;
    (seen > CPU_FRACTION).then(|| {
        let message = format!(
            "the busiest worker of agent {} used {:.0} % of its core, more than {:.0} %; use more \
             workers (-j) or more agents",
            agent.name,
            100.0 * seen,
            100.0 * CPU_FRACTION
        );
        finding(agent, (seen, CPU_FRACTION), message)
    })
}

fn late(agent: &AgentEvidence) -> Option<Finding> {
    (agent.loop_lag_us > LOOP_LAG_US).then(|| {
        let (seen, accepted) = (agent.loop_lag_us as f64 / 1000.0, LOOP_LAG_US as f64 / 1000.0);
        let message = format!(
            "a worker of agent {} was held up for {seen:.1} ms, more than {accepted:.0} ms; the \
             host is overcommitted, its latencies hold that time",
            agent.name
        );
        finding(agent, (seen, accepted), message)
    })
}

fn finding(agent: &AgentEvidence, (value, threshold): (f64, f64), message: String) -> Finding {
    Finding {
        code: "client-bound",
        severity: Severity::Warning,
        agent: Some(agent.name.clone()),
        value,
        threshold,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::{Evidence, check};

    #[test]
    fn a_worker_above_ninety_percent_or_held_up_for_fifty_milliseconds_is_found() {
        let cases =
            [(0.90, 50_000, 0), (0.901, 50_000, 1), (0.90, 50_001, 1), (0.99, 2_000_000, 2)];
        for (cpu, lag, found) in cases {
            let mut evidence = Evidence::sound();
            evidence.agents[0].cpu_fraction = cpu;
            evidence.agents[0].loop_lag_us = lag;
            assert_eq!(check(&evidence).len(), found, "{cpu} {lag}");
        }
    }
}
