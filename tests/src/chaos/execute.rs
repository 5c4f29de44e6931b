//! A schedule, carried out.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal as Unix;
use serde_json::Value;

use super::judge::{Observed, Seen, judge};
use super::schedule::{Policy, Protocol, Schedule, Signal, What, Workload};
use super::site::Site;
use crate::postgres::Postgres;
use crate::process::{Finished, Running, let_pass};

/// Nothing takes longer, whatever is cut: leases, patience with connections, a starved machine.
const PATIENCE: Duration = Duration::from_secs(150);

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// What was done.
    pub schedule: Schedule,
    /// What is wrong; nothing, if all is well.
    pub wrong: Vec<String>,
    /// How the run ended.
    pub run: Finished,
    /// What else was said.
    pub others: Vec<(String, String)>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.wrong.iter().try_for_each(|wrong| writeln!(f, "  WRONG: {wrong}"))?;
        if !self.wrong.is_empty() {
            writeln!(f, "run: {}\n{}", self.run.status, self.run)?;
            let mut others = self.others.iter();
            others.try_for_each(|(who, said)| writeln!(f, "--- {who}\n{said}"))?;
        }
        Ok(())
    }
}

/// One step; each event is one or two of them.
#[derive(Clone, Copy, Debug)]
enum Step {
    Begin(What),
    End(What),
}

/// The coordinator, as the events find it.
struct Coordinator {
    process: Running,
    killed: bool,
    /// Something happened while it was there.
    disturbed: bool,
}

/// Carries out a schedule and looks at what came of it.
///
/// # Panics
/// If the machine cannot do what the schedule needs.
#[must_use]
pub fn execute(schedule: &Schedule) -> Outcome {
    let mut site = Site::start(schedule);
    let run = site.run("run", schedule.agents as usize, &arguments(&schedule.workload));
    let mut run = Coordinator { process: run, killed: false, disturbed: false };
    let mut wrong = Vec::new();
    if until(|| run.process.has_ended() || !site.committed().is_empty()) {
        disturb(&mut site, schedule, &mut run);
    } else {
        wrong.push("no transaction was ever committed".to_owned());
    }
    let (killed, undisturbed) = (run.killed, !run.disturbed);
    if !until(|| run.process.has_ended()) {
        wrong.push("the run does not end".to_owned());
        run.process.signal(Unix::KILL);
    }
    let finished = run.process.wait(PATIENCE);
    // I4, and nobody stays behind: a load without this end would go on for minutes.
    let lease = if killed { schedule.workload.lease } else { 0 };
    if !until(|| is_quiet(&site, lease + 1)) {
        wrong.push(format!("{} sessions stay on the server", site.sessions()));
    }
    let folder = site.results("run");
    let partial = folder.with_extension("partial");
    let observed = Observed {
        killed,
        exit: finished.code(),
        whole: folder.exists(),
        partial: partial.exists(),
        seen: seen(&folder),
        committed: site.committed(),
        policy: schedule.workload.policy,
        undisturbed,
    };
    if wrong.is_empty() {
        wrong.extend(judge(&observed));
        wrong.extend(serves_again(&mut site));
    }
    let ended =
        site.ended.iter().map(|(agent, end)| (format!("agent {agent}, ended"), end.stderr.clone()));
    let alive = site.agents.iter().map(|(agent, alive)| (format!("agent {agent}"), alive.stderr()));
    let others = ended.chain(alive).collect();
    Outcome { schedule: schedule.clone(), wrong, run: finished, others }
}

fn seen(folder: &Path) -> Option<Seen> {
    let read = |name: &str| -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).ok()?).ok()
    };
    Some(Seen::of(&read("summary.json")?, &read("plan.json")?))
}

/// Nobody is there, and nobody comes for so long: under `-C` sessions are gone between two transactions, too,
/// and clients that lost theirs come back.
fn is_quiet(site: &Site, seconds: u32) -> bool {
    let before = site.committed();
    (0..20 * seconds).all(|_| {
        let_pass(Duration::from_millis(50));
        site.sessions() == "0"
    }) && before == site.committed()
}

/// Waits for a condition; tells whether it came to hold.
pub(super) fn until(mut condition: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if condition() {
            return true;
        }
        let_pass(Duration::from_millis(50));
    }
    false
}

fn arguments(workload: &Workload) -> Vec<String> {
    let Workload { clients, workers, seconds, warmup, lease, .. } = workload;
    let protocol = match workload.protocol {
        Protocol::Simple => "simple",
        Protocol::Extended => "extended",
        Protocol::Prepared => "prepared",
    };
    let policy = match workload.policy {
        Policy::Fail => "fail",
        Policy::Continue => "continue",
        Policy::Rebalance => "rebalance",
    };
    let some = |number: &u32, option: &str| format!("{option} {number}");
    let warmup = Some(warmup).filter(|seconds| **seconds > 0);
    let words = [
        format!("-c {clients} -j {workers} -T {seconds} -M {protocol}"),
        format!("--on-agent-loss {policy} --lease {lease} --connect-wait 20 --agent-wait 60 -P 1"),
        warmup.map_or_else(String::new, |seconds| some(seconds, "--warmup")),
        workload.rate.map_or_else(String::new, |rate| some(&rate, "-R")),
        if workload.connect_each { "-C" } else { "" }.to_owned(),
        if workload.reconnect { "--reconnect" } else { "" }.to_owned(),
    ];
    words.join(" ").split_whitespace().map(str::to_owned).collect()
}

/// Events at their times; what was taken away is given back, also where the run is over before.
fn disturb(site: &mut Site, schedule: &Schedule, run: &mut Coordinator) {
    let mut steps: Vec<(u32, Step)> = Vec::new();
    for event in &schedule.events {
        steps.push((event.at_ms, Step::Begin(event.what)));
        if let Some(lasts) = lasts(event.what) {
            steps.push((event.at_ms + lasts, Step::End(event.what)));
        }
    }
    steps.sort_by_key(|(at_ms, _)| *at_ms);
    let start = Instant::now();
    for (at_ms, step) in steps {
        let due = start + Duration::from_millis(at_ms.into());
        // After a kill the load goes on until the lease is over.
        while Instant::now() < due && (run.killed || !run.process.has_ended()) {
            let_pass(Duration::from_millis(10));
        }
        match step {
            Step::Begin(_) if run.process.has_ended() && !run.killed => {}
            Step::Begin(what) => {
                run.disturbed = true;
                begin(site, run, what);
            }
            Step::End(what) => end(site, run, what),
        }
    }
}

/// How long an event lasts, where it ends by itself.
fn lasts(what: What) -> Option<u32> {
    match what {
        What::StopAgent(_, lasts)
        | What::CutAgent(_, lasts)
        | What::CutAgentFromServer(_, _, lasts)
        | What::CutCoordinator(lasts)
        | What::StopCoordinator(lasts)
        | What::KillServer(lasts) => Some(lasts),
        What::KillAgent(_, again) => again,
        What::EndAgent(_)
        | What::KillCoordinator
        | What::InterruptCoordinator(_)
        | What::RestartServer
        | What::CrashServer => None,
    }
}

fn begin(site: &mut Site, run: &mut Coordinator, what: What) {
    match what {
        What::KillAgent(agent, _) => {
            site.signal(agent, Unix::KILL);
            let _ = site.ended(agent);
        }
        What::EndAgent(agent) => site.tell_to_leave(agent),
        What::StopAgent(agent, _) => site.signal(agent, Unix::STOP),
        What::CutAgent(agent, _) => site.plug(Some(agent), false),
        What::CutAgentFromServer(agent, way, _) => site.block(agent, way, true),
        What::CutCoordinator(_) => site.plug(None, false),
        What::KillCoordinator => {
            run.killed = true;
            run.process.signal(Unix::KILL);
        }
        What::InterruptCoordinator(Signal::Int) => run.process.signal(Unix::INT),
        What::InterruptCoordinator(Signal::Term) => run.process.signal(Unix::TERM),
        What::StopCoordinator(_) => run.process.signal(Unix::STOP),
        What::RestartServer => site.server_does(Postgres::restart),
        What::CrashServer => site.server_does(|server| {
            server.crash();
            server.resume();
        }),
        What::KillServer(_) => site.server_does(Postgres::kill),
    }
}

fn end(site: &mut Site, run: &Coordinator, what: What) {
    match what {
        What::KillAgent(agent, _) if !site.agents.contains_key(&agent) => site.start_agent(agent),
        What::StopAgent(agent, _) => site.signal(agent, Unix::CONT),
        What::CutAgent(agent, _) => site.plug(Some(agent), true),
        What::CutAgentFromServer(agent, way, _) => site.block(agent, way, false),
        What::CutCoordinator(_) => site.plug(None, true),
        What::StopCoordinator(_) => run.process.signal(Unix::CONT),
        What::KillServer(_) => site.server_does(|server| {
            if server.pid().is_none() {
                server.resume();
            }
        }),
        _ => {}
    }
}

/// Agents that are alive are back to waiting: they serve one more run, which is a good one.
fn serves_again(site: &mut Site) -> Vec<String> {
    // Who was told to leave may still be on its way.
    let stay = site.let_leave();
    let gone = site.gone();
    let mut wrong: Vec<String> =
        gone.iter().map(|number| format!("agent {number} ended by itself")).collect();
    wrong.extend(stay.iter().map(|number| format!("agent {number} was told to leave and stays")));
    if site.agents.is_empty() {
        site.start_agent(0);
    }
    let agents = u32::try_from(site.agents.len()).expect("a few");
    let before: u64 = site.committed().values().sum();
    let words = format!("-c {agents} -t 5 --agent-wait 60");
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let mut again = site.run("again", agents as usize, &words);
    if !until(|| again.has_ended()) {
        wrong.push(format!("a second run does not end\n{}", again.stderr()));
        return wrong;
    }
    let finished = again.wait(PATIENCE);
    let more = site.committed().values().sum::<u64>() - before;
    if finished.code() != Some(0) || more != u64::from(5 * agents) {
        wrong.push(format!("a second run over {agents} agents committed {more}\n{finished}"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_ends() {
        for seed in 0..200 {
            for event in Schedule::of(seed).events {
                let ends = !matches!(
                    event.what,
                    What::KillAgent(_, None)
                        | What::EndAgent(_)
                        | What::KillCoordinator
                        | What::InterruptCoordinator(_)
                        | What::RestartServer
                        | What::CrashServer
                );
                assert_eq!(lasts(event.what).is_some(), ends, "{event:?}");
            }
        }
    }
}
