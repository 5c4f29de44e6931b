//! `schedule-lag`: under `-R`, load that fell behind its schedule is not the load asked for.

use super::{Evidence, Finding, Planned, RateEvidence, Severity};

/// A run this close to the rate has kept it: what is in flight at the end is of this order.
pub const SHORTFALL: f64 = 0.01;

/// On top, so many standard deviations of a Poisson count (its square root), so that chance alone is
/// not reported.
pub const DEVIATIONS: f64 = 4.0;

/// Lag has grown if the last third of the measured part has this many times the first third's ...
pub const GROWTH: f64 = 2.0;

/// ... and so much more, in microseconds: below it one slow checkpoint decides.
pub const GROWTH_US: f64 = 10_000.0;

/// Fewer stretches of time than this say nothing about growth.
const FEWEST_STRETCHES: usize = 6;

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let Some(rate) = &evidence.rate else { return Vec::new() };
    [behind(rate), growing(rate)].into_iter().flatten().collect()
}

fn behind(rate: &RateEvidence) -> Option<Finding> {
    let (time, expected) = match rate.planned {
        Planned::Time(time) => (time, rate.requested_tps * time.as_secs_f64()),
        Planned::Transactions(n) => (rate.duration, n as f64),
    };
    if time.is_zero() {
        return None;
    }
    let achieved = rate.begun as f64 / time.as_secs_f64();
    let accepted =
        rate.requested_tps * (1.0 - SHORTFALL - DEVIATIONS / expected.max(1.0).sqrt()).max(0.0);
    (achieved < accepted).then(|| {
        let requested = rate.requested_tps;
        let message = format!(
            "{achieved:.1} transactions per second were begun, {requested:.1} were asked for; the \
             server or the clients (-c) could not keep up"
        );
        finding(achieved, accepted, message)
    })
}

fn growing(rate: &RateEvidence) -> Option<Finding> {
    let means = &rate.lag_means_us;
    if means.len() < FEWEST_STRETCHES {
        return None;
    }
    let third = means.len() / 3;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&means[..third]), mean(&means[means.len() - third..]));
    let accepted = (first * GROWTH).max(first + GROWTH_US);
    (last > accepted).then(|| {
        let (first, last, accepted) = (first / 1000.0, last / 1000.0, accepted / 1000.0);
        let message = format!(
            "schedule lag grew from {first:.1} ms in the first third to {last:.1} ms in the last"
        );
        finding(last, accepted, message)
    })
}

fn finding(value: f64, threshold: f64, message: String) -> Finding {
    Finding {
        code: "schedule-lag",
        severity: Severity::Warning,
        agent: None,
        value,
        threshold,
        message,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Evidence, Planned, RateEvidence};
    use super::check;

    fn at(planned: Planned, begun: u64, lag_means_us: Vec<f64>) -> usize {
        let mut evidence = Evidence::sound();
        let duration = Duration::from_secs(100);
        let requested_tps = 100.0;
        evidence.rate =
            Some(RateEvidence { requested_tps, begun, planned, duration, lag_means_us });
        check(&evidence).len()
    }

    #[test]
    fn a_closed_loop_has_no_schedule() {
        assert_eq!(check(&Evidence::sound()), []);
    }

    #[test]
    fn one_percent_and_four_deviations_below_the_rate_are_accepted() {
        // 10,000 expected: 100 for one percent, 400 for four standard deviations.
        let time = Planned::Time(Duration::from_secs(100));
        assert_eq!(at(time, 9_500, vec![]), 0);
        assert_eq!(at(time, 9_499, vec![]), 1);
        let transactions = Planned::Transactions(10_000);
        assert_eq!(at(transactions, 9_500, vec![]), 0);
        assert_eq!(at(transactions, 9_499, vec![]), 1);
    }

    #[test]
    fn a_handful_of_transactions_is_never_called_slow() {
        assert_eq!(at(Planned::Time(Duration::from_millis(100)), 0, vec![]), 0);
    }

    #[test]
    fn lag_that_doubles_and_gains_ten_milliseconds_is_growing() {
        let time = Planned::Time(Duration::from_secs(100));
        let lags = |first: f64, last: f64| vec![first, first, 0.0, 0.0, last, last];
        assert_eq!(at(time, 10_000, lags(1_000.0, 11_000.0)), 0);
        assert_eq!(at(time, 10_000, lags(1_000.0, 11_001.0)), 1);
        assert_eq!(at(time, 10_000, lags(20_000.0, 40_000.0)), 0);
        assert_eq!(at(time, 10_000, lags(20_000.0, 40_001.0)), 1);
        assert_eq!(at(time, 10_000, vec![0.0, 0.0, 0.0, 0.0, 90_000.0]), 0);
    }
}
