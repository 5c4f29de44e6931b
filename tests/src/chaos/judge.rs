//! What must be true however a run was disturbed. Pure: what was seen in, what is wrong out.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;

use super::schedule::Policy;

/// What is known once a run is over.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Observed {
    /// The coordinator was killed, so it could say nothing.
    pub killed: bool,
    /// The exit code of the coordinator; none if a signal ended it.
    pub exit: Option<i32>,
    /// The results are there under their own name.
    pub whole: bool,
    /// The results are there under the name of partial ones.
    pub partial: bool,
    /// What they say, where they are whole.
    pub seen: Option<Seen>,
    /// Committed transactions by client.
    pub committed: BTreeMap<u32, u64>,
    /// `--on-agent-loss`.
    pub policy: Policy,
    /// Nothing happened while the run was going on.
    pub undisturbed: bool,
}

/// What a summary says, as far as it is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// `status` is `complete`.
    pub complete: bool,
    /// `exit_code`.
    pub exit: i32,
    /// `verdict.valid`.
    pub valid: bool,
    /// Codes of the verdict's findings.
    pub findings: Vec<String>,
    /// Successful transactions of the measured part.
    pub transactions: u64,
    /// Those of the warm-up.
    pub warmup: u64,
    /// Transactions of which nobody knows whether they were committed, and clients that ended in the midst of one.
    pub unknown: u64,
    /// A warm-up was asked for; what was lost in it is not in the summary.
    pub warmed_up: bool,
    /// One entry a part of the run.
    pub parts: Vec<Part>,
}

/// An agent, or what one took over from another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The agent's name.
    pub name: String,
    /// Its clients.
    pub clients: Range<u32>,
    /// Its successful transactions of the measured part.
    pub transactions: u64,
    /// It was lost or left.
    pub lost: bool,
    /// It has clients of another one.
    pub took_over: bool,
}

impl Seen {
    /// From `summary.json` and `plan.json`.
    ///
    /// # Panics
    /// If a key that others rely on is missing.
    #[must_use]
    pub fn of(summary: &Value, plan: &Value) -> Self {
        let number = |pointer: &str| {
            summary.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}"))
        };
        let findings = summary["verdict"]["findings"].as_array().expect("a list");
        let agents = summary["agents"].as_array().expect("a list");
        let shares = plan["shares"].as_array().expect("a list");
        Self {
            complete: summary["status"] == "complete",
            exit: i32::try_from(number("/exit_code")).expect("a code"),
            valid: summary["verdict"]["valid"] == true,
            findings: findings.iter().map(|f| f["code"].as_str().expect("text").into()).collect(),
            transactions: number("/totals/transactions"),
            warmup: number("/totals/warmup_transactions"),
            unknown: number("/totals/connection_failures") + number("/totals/aborted_clients"),
            warmed_up: summary["config"]["warmup_s"].as_f64().expect("a number") > 0.0,
            parts: agents.iter().zip(shares).map(|(agent, share)| part(agent, share)).collect(),
        }
    }
}

fn part(agent: &Value, share: &Value) -> Part {
    let workers = share["workers"].as_array().expect("a list");
    let number = |value: &Value| u32::try_from(value.as_u64().expect("a number")).expect("small");
    let first = workers.iter().map(|worker| number(&worker["first_client"])).min().unwrap_or(0);
    let clients: u32 = workers.iter().map(|worker| number(&worker["clients"])).sum();
    Part {
        name: agent["name"].as_str().expect("text").to_owned(),
        clients: first..first + clients,
        transactions: agent["transactions"].as_u64().expect("a number"),
        lost: agent["lost"] == true,
        took_over: !agent["took_over_from"].is_null(),
    }
}

/// What is wrong; nothing, if all is well.
#[must_use]
pub fn judge(observed: &Observed) -> Vec<String> {
    let mut wrong = Vec::new();
    if observed.killed {
        // I5: what a killed coordinator leaves does not look like a result.
        check(&mut wrong, !observed.whole, "a killed coordinator left whole results");
        return wrong;
    }
    let Some(seen) = &observed.seen.as_ref().filter(|_| observed.whole) else {
        let there = observed.partial;
        wrong.push(format!("no whole results (partial ones: {there}), exit {:?}", observed.exit));
        return wrong;
    };
    check(&mut wrong, !observed.partial, "partial results beside the whole ones");
    codes(&mut wrong, observed, seen);
    counts(&mut wrong, observed, seen);
    for code in ["count-mismatch", "intervals-missing"] {
        // Nobody lied, so nothing may be missing from those that live.
        let named = seen.findings.iter().any(|finding| finding == code);
        check(&mut wrong, !named, &format!("{code}, though all agents are honest"));
    }
    wrong
}

fn check(wrong: &mut Vec<String>, holds: bool, otherwise: &str) {
    if !holds {
        wrong.push(otherwise.to_owned());
    }
}

/// The exit code says what the verdict does, and no disturbed run passes for a good one.
fn codes(wrong: &mut Vec<String>, observed: &Observed, seen: &Seen) {
    let exit = observed.exit;
    check(wrong, exit == Some(seen.exit), &format!("exit {exit:?}, by the summary {}", seen.exit));
    let known = matches!(seen.exit, 0 | 2 | 3 | 130);
    check(wrong, known, &format!("exit {} after the start", seen.exit));
    check(wrong, seen.valid || matches!(seen.exit, 2 | 3 | 130), "invalid, and exit 0");
    check(wrong, seen.complete || seen.exit != 0, "partial, and exit 0");
    let lost = seen.parts.iter().any(|part| part.lost);
    check(wrong, !lost || !seen.valid, "an agent was lost, and the verdict is valid");
    let ended = !lost || observed.policy != Policy::Fail || !seen.complete;
    check(wrong, ended, "an agent was lost under fail, and the run is complete");
    let well = seen.valid && seen.complete && seen.exit == 0;
    check(wrong, !observed.undisturbed || well, "nothing happened, and the run is not well");
}

/// I1: nothing is reported that was not committed, and all that survivors did is.
fn counts(wrong: &mut Vec<String>, observed: &Observed, seen: &Seen) {
    let committed: u64 = observed.committed.values().sum();
    let reported = seen.transactions + seen.warmup;
    if reported > committed {
        wrong.push(format!("{reported} reported, {committed} committed"));
    }
    let parts: u64 = seen.parts.iter().map(|part| part.transactions).sum();
    if parts != seen.transactions {
        wrong.push(format!("agents add up to {parts}, the cluster has {}", seen.transactions));
    }
    let lost = seen.parts.iter().any(|part| part.lost);
    if !lost && !seen.warmed_up && committed > reported + seen.unknown {
        let unknown = seen.unknown;
        wrong.push(format!("{committed} committed, {reported} reported and {unknown} unknown"));
    }
    if seen.unknown == 0 && !seen.warmed_up {
        let has_heir = |part: &Part| {
            let of = |heir: &Part| {
                heir.clients.start < part.clients.end && part.clients.start < heir.clients.end
            };
            seen.parts.iter().any(|heir| heir.took_over && of(heir))
        };
        for part in
            seen.parts.iter().filter(|part| !part.lost && !part.took_over && !has_heir(part))
        {
            let of = observed.committed.range(part.clients.clone());
            let rows: u64 = of.map(|(_, rows)| rows).sum();
            if rows != part.transactions {
                let (name, done) = (&part.name, part.transactions);
                wrong.push(format!("{name} survived with {done}, its clients committed {rows}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, clients: Range<u32>, transactions: u64) -> Part {
        Part { name: name.into(), clients, transactions, ..Part::default() }
    }

    /// Two agents with two clients each, nothing wrong.
    fn sound() -> Observed {
        let seen = Seen {
            complete: true,
            valid: true,
            transactions: 100,
            parts: vec![part("a0", 0..2, 60), part("a1", 2..4, 40)],
            ..Seen::default()
        };
        Observed {
            killed: false,
            exit: Some(0),
            whole: true,
            partial: false,
            seen: Some(seen),
            committed: BTreeMap::from([(0, 30), (1, 30), (2, 20), (3, 20)]),
            policy: Policy::Continue,
            undisturbed: true,
        }
    }

    /// What is wrong if this is spoilt.
    fn spoilt(spoil: impl FnOnce(&mut Observed, &mut Seen)) -> String {
        let mut observed = sound();
        let mut seen = observed.seen.take().expect("there is one");
        spoil(&mut observed, &mut seen);
        observed.seen = Some(seen);
        judge(&observed).join("; ")
    }

    #[test]
    fn a_sound_run_passes() {
        assert_eq!(judge(&sound()), [""; 0]);
        assert_eq!(spoilt(|observed, _| observed.undisturbed = false), "");
    }

    #[test]
    fn each_lie_is_found() {
        type Spoil = fn(&mut Observed, &mut Seen);
        let cases: [(Spoil, &str); 14] = [
            (|o, _| o.committed = BTreeMap::from([(0, 30)]), "100 reported, 30 committed"),
            (|o, _| _ = o.committed.insert(3, 21), "a1 survived with 40"),
            (|o, _| _ = o.committed.insert(9, 1), "101 committed, 100 reported and 0 unknown"),
            (|_, s| s.transactions = 99, "agents add up to 100, the cluster has 99"),
            (|_, s| s.exit = 3, "exit Some(0), by the summary 3"),
            (|_, s| s.valid = false, "invalid, and exit 0"),
            (|_, s| s.complete = false, "partial, and exit 0"),
            (|_, s| s.parts[1].lost = true, "an agent was lost, and the verdict is valid"),
            (|o, s| (o.exit, s.exit) = (Some(1), 1), "exit 1 after the start"),
            (|_, s| s.findings = vec!["count-mismatch".into()], "count-mismatch, though"),
            (|_, s| s.findings = vec!["intervals-missing".into()], "intervals-missing, though"),
            (|o, _| o.partial = true, "partial results beside the whole ones"),
            (|o, _| o.whole = false, "no whole results"),
            (|o, s| (o.exit, s.exit) = (Some(2), 2), "nothing happened, and the run is not well"),
        ];
        for (spoil, expected) in cases {
            let wrong = spoilt(spoil);
            assert!(wrong.contains(expected), "{expected}: {wrong}");
        }
    }

    #[test]
    fn a_lost_agent_may_have_done_more_than_is_reported_and_survivors_may_not() {
        let lost = |observed: &mut Observed, seen: &mut Seen| {
            observed.undisturbed = false;
            (observed.exit, seen.exit, seen.valid) = (Some(3), 3, false);
            seen.parts[1].lost = true;
            observed.committed.insert(3, 25);
        };
        assert_eq!(spoilt(lost), "");
        let more = |observed: &mut Observed, seen: &mut Seen| {
            lost(observed, seen);
            observed.committed.insert(1, 31);
        };
        assert_eq!(spoilt(more), "a0 survived with 60, its clients committed 61");
        let fails = |observed: &mut Observed, seen: &mut Seen| {
            lost(observed, seen);
            observed.policy = Policy::Fail;
        };
        assert_eq!(spoilt(fails), "an agent was lost under fail, and the run is complete");
    }

    #[test]
    fn a_killed_coordinator_may_leave_partial_results_only() {
        let killed = |observed: &mut Observed, _: &mut Seen| {
            (observed.killed, observed.exit) = (true, None);
        };
        assert_eq!(spoilt(killed), "a killed coordinator left whole results");
        let partial = |observed: &mut Observed, seen: &mut Seen| {
            killed(observed, seen);
            (observed.whole, observed.partial) = (false, true);
        };
        assert_eq!(spoilt(partial), "");
    }
}
