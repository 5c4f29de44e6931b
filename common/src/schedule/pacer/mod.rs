//! One worker's schedule, shared by its clients as pgbench's threads share theirs (a schedule per client
//! would turn one queue into many and multiply response times).

use super::Window;
use crate::stats::Phase;

/// A worker's part of the requested rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Mean distance of two due times of this worker in microseconds.
    pub mean_gap_us: f64,
    /// `-L`: what is overdue by more is skipped.
    pub skip_beyond_us: Option<u64>,
}

/// When the transaction that a client asked for is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Microseconds since the common start. It may lie in the past (the worker is behind: begin at once,
    /// the difference is lag) or in the future (wait).
    pub at_us: u64,
    /// The part of the run in which it counts.
    pub phase: Phase,
}

/// The answer to a client that is ready for its next transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its next transaction; `None` if the client has done its work.
    pub next: Option<Due>,
    /// Transactions given up on the way since they were overdue by more than the limit. Each counts as
    /// one of the client's transactions (`-t`).
    pub skipped: u64,
    /// The part of the run in which the skipped ones count.
    pub skipped_phase: Phase,
    /// Overdue transactions of the warm-up that were dropped to begin the measured part with an empty
    /// queue: their expected number at the requested rate. Not 0 at most once per worker.
    pub dropped_backlog: u64,
}

/// One worker's schedule.
#[derive(Clone, Debug)]
pub struct Pacer {
    window: Window,
    rate: Option<Rate>,
    /// The last due time handed out.
    trigger_us: u64,
}

impl Pacer {
    /// A schedule that begins at the common start; a closed loop without a rate.
    #[must_use]
    pub fn new(window: Window, rate: Option<Rate>) -> Self {
        Self { window, rate, trigger_us: 0 }
    }

    /// Begins later than the common start: nothing was due before.
    pub fn join(&mut self, at_us: u64) {
        self.trigger_us = self.trigger_us.max(at_us);
    }

    /// The phases this schedule follows.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Schedules the next transaction for a client that is ready at `now_us`.
    ///
    /// `remaining` is how many measured transactions the client still has to do under `-t` (at least 1),
    /// `None` under `-T`. `uniform` yields the worker's throttle stream: values in (0, 1], as pgbench
    /// takes them (one minus a double in [0, 1)). It is not called in a closed loop.
    pub fn next(
        &mut self,
        now_us: u64,
        remaining: Option<u64>,
        mut uniform: impl FnMut() -> f64,
    ) -> Turn {
        let mut turn = Turn {
            next: None,
            skipped: 0,
            skipped_phase: self.window.phase(now_us),
            dropped_backlog: 0,
        };
        if self.window.is_over(now_us) {
            return turn;
        }
        let Some(rate) = self.rate else {
            turn.next = Some(Due { at_us: now_us, phase: self.window.phase(now_us) });
            return turn;
        };
        turn.dropped_backlog = self.drop_backlog(now_us, rate);
        self.advance(rate, &mut uniform);
        if let Some(limit) = rate.skip_beyond_us {
            // What is skipped is due before `now_us`, and after `drop_backlog` in the same phase as
            // `now_us`; only the measured part has a number of transactions to reach.
            let most = remaining.filter(|_| turn.skipped_phase == Phase::Measure);
            while self.trigger_us < now_us.saturating_sub(limit) {
                turn.skipped += 1;
                if most.is_some_and(|most| turn.skipped >= most) {
                    return turn;
                }
                self.advance(rate, &mut uniform);
            }
        }
        if self.window.end_us.is_none_or(|end| self.trigger_us <= end) {
            let at_us = self.trigger_us;
            turn.next = Some(Due { at_us, phase: self.window.phase(at_us) });
        }
        turn
    }

    fn advance(&mut self, rate: Rate, uniform: &mut impl FnMut() -> f64) {
        let gap = poisson_gap_us(uniform(), rate.mean_gap_us);
        self.trigger_us = self.trigger_us.saturating_add(gap);
    }

    /// A Poisson process has no memory, so beginning it anew at the boundary changes its instants, but
    /// not its law.
    fn drop_backlog(&mut self, now_us: u64, rate: Rate) -> u64 {
        let start = self.window.measure_start_us;
        if now_us < start || self.trigger_us >= start {
            return 0;
        }
        let overdue_us = start - self.trigger_us;
        self.trigger_us = start;
        whole(overdue_us as f64 / rate.mean_gap_us)
    }
}

/// pgbench's distance of two due times: exponentially distributed with the given mean, rounded to whole
/// microseconds. `uniform` lies in (0, 1].
#[must_use]
pub fn poisson_gap_us(uniform: f64, mean_gap_us: f64) -> u64 {
    whole(-uniform.ln() * mean_gap_us)
}

/// Rounds half up, as pgbench does; saturates.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturation is what is wanted
fn whole(value: f64) -> u64 {
    (value + 0.5) as u64
}

#[cfg(test)]
mod tests;
