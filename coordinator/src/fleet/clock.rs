//! How an agent's monotonic clock relates to the coordinator's.
//!
//! Pure: takes instants as nanoseconds since either process began, and never a wall clock, so that a
//! stepped or skewed one changes nothing. The bound on the error is exact: whatever the two ways of a
//! probe took, the true offset lies within half its round trip of the estimate.

use pgsurge_proto::message::ClockEcho;

/// Probes of one round; the one with the shortest round trip counts.
pub const PROBES: u32 = 8;

/// One measurement of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// When, in nanoseconds since the coordinator's process began.
    pub at_ns: u64,
    /// The agent's clock less the coordinator's, in nanoseconds.
    pub offset_ns: i64,
    /// Bound on the error of the offset, in nanoseconds.
    pub error_ns: u64,
    /// The longest round trip of the round, in nanoseconds: how long a message may take.
    pub slowest_ns: u64,
}

/// A round of probes in course.
#[derive(Clone, Debug, Default)]
pub struct ClockRound {
    pending: Option<(u64, u64)>,
    done: u32,
    best: Option<ClockReading>,
}

/// What follows an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundStep {
    /// Send another probe.
    Again,
    /// The round is over.
    Done(ClockReading),
    /// The echo belongs to no probe on its way.
    Stray,
}

impl ClockRound {
    /// A probe leaves. One that is still on its way is given up.
    pub fn probe(&mut self, id: u64, now_ns: u64) {
        self.pending = Some((id, now_ns));
    }

    /// An echo arrives.
    pub fn echo(&mut self, echo: &ClockEcho, now_ns: u64) -> RoundStep {
        let Some((_, sent_ns)) = self.pending.take_if(|(id, _)| *id == echo.probe) else {
            return RoundStep::Stray;
        };
        let reading = read(sent_ns, echo, now_ns);
        let slowest_ns = self.best.map_or(0, |best| best.slowest_ns).max(reading.slowest_ns);
        let best = self.best.filter(|best| best.error_ns <= reading.error_ns).unwrap_or(reading);
        let best = ClockReading { slowest_ns, ..best };
        self.best = Some(best);
        self.done += 1;
        if self.done < PROBES { RoundStep::Again } else { RoundStep::Done(best) }
    }
}

/// The offset from one probe: the middle of its stay at the agent against the middle of its way.
fn read(sent_ns: u64, echo: &ClockEcho, now_ns: u64) -> ClockReading {
    let way_ns = now_ns.saturating_sub(sent_ns);
    let stay_ns = echo.sent_ns.saturating_sub(echo.received_ns).min(way_ns);
    let middle = |a: u64, b: u64| i128::from(a) + (i128::from(b) - i128::from(a)) / 2;
    let offset = middle(echo.received_ns, echo.sent_ns) - middle(sent_ns, now_ns);
    ClockReading {
        at_ns: now_ns,
        offset_ns: i64::try_from(offset).unwrap_or(if offset < 0 { i64::MIN } else { i64::MAX }),
        // Rounded up, and one more for the two halves that were rounded down above.
        error_ns: (way_ns - stay_ns).div_ceil(2) + 1,
        slowest_ns: way_ns,
    }
}

impl ClockReading {
    /// An instant of the coordinator on the agent's clock; negative before the agent's process began.
    #[must_use]
    pub fn to_agent_ns(&self, coordinator_ns: u64) -> i64 {
        self.offset_ns.saturating_add_unsigned(coordinator_ns)
    }
}

/// What became of a clock over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSummary {
    /// Offset by which the start was converted, in nanoseconds.
    pub offset_ns: i64,
    /// Bound on the error of that offset, in nanoseconds.
    pub error_ns: u64,
    /// The reading that lies furthest from the one used for the start, less it, in nanoseconds.
    pub drift_ns: i64,
}

impl ClockSummary {
    /// Begins with the reading that the start is converted by.
    #[must_use]
    pub fn at_start(reading: &ClockReading) -> Self {
        Self { offset_ns: reading.offset_ns, error_ns: reading.error_ns, drift_ns: 0 }
    }

    /// Takes a later reading.
    pub fn later(&mut self, reading: &ClockReading) {
        let drift_ns = reading.offset_ns.saturating_sub(self.offset_ns);
        // What the reading's own error can explain is no drift.
        let certain = drift_ns.unsigned_abs().saturating_sub(reading.error_ns + self.error_ns);
        if certain > 0 && drift_ns.unsigned_abs() > self.drift_ns.unsigned_abs() {
            self.drift_ns = drift_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_true_offset_lies_within_the_stated_error(
            offset in -1_000_000_000_i64..1_000_000_000,
            ways in prop::collection::vec((0_u64..50_000_000, 0_u64..50_000_000, 0_u64..9_000_000), 8),
        ) {
            let mut round = ClockRound::default();
            let mut now = 5_000_000_000_u64;
            let mut done = None;
            for (id, (there, back, stay)) in (1_u64..).zip(ways) {
                round.probe(id, now);
                let received_ns = (now + there).checked_add_signed(offset).expect("positive");
                let echo = ClockEcho { probe: id, received_ns, sent_ns: received_ns + stay };
                now += there + stay + back;
                if let RoundStep::Done(reading) = round.echo(&echo, now) {
                    done = Some(reading);
                }
            }
            let reading = done.expect("eight probes are a round");
            prop_assert!(reading.offset_ns.abs_diff(offset) <= reading.error_ns);
            let agents = i64::try_from(now).expect("small") + offset;
            prop_assert_eq!(
                reading.to_agent_ns(now).abs_diff(agents),
                reading.offset_ns.abs_diff(offset)
            );
            // A process that began later than that instant has it before its own beginning.
            prop_assert_eq!(reading.to_agent_ns(0), reading.offset_ns);
        }
    }

    #[test]
    fn an_echo_of_another_probe_is_not_taken_for_an_answer() {
        let mut round = ClockRound::default();
        round.probe(1, 0);
        round.probe(2, 10);
        let late = ClockEcho { probe: 1, received_ns: 5, sent_ns: 5 };
        assert_eq!(round.echo(&late, 20), RoundStep::Stray);
        assert_eq!(round.echo(&ClockEcho { probe: 2, ..late }, 20), RoundStep::Again);
    }

    #[test]
    fn drift_is_what_the_errors_do_not_explain() {
        let reading =
            |offset_ns, error_ns| ClockReading { at_ns: 0, offset_ns, error_ns, slowest_ns: 0 };
        let mut summary = ClockSummary::at_start(&reading(1000, 50));
        summary.later(&reading(1090, 50));
        assert_eq!(summary.drift_ns, 0);
        summary.later(&reading(-7000, 50));
        summary.later(&reading(1000, 50));
        assert_eq!(summary, ClockSummary { offset_ns: 1000, error_ns: 50, drift_ns: -8000 });
    }
}
