//! Puts a run's result together from what its rooms found out.

use std::time::Duration;

use pgsurge_common::outcome::ExitCode;
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_common::stats::{ConnectStats, Histogram, Outages, StatementStats, Totals};

use super::{
    AgentResult, Clock, Digests, Lost, Merged, Options, RunResult, ServerResult, Span,
    StatementResult, Status, TimelineEntry,
};
use crate::logs::Collected;
use crate::merge;
use crate::verdict::Verdict;

/// Reasons of aborted clients that a result keeps.
const MOST_REASONS: usize = 100;

/// What a result is made of.
#[derive(Debug)]
pub struct Parts {
    /// What was executed.
    pub plan: Plan,
    /// Digests of the plan.
    pub digests: Digests,
    /// Options that did not travel.
    pub options: Options,
    /// Wall clock at the start of the measured part.
    pub started: jiff::Timestamp,
    /// What the fleet knows of each agent, in the order of `merged.agents`.
    pub agents: Vec<AgentPart>,
    /// From the common start to the moment at which load was told to end before its time, if it was.
    pub stopped_after: Option<Duration>,
    /// Opening the sessions, all agents together.
    pub connections: ConnectStats,
    /// All intervals and totals.
    pub merged: merge::Merged,
    /// With `-r`: the first lines of the commands, script by script.
    pub commands: Vec<Vec<String>>,
    /// What was seen of the target.
    pub server: ServerResult,
    /// Whether the run went to its planned end.
    pub status: Status,
}

/// What the fleet knows of an agent.
#[derive(Clone, Debug)]
pub struct AgentPart {
    /// As it named itself, unique within the run.
    pub name: String,
    /// Its workers and clients.
    pub share: Share,
    /// How well its clock is known.
    pub clock: Clock,
    /// Why and when it was lost, if it was.
    pub lost: Option<Lost>,
    /// Why it left before the end, in good order, if it did.
    pub left: Option<String>,
    /// What came of its logs, where they were collected.
    pub logs: Option<Collected>,
    /// From whom it took its clients over, if it did.
    pub took_over_from: Option<String>,
    /// When it was unreachable and came back.
    pub unreachable: Vec<Span>,
}

impl RunResult {
    /// Adds up and judges.
    #[must_use]
    pub fn assemble(parts: Parts) -> Self {
        let Parts {
            plan, digests, options, started, connections, commands, server, status, ..
        } = parts;
        let (agents, merged) = (parts.agents, parts.merged);
        let connections = sessions(&plan, connections);
        let totals: Vec<&Totals> = merged.agents.iter().filter_map(|a| a.totals.as_ref()).collect();
        let mut timeline = TimelineEntry::list(&merged.timeline);
        let duration = duration(&totals, &timeline);
        TimelineEntry::end_at(&mut timeline, duration);
        let warmup = plan.load.warmup;
        let statements = statements(&commands, &totals);
        let sums = Merged {
            duration,
            warmup_cut: parts.stopped_after.filter(|after| *after < warmup),
            inherited_backlog: totals.iter().map(|t| t.inherited_backlog).sum(),
            aborted_clients: totals.iter().map(|t| t.aborted_clients).sum(),
            aborted: totals.iter().flat_map(|t| t.aborted.clone()).take(MOST_REASONS).collect(),
            outages: outages(&totals),
            reconnecting: reconnecting(&totals),
            measured: merged.measured.counts,
            warmup: merged.warmup,
            response: merged.measured.response,
            service: merged.measured.service,
            lag: merged.measured.lag,
            scripts: merged.measured.scripts,
            errors: merged.errors,
        };
        let frame = (options.interval.as_secs_f64(), sums.duration.as_secs_f64());
        let mut result = Self {
            plan,
            digests,
            options,
            started,
            agents: agents.into_iter().zip(merged.agents).map(|one| agent(one, frame)).collect(),
            merged: sums,
            statements,
            connections,
            timeline,
            missing: merged.missing,
            mismatches: merged.mismatches,
            server,
            status,
            verdict: Verdict::default(),
            expectations: Vec::new(),
            exit_code: ExitCode::Done,
        };
        result.judge();
        result
    }
}

/// `interval_s` is the length of an interval, `end_s` the end of the measured part.
fn agent(
    (known, merged): (AgentPart, merge::AgentMerged),
    (interval_s, end_s): (f64, f64),
) -> AgentResult {
    let border = |interval: u32| f64::from(interval) * interval_s;
    let (lost, left) = (known.lost.is_some(), known.left.is_some());
    let until_s = match &merged.totals {
        // What a lost agent did after the last interval that came is in no figure.
        None => border(merged.intervals.end),
        Some(totals) if left => totals.last_end_us as f64 / 1e6,
        Some(_) => end_s,
    };
    let partial = lost || left || known.took_over_from.is_some();
    let ran = partial.then(|| Span { from_s: border(merged.intervals.start), until_s });
    AgentResult {
        id: merged.agent,
        name: known.name,
        share: known.share,
        counts: merged.counts,
        response: merged.response,
        totals: merged.totals,
        clock: known.clock,
        vitals: merged.vitals,
        lost: known.lost,
        left: known.left,
        logs: known.logs,
        took_over_from: known.took_over_from,
        ran,
        unreachable: known.unreachable,
    }
}

/// Under `-C` an agent opens one session as a proof that it can; the clients are those of the plan, and
/// their connections are counted with the transactions that they precede.
fn sessions(plan: &Plan, connections: ConnectStats) -> ConnectStats {
    if !plan.load.connect_per_transaction {
        return connections;
    }
    let clients = plan.load.clients;
    let (latency, opened) = (Histogram::new(), Histogram::new());
    ConnectStats { wanted: clients, obtained: clients, latency, opened, ..connections }
}

/// One list of all agents': what overlaps is one outage.
fn outages(totals: &[&Totals]) -> Outages {
    let mut all = Outages::default();
    for agent in totals {
        all.merge(&agent.outages);
    }
    for outage in &mut all.listed {
        outage.first_error = one_line(&outage.first_error);
        outage.last_error = one_line(&outage.last_error);
    }
    all
}

/// What another host says, fit for a line of the report: its reader must not take it for lines of ours.
fn one_line(text: &str) -> String {
    const LONGEST: usize = 300;
    text.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn reconnecting(totals: &[&Totals]) -> Histogram {
    let mut all = Histogram::new();
    for agent in totals {
        all.merge(&agent.reconnecting);
    }
    all
}

/// From the common start to the end of the last transaction. Agents that were lost cannot say when
/// theirs was; if none can, it is the end of the last interval that holds any. Where none ended at all it is
/// the time that the load was on.
fn duration(totals: &[&Totals], timeline: &[TimelineEntry]) -> Duration {
    if let Some(last) = totals.iter().map(|t| t.last_end_us).max().filter(|&last| last > 0) {
        return Duration::from_micros(last);
    }
    let ended = |entry: &&TimelineEntry| entry.transactions + entry.failed > 0;
    let last = timeline.iter().rev().find(ended).or(timeline.last());
    Duration::from_secs_f64(last.map_or(0.0, |entry| entry.t_s + entry.width_s))
}

fn statements(commands: &[Vec<String>], totals: &[&Totals]) -> Vec<Vec<StatementResult>> {
    let one = |(script, lines): (usize, &Vec<String>)| {
        let command = |(number, line): (usize, &String)| {
            let mut sum = StatementStats::default();
            let of_agents = totals.iter().filter_map(|t| t.statements.get(script)?.get(number));
            for stats in of_agents {
                sum.latency.merge(&stats.latency);
                sum.failures += stats.failures;
                sum.retries += stats.retries;
            }
            StatementResult { line: line.clone(), stats: sum }
        };
        lines.iter().enumerate().map(command).collect()
    };
    commands.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pgsurge_common::ids::AgentId;
    use pgsurge_common::stats::{
        ClientCount, Counts, Interval, Moments, Outage, Outages, Phase, StatementStats,
    };

    use super::{AgentPart, Parts, Totals, outages};
    use crate::merge::{Merger, Setup};
    use crate::report::{Clock, Digests, Lost, Options, RunResult, ServerResult, Status, fixture};

    /// A run over two agents that each did `per_agent` transactions in each of two seconds; those named
    /// in `lost` never said what they counted.
    fn run(per_agent: u64, lost: &[u32]) -> RunResult {
        let plan = fixture::plan();
        let ids = [AgentId(0), AgentId(1)];
        let mut merger = Merger::new(Setup::of(&plan, ids.to_vec(), Duration::from_secs(1)));
        for id in ids {
            for index in 0..2 {
                let mut interval = Interval::new(Phase::Measure, index, 0, false);
                interval.counts.transactions = per_agent;
                interval.response = fixture::latencies(per_agent);
                merger.accept(id, interval).expect("it is in order");
            }
            if lost.contains(&id.0) {
                merger.lost(id).expect("it takes part");
            } else {
                merger.finished(id, totals(id, 2 * per_agent)).expect("it is not lost");
            }
        }
        while merger.next_ready().is_some() {}
        let part = |id: AgentId| AgentPart {
            name: format!("host-{id}"),
            share: fixture::agent("", 0, 1, 0).share,
            clock: Clock::default(),
            lost: lost.contains(&id.0).then(|| Lost { at_s: 2.0, reason: "silence".into() }),
            left: None,
            logs: None,
            took_over_from: None,
            unreachable: Vec::new(),
        };
        RunResult::assemble(Parts {
            plan,
            digests: Digests::default(),
            options: Options::default(),
            started: jiff::Timestamp::UNIX_EPOCH,
            agents: ids.map(part).into(),
            connections: fixture::local().connections,
            merged: merger.finish(),
            commands: vec![vec!["BEGIN;".into(), "END;".into()]],
            server: ServerResult::default(),
            stopped_after: None,
            status: Status::Complete,
        })
    }

    fn totals(id: AgentId, transactions: u64) -> Totals {
        let statement = |failures| StatementStats {
            latency: Moments { count: transactions, sum: 7, ..Moments::default() },
            failures,
            retries: 1,
        };
        Totals {
            measured: Counts { transactions, ..Counts::default() },
            last_end_us: 1_900_000 + u64::from(id.0),
            inherited_backlog: 5,
            clients: vec![ClientCount { client: id.0, transactions }],
            statements: vec![vec![statement(2), statement(0)]],
            ..Totals::default()
        }
    }

    #[test]
    fn agents_add_up_and_the_last_transaction_ends_the_measured_part() {
        let run = run(10_000, &[]);
        assert!(run.verdict.is_valid(), "{:?}", run.verdict);
        assert_eq!(run.merged.measured.transactions, 40_000);
        assert_eq!(run.merged.duration, Duration::from_micros(1_900_001));
        assert_eq!(run.merged.inherited_backlog, 10);
        assert_eq!(run.timeline.len(), 2);
        assert_eq!((run.timeline[1].t_s, run.timeline[1].transactions), (1.0, 20_000));
        let [first, second] = run.statements[0].as_slice() else { panic!("two commands") };
        assert_eq!(
            (first.line.as_str(), first.stats.failures, first.stats.retries),
            ("BEGIN;", 4, 2)
        );
        assert_eq!((second.stats.latency.count, second.stats.latency.sum), (40_000, 14));
    }

    #[test]
    fn a_lost_agent_keeps_its_intervals_and_invalidates_the_run() {
        let run = run(10_000, &[1]);
        assert_eq!(run.merged.measured.transactions, 40_000);
        assert_eq!(run.merged.duration, Duration::from_millis(1900));
        let codes: Vec<&str> = run.verdict.findings.iter().map(|f| f.code).collect();
        assert_eq!(codes, ["agent-lost"]);
        assert_eq!(run.exit_code as u8, 3);
    }

    #[test]
    fn what_an_agent_says_of_an_outage_stays_in_its_line() {
        let outage = Outage {
            first_error: "57P01: gone\ntps = 1000000".into(),
            last_error: "x".repeat(100_000),
            ..Outage::default()
        };
        let said =
            Totals { outages: Outages { listed: vec![outage], more: 0 }, ..Totals::default() };
        let listed = outages(&[&said]).listed;
        assert_eq!(listed[0].first_error, "57P01: gone tps = 1000000");
        assert_eq!(listed[0].last_error.len(), 300);
    }

    #[test]
    fn without_any_agents_own_word_the_intervals_tell_how_long_it_was() {
        assert_eq!(run(10, &[0, 1]).merged.duration, Duration::from_secs(2));
        assert_eq!(run(0, &[0, 1]).merged.duration, Duration::from_secs(2));
    }
}
