//! What is known of a run so far, and who is told when it changes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pgsurge_common::plan::{End, Plan};
use pgsurge_common::stats::{Counts, ErrorCounts, Histogram, Phase, Vitals};
use tokio::sync::broadcast;

use super::findings;
use super::message::{Message, Stage};
use crate::merge::ClusterInterval;
use crate::picture::live::{Growing, Kind};
use crate::verdict::Finding;

/// Messages that a viewer may be behind before it gets everything anew.
const BEHIND_MOST: usize = 32;
/// Lines of stderr that a page shows.
const NOTICES_MOST: usize = 100;

/// Stretches of time by which growing lag is seen; an even number.
const LAGS_MOST: usize = 1200;

/// See the module. Cheap to ask and to tell; nobody holds it for long.
#[derive(Debug)]
pub struct Board {
    state: Mutex<State>,
    news: broadcast::Sender<Arc<str>>,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) stage: Stage,
    /// Agents that are waited for; 0 is the one inside this process.
    pub(super) agents_wanted: u32,
    /// Other runs follow at the same address.
    pub(super) several: bool,
    pub(super) run: Option<Run>,
    pub(super) notices: VecDeque<String>,
}

/// What is known once there is a plan.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) plan: Arc<Plan>,
    pub(super) interval_s: f64,
    pub(super) agents: Vec<Agent>,
    pub(super) charts: Growing,
    /// The measured part so far.
    pub(super) counts: Counts,
    pub(super) response: Histogram,
    pub(super) errors: ErrorCounts,
    /// Mean schedule lag of stretches of it; few, however long the run is.
    pub(super) lag_means_us: Vec<f64>,
    /// Its length, once it is over.
    pub(super) measured: Option<Duration>,
    pub(super) intervals: u64,
    pub(super) incomplete: u64,
    /// The last interval.
    pub(super) last: Option<Last>,
    /// The verdict so far; at the end the one of the report.
    pub(super) findings: Vec<Finding>,
}

/// An agent (or what one took over from another), as of the last interval.
#[derive(Clone, Debug, Default)]
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) clients: u32,
    pub(super) transactions: u64,
    pub(super) vitals: Vitals,
    /// CPU fractions of the measured part's intervals, added up.
    pub(super) cpu_sum: f64,
    /// The longest lag of its loops in the measured part.
    pub(super) loop_lag_us: u64,
    pub(super) lost: Option<String>,
}

/// The last interval of the cluster.
#[derive(Clone, Debug)]
pub(super) struct Last {
    pub(super) tps: f64,
    pub(super) response: Histogram,
    pub(super) clients: u32,
    pub(super) disconnected: u32,
    pub(super) agents: u32,
    pub(super) unreachable: usize,
}

impl Board {
    /// Of a run that waits for so many agents.
    #[must_use]
    pub fn new(agents_wanted: u32) -> Arc<Self> {
        let state = Mutex::new(State { agents_wanted, ..State::default() });
        Arc::new(Self { state, news: broadcast::channel(BEHIND_MOST).0 })
    }

    /// The same of one of several runs.
    #[must_use]
    pub fn one_of_several(agents_wanted: u32) -> Arc<Self> {
        let state = Mutex::new(State { agents_wanted, several: true, ..State::default() });
        Arc::new(Self { state, news: broadcast::channel(BEHIND_MOST).0 })
    }

    /// The plan is made; these agents take part, in this order.
    pub fn planned(&self, plan: &Arc<Plan>, interval_s: f64, agents: &[String]) {
        let scripts = &plan.workload.scripts;
        let scripts: Vec<String> = match scripts.len() {
            1 => Vec::new(),
            _ => scripts.iter().map(|script| script.name.clone()).collect(),
        };
        let load = &plan.load;
        let kind = Kind {
            interval_s,
            rate_limited: load.rate_tps.is_some(),
            skips: load.rate_tps.is_some() && load.latency_limit_us.is_some(),
            scripts: &scripts,
        };
        let agent = |name: &String| Agent { name: name.clone(), ..Agent::default() };
        let run = Run {
            plan: Arc::clone(plan),
            interval_s,
            agents: agents.iter().map(agent).collect(),
            charts: Growing::new(kind, agents),
            counts: Counts::default(),
            response: Histogram::new(),
            errors: ErrorCounts::default(),
            lag_means_us: Vec::new(),
            measured: None,
            intervals: 0,
            incomplete: 0,
            last: None,
            findings: Vec::new(),
        };
        self.change(|state| {
            state.run = Some(run);
            state.stage = Stage::Preparing;
        });
    }

    /// All sessions are open, and the instant of the start is named.
    pub fn starts(&self) {
        self.change(|state| {
            let warmup = state.run.as_ref().is_some_and(|run| !run.plan.load.warmup.is_zero());
            state.stage = if warmup { Stage::Warmup } else { Stage::Measuring };
        });
    }

    /// An interval is whole.
    pub fn interval(&self, ready: &ClusterInterval) {
        let mut state = self.state();
        let measured = ready.interval.phase == Phase::Measure;
        if measured {
            state.stage = state.stage.max(Stage::Measuring);
        }
        let Some(run) = &mut state.run else { return };
        run.take(ready, measured);
        run.findings = findings::so_far(run);
        let next = run.charts.push(ready);
        self.publish(&match next {
            Some(next) => Message::next(&state, next),
            None => Message::whole(&state),
        });
    }

    /// An agent takes part from now on: a spare one, or one that took clients over.
    pub fn joins(&self, name: &str) {
        self.change(|state| {
            if let Some(run) = &mut state.run {
                run.agents.push(Agent { name: name.to_owned(), ..Agent::default() });
            }
        });
    }

    /// An agent was given up.
    pub fn lost(&self, name: &str, reason: &str) {
        self.change(|state| {
            let agents = state.run.iter_mut().flat_map(|run| &mut run.agents);
            for agent in agents.filter(|agent| agent.name == name) {
                agent.lost = Some(reason.to_owned());
            }
        });
    }

    /// A line that was said on stderr.
    pub fn said(&self, line: &str) {
        self.change(|state| {
            if state.notices.len() == NOTICES_MOST {
                state.notices.pop_front();
            }
            state.notices.push_back(line.to_owned());
        });
    }

    /// The run is over; this is how long its measured part was, and its verdict.
    pub fn done(&self, measured: Duration, findings: &[Finding]) {
        let mut state = self.state();
        state.stage = Stage::Done;
        if let Some(run) = &mut state.run {
            run.findings = findings.to_vec();
            run.measured = Some(measured);
            run.charts.end_at(measured.as_secs_f64());
        }
        self.publish(&Message::whole(&state));
    }

    /// Everything so far as a message, and those that follow it.
    pub(super) fn follow(&self) -> (String, broadcast::Receiver<Arc<str>>) {
        // Under the lock, so that nothing falls between the two.
        let state = self.state();
        (Message::whole(&state).json(), self.news.subscribe())
    }

    /// Looks at it.
    pub(super) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state())
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        self.publish(&Message::short(&state));
    }

    fn publish(&self, message: &Message<'_>) {
        if self.news.receiver_count() > 0 {
            // Nobody may have gone meanwhile.
            let _ = self.news.send(message.json().into());
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    fn take(&mut self, ready: &ClusterInterval, measured: bool) {
        let interval = &ready.interval;
        self.last = Some(Last {
            tps: interval.counts.transactions as f64 / self.interval_s,
            response: interval.response.clone(),
            clients: interval.clients,
            disconnected: interval.disconnected,
            agents: ready.agents,
            unreachable: ready.unreachable.len(),
        });
        self.errors.merge(&interval.errors);
        for part in &ready.parts {
            let Some(agent) = self.agents.get_mut(part.part.0 as usize) else { continue };
            agent.clients = part.clients;
            agent.vitals = part.vitals;
            if measured {
                agent.transactions += part.counts.transactions;
                agent.cpu_sum += part.vitals.cpu_fraction;
                agent.loop_lag_us = agent.loop_lag_us.max(part.vitals.loop_lag_us);
            }
        }
        if measured {
            self.counts.merge(&interval.counts);
            self.response.merge(&interval.response);
            self.intervals += 1;
            self.incomplete += u64::from(!ready.complete);
            if let Some(lag) = interval.lag.as_ref().filter(|lag| !lag.is_empty()) {
                self.lag_means_us.push(lag.moments().mean_us());
                if self.lag_means_us.len() == LAGS_MOST {
                    let means = self.lag_means_us.chunks(2).map(|pair| pair[0].midpoint(pair[1]));
                    self.lag_means_us = means.collect();
                }
            }
        }
    }

    /// Seconds of the measured part that are in the figures; what is drained belongs to its end.
    pub(super) fn seconds(&self) -> f64 {
        let whole = self.intervals as f64 * self.interval_s;
        let so_far = whole.min(self.planned_s().unwrap_or(whole));
        self.measured.map_or(so_far, |measured| measured.as_secs_f64())
    }

    /// How long the measured part is to be, if that is known.
    pub(super) fn planned_s(&self) -> Option<f64> {
        match self.plan.load.end {
            End::Duration(time) => Some(time.as_secs_f64()),
            End::Transactions(_) => None,
        }
    }
}
