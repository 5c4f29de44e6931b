//! The median of repeats with an interval from their order alone.

use super::{DOUBT, EXACT_MOST, NORMAL, below};

/// A median, and where the true one lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// Of the repeats.
    pub value: f64,
    /// With 95 % confidence; `None` for fewer than 6 repeats, whose extremes do not reach that.
    pub interval: Option<(f64, f64)>,
}

/// Of any number of repeats; `None` for none of them. Order does not matter.
#[must_use]
pub fn median(repeats: &[f64]) -> Option<Median> {
    let mut sorted = repeats.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let value = match n {
        0 => return None,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    };
    let interval = outermost(n).map(|cut| (sorted[cut], sorted[n - 1 - cut]));
    Some(Median { value, interval })
}

/// How many repeats may be left out at either end: so many lie beyond the true median by chance (a coin thrown for
/// each) with less than half the doubt.
fn outermost(n: usize) -> Option<usize> {
    if n > EXACT_MOST {
        let n = n as f64;
        return below(n / 2.0 - NORMAL * (n / 4.0).sqrt() - 0.5);
    }
    let (mut beyond, mut choose) = (0.0, 0.5f64.powi(i32::try_from(n).ok()?));
    let mut cut = None;
    for k in 0..n {
        beyond += choose;
        if beyond > DOUBT / 2.0 {
            return cut;
        }
        cut = Some(k);
        choose *= (n - k) as f64 / (k + 1) as f64;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_takes_the_ranks_of_the_tables() {
        // Ranks from 1 as in tables of the binomial distribution with 95 %.
        for (n, ranks) in [
            (5, None),
            (6, Some((1, 6))),
            (8, Some((1, 8))),
            (9, Some((2, 8))),
            (12, Some((3, 10))),
            (20, Some((6, 15))),
            (30, Some((10, 21))),
            (100, Some((40, 61))),
            (101, Some((41, 61))),
            (2000, Some((956, 1045))),
        ] {
            let repeats: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let expected = ranks.map(|(low, high)| (f64::from(low), f64::from(high)));
            assert_eq!(median(&repeats).and_then(|m| m.interval), expected, "{n}");
        }
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        let value = |repeats: &[f64]| median(repeats).map(|median| median.value);
        assert_eq!(value(&[3.0]), Some(3.0));
        assert_eq!(value(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(value(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }
}
