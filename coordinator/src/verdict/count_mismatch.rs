//! `count-mismatch`: counts that were kept apart disagree, so at least one of them is wrong (I1).
//!
//! The agents' counts are compared where they are merged; here the server's are added. Silent where the
//! server's count cannot be predicted; the report says there why.

use super::{Comparison, Disagreement, Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let server = [
        ("commits", &evidence.server_commits),
        ("rows added to pgbench_history", &evidence.history_rows),
    ];
    let server = server.into_iter().filter_map(|(what, count)| contradicted(what, count));
    evidence.disagreements.iter().map(disagreement).chain(server).collect()
}

fn disagreement(found: &Disagreement) -> Finding {
    let whose = found.agent.as_ref().map_or("the cluster".into(), |name| format!("agent {name}"));
    finding(
        found.agent.clone(),
        (found.first, found.second),
        format!("{whose}, {}", found.statement),
    )
}

fn contradicted(what: &str, count: &Comparison) -> Option<Finding> {
    if !count.is_contradicted() {
        return None;
    }
    let (server, fleet, must_be) = match *count {
        Comparison::NotCheckable(_) => return None,
        Comparison::Exactly { server, fleet } => (server, fleet, fleet.to_string()),
        Comparison::AtLeast { server, fleet } => (server, fleet, format!("{fleet} or more")),
        Comparison::Between { server, fleet, most } => {
            (server, fleet, format!("{fleet} to {most}"))
        }
    };
    let message = format!("the server counts {server} {what}, by the agents it must be {must_be}");
    Some(finding(None, (server, fleet), message))
}

fn finding(agent: Option<String>, (value, threshold): (u64, u64), message: String) -> Finding {
    Finding {
        code: "count-mismatch",
        severity: Severity::Invalid,
        agent,
        value: value as f64,
        threshold: threshold as f64,
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Disagreement, Evidence, Severity, check};

    #[test]
    fn counts_of_the_agents_that_differ_are_found() {
        let mut evidence = Evidence::sound();
        let disagreement = |agent: Option<&str>| Disagreement {
            agent: agent.map(str::to_owned),
            first: 10,
            second: 9,
            statement: "retries: 10 by its own totals, 9 by its intervals".into(),
        };
        evidence.disagreements = vec![disagreement(Some("one")), disagreement(None)];
        let findings = check(&evidence);
        assert!(findings.iter().all(|finding| finding.severity == Severity::Invalid));
        assert!(findings[0].message.starts_with("agent one, retries: 10 by"));
        assert!(findings[1].message.starts_with("the cluster, retries: 10 by"));
    }

    #[test]
    fn the_server_must_agree_where_it_can_be_asked() {
        let exactly = |server| Comparison::Exactly { server, fleet: 10 };
        let at_least = |server| Comparison::AtLeast { server, fleet: 10 };
        let between = |server| Comparison::Between { server, fleet: 10, most: 12 };
        let cases = [
            (exactly(10), 0),
            (exactly(9), 1),
            (exactly(11), 1),
            (at_least(10), 0),
            (at_least(11), 0),
            (at_least(9), 1),
            (between(9), 1),
            (between(10), 0),
            (between(12), 0),
            (between(13), 1),
            (Comparison::NotCheckable("a pooler is in between".into()), 0),
        ];
        for (count, found) in cases {
            let sound = Evidence::sound();
            let commits = Evidence { server_commits: count.clone(), ..sound.clone() };
            assert_eq!(check(&commits).len(), found, "{count:?}");
            let rows = Evidence { history_rows: count.clone(), ..sound };
            assert_eq!(check(&rows).len(), found, "{count:?}");
        }
    }
}
