//! `log-incomplete`: the log of transactions is not what the figures are about. They are counted apart and stand.

use super::{AgentEvidence, Evidence, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    evidence.agents.iter().flat_map(of_agent).collect()
}

fn of_agent(agent: &AgentEvidence) -> impl Iterator<Item = Finding> {
    let name = &agent.name;
    let finding = |value: u64, message: String| Finding {
        code: "log-incomplete",
        severity: Severity::Warning,
        agent: Some(name.clone()),
        value: value as f64,
        threshold: 0.0,
        message,
    };
    let lost = agent.lost_log_lines;
    let lost = (lost > 0)
        .then(|| finding(lost, format!("agent {name} could not write {lost} lines of its log")));
    let missing = agent.logs_missing.as_ref().map(|problem| {
        finding(0, format!("the log of agent {name} was not collected completely: {problem}"))
    });
    lost.into_iter().chain(missing)
}

#[cfg(test)]
mod tests {
    use super::{Evidence, check};

    #[test]
    fn lines_that_are_lost_and_logs_that_did_not_arrive_are_found() {
        let mut evidence = Evidence::sound();
        assert_eq!(check(&evidence), []);
        evidence.agents[0].lost_log_lines = 3;
        evidence.agents[0].logs_missing = Some("it was lost".into());
        let messages: Vec<String> = check(&evidence).into_iter().map(|f| f.message).collect();
        let expected = [
            "agent one could not write 3 lines of its log",
            "the log of agent one was not collected completely: it was lost",
        ];
        assert_eq!(messages, expected);
    }
}
