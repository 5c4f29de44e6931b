//! Two sets of repeats: by which factor the second differs from the first.
//!
//! The estimate is the median of all ratios of one of the second to one of the first (Hodges and Lehmann), its interval
//! those ratios whose ranks the exact distribution of Mann and Whitney's count leaves. It holds however the repeats
//! are distributed, if they are independent and the two sets differ by a factor.

use super::{DOUBT, EXACT_MOST, NORMAL, below};

/// How a second set stands to the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The factor.
    pub value: f64,
    /// With 95 % confidence; `None` where there are too few repeats for any (4 against 4 are enough).
    pub interval: Option<(f64, f64)>,
}

impl Ratio {
    /// The two differ: chance alone gives such a difference to less than one of twenty pairs of equal systems.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// Compares positive figures; `None` if a set is empty or a figure is not positive.
#[must_use]
pub fn ratio(first: &[f64], second: &[f64]) -> Option<Ratio> {
    let positive = |set: &[f64]| !set.is_empty() && set.iter().all(|x| x.is_finite() && *x > 0.0);
    if !positive(first) || !positive(second) {
        return None;
    }
    let mut ratios: Vec<f64> =
        second.iter().flat_map(|b| first.iter().map(move |a| b / a)).collect();
    ratios.sort_by(f64::total_cmp);
    let n = ratios.len();
    let value = match n % 2 {
        1 => ratios[n / 2],
        _ => (ratios[n / 2 - 1] * ratios[n / 2]).sqrt(),
    };
    let interval = ranks(first.len(), second.len()).map(|cut| (ratios[cut], ratios[n - 1 - cut]));
    Some(Ratio { value, interval })
}

/// How many of the sorted ratios may be left out at either end.
fn ranks(first: usize, second: usize) -> Option<usize> {
    // The smaller set first: the coefficients stay exact for longer.
    let (few, many) = (first.min(second), first.max(second));
    if many > EXACT_MOST && few * many > EXACT_MOST {
        return normal_cut(few, many);
    }
    let ways = ways(few, many);
    let all: f64 = ways.iter().sum();
    let (mut beyond, mut cut) = (0.0, None);
    for (count, ways) in ways.iter().enumerate() {
        beyond += ways / all;
        if beyond > DOUBT / 2.0 {
            break;
        }
        cut = Some(count);
    }
    cut
}

/// The same from the normal distribution that the count comes close to.
fn normal_cut(first: usize, second: usize) -> Option<usize> {
    let (n, m) = (first as f64, second as f64);
    let cut = n * m / 2.0 - NORMAL * (n * m * (n + m + 1.0) / 12.0).sqrt() - 0.5;
    below(cut)
}

/// In how many orders of both sets together so many pairs stand the wrong way round: coefficients of Gauss's binomial.
fn ways(first: usize, second: usize) -> Vec<f64> {
    let most = first * second;
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for i in 1..=first {
        // Times (1 - q^(second + i)), divided by (1 - q^i).
        for count in (second + i..=most).rev() {
            ways[count] -= ways[count - second - i];
        }
        for count in i..=most {
            ways[count] += ways[count - i];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_orders_are_those_of_the_tables() {
        assert_eq!(ways(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(ways(3, 2), [1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0]);
        assert!((ways(6, 6).iter().sum::<f64>() - 924.0).abs() < 1e-9);
    }

    #[test]
    fn critical_counts_are_those_of_the_tables() {
        // Mann-Whitney, two-sided 5 %: the largest count that is still significant.
        for (first, second, count) in [
            (3, 3, None),
            (3, 5, Some(0)),
            (4, 4, Some(0)),
            (5, 5, Some(2)),
            (6, 6, Some(5)),
            (8, 10, Some(17)),
            (10, 10, Some(23)),
        ] {
            assert_eq!(ranks(first, second), count, "{first} and {second}");
        }
    }

    #[test]
    fn large_sets_have_ranks_that_join_those_of_small_ones() {
        for (few, many) in [(60, 100), (100, 100), (4, 100), (2, 100), (1, 100)] {
            assert_eq!(ranks(few, many), ranks(many, few), "{few} and {many}");
            let (exact, near) = (ranks(few, many), normal_cut(few, many));
            let apart = match (exact, near) {
                (Some(exact), Some(near)) => exact.abs_diff(near),
                (exact, near) => usize::from(exact != near) * exact.or(near).unwrap_or(0),
            };
            assert!(apart <= 6, "{few} and {many}: {exact:?}, nearly {near:?}");
        }
        let set = |factor: f64| (0..500).map(|n| factor * f64::from(n % 50 + 100)).collect();
        let (first, second): (Vec<f64>, Vec<f64>) = (set(1.0), set(1.1));
        let found = ratio(&first, &second).and_then(|found| found.interval).expect("many");
        assert!(found.0 < 1.1 && 1.1 < found.1 && found.0 > 1.05, "{found:?}");
        let alike = ratio(&first, &first).expect("positive");
        assert!(!alike.is_significant(), "{alike:?}");
    }

    #[test]
    fn a_factor_is_found_with_its_interval() {
        let first = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
        let second: Vec<f64> = first.iter().map(|x| x * 1.05).collect();
        let found = ratio(&first, &second).expect("positive");
        assert!((found.value - 1.05).abs() < 0.005, "{found:?}");
        let (low, high) = found.interval.expect("six are enough");
        assert!(low < 1.05 && 1.05 < high && low > 1.03, "{found:?}");
        assert!(found.is_significant());
        let same = ratio(&first, &first).expect("positive");
        assert!(!same.is_significant(), "{same:?}");
        assert_eq!(ratio(&first, &[]), None);
        assert_eq!(ratio(&first, &[0.0]), None);
        assert_eq!(ratio(&first[..3], &second[..3]).expect("positive").interval, None);
    }
}
