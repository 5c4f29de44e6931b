//! `count-mismatch`: counts that were kept apart disagree, so at least one of them is wrong (I1).
//!
//! Silent where the server's count cannot be predicted; the report says there why.

use pgsurge_common::stats::Counts;

use super::{AgentEvidence, Comparison, Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let agents = evidence.agents.iter().flat_map(agent);
    let server = [
        ("commits", &evidence.server_commits),
        ("rows added to pgbench_history", &evidence.history_rows),
    ];
    let server = server.into_iter().filter_map(|(what, count)| contradicted(what, count));
    agents.chain(cluster(evidence)).chain(server).collect()
}

/// An agent against itself: its intervals against its own counters, and those against its clients'.
fn agent(agent: &AgentEvidence) -> Vec<Finding> {
    let Some(totals) = &agent.totals else { return Vec::new() };
    let mut findings = Vec::new();
    if let Some((what, intervals, total)) = difference(&agent.intervals, totals) {
        let message = format!(
            "the intervals of agent {} hold {intervals} {what}, its own count is {total}",
            agent.name
        );
        findings.push(finding(Some(&agent.name), (intervals, total), message));
    }
    if let Some(clients) = agent.by_client
        && clients != totals.transactions
    {
        let total = totals.transactions;
        let message = format!(
            "the clients of agent {} count {clients} transactions, its own count is {total}",
            agent.name
        );
        findings.push(finding(Some(&agent.name), (clients, total), message));
    }
    findings
}

/// The merged figures against what they were merged from.
fn cluster(evidence: &Evidence) -> Vec<Finding> {
    let merged = &evidence.merged;
    let mut findings = Vec::new();
    let mut sum = Counts::default();
    evidence.agents.iter().for_each(|agent| sum.merge(&agent.intervals));
    if let Some((what, agents, cluster)) = difference(&sum, merged) {
        let message = format!("the agents add up to {agents} {what}, the cluster has {cluster}");
        findings.push(finding(None, (agents, cluster), message));
    }
    let scripts: u64 = evidence.scripts.iter().map(Counts::all).sum();
    if !evidence.scripts.is_empty() && scripts != merged.all() {
        let all = merged.all();
        let message = format!("the scripts add up to {scripts} transactions, all are {all}");
        findings.push(finding(None, (scripts, all), message));
    }
    if evidence.samples != merged.transactions {
        let (samples, all) = (evidence.samples, merged.transactions);
        let message = format!("{samples} response times were recorded for {all} transactions");
        findings.push(finding(None, (samples, all), message));
    }
    findings
}

fn contradicted(what: &str, count: &Comparison) -> Option<Finding> {
    let (server, fleet, bound) = match *count {
        Comparison::Exactly { server, fleet } if server != fleet => (server, fleet, ""),
        Comparison::AtLeast { server, fleet } if server < fleet => (server, fleet, " or more"),
        _ => return None,
    };
    let message =
        format!("the server counts {server} {what}, by the agents it must be {fleet}{bound}");
    Some(finding(None, (server, fleet), message))
}

/// The first counter in which two differ, with both values.
fn difference(a: &Counts, b: &Counts) -> Option<(&'static str, u64, u64)> {
    let pairs = [
        ("transactions", a.transactions, b.transactions),
        ("serialization failures", a.serialization_failures, b.serialization_failures),
        ("deadlock failures", a.deadlock_failures, b.deadlock_failures),
        ("other failures", a.other_failures, b.other_failures),
        ("skipped transactions", a.skipped, b.skipped),
        ("retried transactions", a.retried, b.retried),
        ("retries", a.retries, b.retries),
        ("late transactions", a.late, b.late),
        ("commits", a.commits, b.commits),
        ("connections", a.connects, b.connects),
        ("microseconds of connecting", a.connect_us, b.connect_us),
    ];
    pairs.into_iter().find(|&(_, a, b)| a != b)
}

fn finding(agent: Option<&str>, (value, threshold): (u64, u64), message: String) -> Finding {
    Finding {
        code: "count-mismatch",
        severity: Severity::Invalid,
        agent: agent.map(str::to_owned),
        value: value as f64,
        threshold: threshold as f64,
        message,
    }
}

#[cfg(test)]
mod tests {
    use pgsurge_common::stats::Counts;

    use super::{Comparison, Evidence, Severity, check};

    /// What one spoiled count leads to: the number of findings and the first one's message.
    fn spoiled(spoil: impl FnOnce(&mut Evidence)) -> (usize, String) {
        let mut evidence = Evidence::sound();
        spoil(&mut evidence);
        let findings = check(&evidence);
        assert!(findings.iter().all(|f| f.severity == Severity::Invalid));
        let first = findings.first().map(|f| f.message.clone()).unwrap_or_default();
        (findings.len(), first)
    }

    #[test]
    fn an_agent_whose_intervals_miss_one_retry_is_found() {
        let totals = Counts { retries: 1, ..Evidence::sound().merged };
        let (n, message) = spoiled(|e| e.agents[0].totals = Some(totals));
        assert_eq!(n, 1);
        assert!(message.contains("hold 0 retries, its own count is 1"), "{message}");
    }

    #[test]
    fn clients_that_count_otherwise_than_their_agent_are_found() {
        let (n, message) = spoiled(|e| e.agents[0].by_client = Some(99_999));
        assert_eq!(n, 1);
        assert!(message.contains("count 99999 transactions"), "{message}");
    }

    #[test]
    fn a_lost_agent_has_no_totals_to_compare() {
        let (n, _) = spoiled(|e| {
            e.agents[0].totals = None;
            e.agents[0].by_client = None;
        });
        assert_eq!(n, 0);
    }

    #[test]
    fn a_cluster_that_is_not_the_sum_of_its_agents_is_found() {
        let (n, message) = spoiled(|e| e.merged.other_failures += 1);
        assert_eq!(n, 1);
        assert!(message.contains("add up to 0 other failures, the cluster has 1"), "{message}");
    }

    #[test]
    fn scripts_and_samples_must_add_up_too() {
        let part = Counts { transactions: 50_000, ..Counts::default() };
        assert_eq!(spoiled(|e| e.scripts = vec![part, part]).0, 0);
        assert_eq!(spoiled(|e| e.scripts = vec![part, Counts::default()]).0, 1);
        assert_eq!(spoiled(|e| e.samples = 99_999).0, 1);
    }

    #[test]
    fn the_server_must_agree_where_it_can_be_asked() {
        let exactly = |server| Comparison::Exactly { server, fleet: 10 };
        let at_least = |server| Comparison::AtLeast { server, fleet: 10 };
        let cases = [
            (exactly(10), 0),
            (exactly(9), 1),
            (exactly(11), 1),
            (at_least(10), 0),
            (at_least(11), 0),
            (at_least(9), 1),
            (Comparison::NotCheckable("a pooler is in between".into()), 0),
        ];
        for (count, found) in cases {
            assert_eq!(spoiled(|e| e.server_commits = count.clone()).0, found, "{count:?}");
            assert_eq!(spoiled(|e| e.history_rows = count.clone()).0, found, "{count:?}");
        }
    }
}
