//! pgbench's progress lines (`-P`), for the cluster: clients and agents at work are added at the end,
//! and clients that have lost their sessions, if there are any.

use std::time::Duration;

use pgsurge_common::plan::{End, Plan};
use pgsurge_common::stats::{Counts, Interval, Moments, Phase};
use pgsurge_common::wording::counted;

use super::Options;
use crate::merge::ClusterInterval;

/// Makes a line of every so many intervals.
#[derive(Clone, Debug)]
pub struct Progress {
    every: Duration,
    interval: Duration,
    planned: Option<Duration>,
    /// Wall clock at the start of the measured part, if lines show it.
    epoch: Option<jiff::Timestamp>,
    warmup: Duration,
    shown: Shown,
    window: Window,
}

/// Which fields a line has.
#[derive(Clone, Copy, Debug)]
struct Shown {
    lag: bool,
    skipped: bool,
    retries: bool,
}

/// What has come in since the last line.
#[derive(Clone, Debug)]
struct Window {
    phase: Phase,
    began: Duration,
    counts: Counts,
    response: Moments,
    lag: Moments,
}

impl Window {
    fn new(phase: Phase, began: Duration) -> Self {
        Self {
            phase,
            began,
            counts: Counts::default(),
            response: Moments::default(),
            lag: Moments::default(),
        }
    }
}

impl Progress {
    /// Lines as `-P` asks for; `None` without it. `started` is the wall clock at the start of the
    /// measured part.
    #[must_use]
    pub fn new(plan: &Plan, options: &Options, started: jiff::Timestamp) -> Option<Self> {
        let load = &plan.load;
        let rate_limited = load.rate_tps.is_some();
        Some(Self {
            every: Duration::from_secs(options.progress_s?.into()),
            interval: options.interval,
            planned: match load.end {
                End::Duration(time) => Some(time),
                End::Transactions(_) => None,
            },
            epoch: options.progress_timestamp.then_some(started),
            warmup: load.warmup,
            shown: Shown {
                lag: rate_limited,
                skipped: rate_limited && load.latency_limit_us.is_some(),
                retries: plan.workload.max_tries != Some(1),
            },
            window: Window::new(Phase::Warmup, Duration::ZERO),
        })
    }

    /// Takes the next interval; gives a line when one is due.
    pub fn record(&mut self, ready: &ClusterInterval) -> Option<String> {
        let interval = &ready.interval;
        if self.window.phase != interval.phase {
            self.window = Window::new(interval.phase, Duration::ZERO);
        }
        let window = &mut self.window;
        window.counts.merge(&interval.counts);
        window.response.merge(interval.response.moments());
        if let Some(lag) = &interval.lag {
            window.lag.merge(lag.moments());
        }
        let end = self.interval * (interval.index + 1);
        if end < window.began + self.every {
            return None;
        }
        let line = self.is_worth_a_line(interval, end).then(|| self.line(ready, end));
        self.window = Window::new(interval.phase, end);
        line
    }

    /// Where no client is at work any more an interval is not whole, but for the one that ends when it was
    /// planned to. pgbench stops with its last client, too.
    fn is_worth_a_line(&self, interval: &Interval, end: Duration) -> bool {
        let planned = interval.phase == Phase::Measure && self.planned == Some(end);
        planned || interval.clients + interval.disconnected > 0
    }

    fn line(&self, ready: &ClusterInterval, end: Duration) -> String {
        let Window { phase, began, counts, response, lag } = &self.window;
        let label = match phase {
            Phase::Warmup => "warm-up",
            Phase::Measure => "progress",
        };
        let tps = counts.transactions as f64 / end.saturating_sub(*began).as_secs_f64();
        let (mean, stddev) = (response.mean_us() / 1000.0, response.stddev_us() / 1000.0);
        let (time, failed) = (self.time(*phase, end), counts.failed());
        let mut fields = vec![
            format!("{label}: {time} s"),
            format!("{tps:.1} tps"),
            format!("lat {mean:.3} ms stddev {stddev:.3}"),
            format!("{failed} failed"),
        ];
        if self.shown.lag {
            fields.push(format!("lag {:.3} ms", lag.mean_us() / 1000.0));
        }
        if self.shown.skipped {
            fields.push(format!("{} skipped", counts.skipped));
        }
        if self.shown.retries {
            fields.push(format!("{} retried, {} retries", counts.retried, counts.retries));
        }
        fields.push(
            [(ready.interval.clients, "client"), (ready.agents, "agent")]
                .map(|(n, noun)| counted(n.into(), noun))
                .join(", "),
        );
        if ready.interval.disconnected > 0 {
            fields.push(format!("{} disconnected", ready.interval.disconnected));
        }
        fields.extend(marks(ready));
        fields.join(", ")
    }

    /// Seconds since the phase began, or since the epoch.
    fn time(&self, phase: Phase, end: Duration) -> String {
        let Some(epoch) = self.epoch else { return format!("{:.1}", end.as_secs_f64()) };
        let before = if phase == Phase::Warmup { self.warmup } else { Duration::ZERO };
        let ms = |d: Duration| i64::try_from(d.as_millis()).unwrap_or(i64::MAX);
        let at = epoch.as_millisecond() + ms(end) - ms(before);
        format!("{}.{:03}", at.div_euclid(1000), at.rem_euclid(1000))
    }
}

/// What sets the interval apart from one of a whole fleet: agents that were unreachable, agents whose results
/// are missing, clients that were taken over.
fn marks(ready: &ClusterInterval) -> impl Iterator<Item = String> {
    let marks = [
        (ready.unreachable.len(), "unreachable"),
        (ready.missing.len(), "missing"),
        (ready.moved as usize, "moved"),
    ];
    marks.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"))
}
