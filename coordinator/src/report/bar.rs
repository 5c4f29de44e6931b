//! A bar on the terminal for runs without `-P`; draws nothing where stderr is not one.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pgsurge_common::plan::{End, Load};
use pgsurge_common::stats::Phase;
use pgsurge_common::wording::counted;

use crate::merge::ClusterInterval;

/// The bar of one run.
#[derive(Debug)]
pub struct Bar {
    drawn: ProgressBar,
    interval: Duration,
    end: End,
}

impl Bar {
    /// A bar that fills with the time (`-T`) or the transactions (`-t`) of the measured part.
    #[must_use]
    pub fn new(load: &Load, interval: Duration) -> Self {
        let length = match load.end {
            End::Duration(time) => time.as_secs(),
            End::Transactions(each) => each.saturating_mul(load.clients.into()),
        };
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix:>8} [{bar:40}] {percent:>3}% {msg}")
            .expect("a constant template that a test draws");
        bar.set_style(style.progress_chars("=> "));
        Self { drawn: bar, interval, end: load.end }
    }

    /// Shows the next interval.
    pub fn record(&self, ready: &ClusterInterval) {
        let (interval, agents) = (&ready.interval, ready.agents);
        let tps = interval.counts.transactions as f64 / self.interval.as_secs_f64();
        let p99 = interval.response.quantile_us(0.99) as f64 / 1000.0;
        let clients = counted(interval.clients.into(), "client");
        let agents = counted(agents.into(), "agent");
        let text = format!("{tps:.0} tps, p99 {p99:.3} ms, {clients}, {agents}");
        self.drawn.set_message(text);
        match (interval.phase, self.end) {
            (Phase::Warmup, _) => self.drawn.set_prefix("warm-up"),
            (Phase::Measure, End::Duration(time)) => {
                self.drawn.set_prefix("measure");
                let end = self.interval * (interval.index + 1);
                self.drawn.set_position(end.min(time).as_secs());
            }
            (Phase::Measure, End::Transactions(_)) => {
                self.drawn.set_prefix("measure");
                self.drawn.inc(interval.counts.all());
            }
        }
    }

    /// Prints a line of text above the bar, or just prints it where there is none.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.drawn.suspend(print)
    }

    /// Takes the bar off the screen.
    pub fn finish(&self) {
        self.drawn.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pgsurge_common::plan::End;
    use pgsurge_common::stats::{Interval, Phase};

    use super::Bar;
    use crate::report::fixture;

    #[test]
    fn a_bar_fills_with_time_or_with_transactions() {
        let mut load = fixture::plan().load;
        let mut interval = Interval::new(Phase::Measure, 4, 0, false);
        interval.counts.transactions = 2_000;
        let ready = fixture::ready(interval, 1);
        let transactions = Bar::new(&load, Duration::from_secs(1));
        transactions.record(&ready);
        assert_eq!(
            (transactions.drawn.position(), transactions.drawn.length()),
            (2_000, Some(10_000))
        );

        load.end = End::Duration(Duration::from_secs(4));
        let time = Bar::new(&load, Duration::from_secs(1));
        time.record(&ready);
        assert_eq!((time.drawn.position(), time.drawn.length()), (4, Some(4)));
    }
}
