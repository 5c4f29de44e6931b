//! How far the mean of one run's intervals may be off, though each depends on the one before.
//!
//! Means of batches: neighbours that depend on each other fall into the same batch, so that batches hardly do. What runs
//! differ by among each other is not in it.

/// So many batches; the quantile of Student's distribution belongs to it. Few and long ones: with ten, 16 of 100
/// intervals of runs of half a minute miss the truth (neighbours correlated by 0.6), with five 8.
const BATCHES: usize = 5;
const STUDENT: f64 = 2.776;
/// Intervals a batch at least: with fewer the batches still depend on each other.
const BATCH_LEAST: usize = 6;

/// Half the width of the 95 % interval of the mean, as a share of the mean; `None` for less than 30 intervals or a
/// mean of zero. What does not fill the batches is left out at the beginning.
#[must_use]
pub fn noise(intervals: &[f64]) -> Option<f64> {
    let length = intervals.len() / BATCHES;
    if length < BATCH_LEAST {
        return None;
    }
    let used = &intervals[intervals.len() - length * BATCHES..];
    let means: Vec<f64> = used.chunks(length).map(mean).collect();
    let all = mean(&means);
    let squares: f64 = means.iter().map(|m| (m - all) * (m - all)).sum();
    let error = (squares / (BATCHES * (BATCHES - 1)) as f64).sqrt();
    (all > 0.0).then(|| STUDENT * error / all)
}

/// How many intervals at the beginning are not like the rest, as those of a server that warms up; 0 where the mean
/// hardly changes without them, or there is too little to tell.
///
/// The cut is where the standard error of what is left is least (MSER), in the first half only.
#[must_use]
pub fn unsettled(intervals: &[f64]) -> usize {
    let n = intervals.len();
    let (mut sum, mut squares) = (0.0, 0.0);
    let (mut cut, mut least) = (0, f64::INFINITY);
    for (place, value) in intervals.iter().enumerate().rev() {
        sum += value;
        squares += value * value;
        let left = (n - place) as f64;
        let error = (squares - sum * sum / left) / (left * left);
        if place <= n / 2 && error <= least {
            (cut, least) = (place, error);
        }
    }
    let rest = &intervals[cut..];
    let Some(noise) = noise(rest) else { return 0 };
    let moved = (mean(rest) - mean(intervals)).abs();
    if moved > noise * mean(rest) { cut } else { 0 }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_has_none_and_few_intervals_say_nothing() {
        assert_eq!(noise(&[5.0; 30]), Some(0.0));
        assert_eq!(noise(&[5.0; 29]), None);
        assert_eq!(noise(&[0.0; 30]), None);
    }

    #[test]
    fn five_batches_give_the_textbooks_interval() {
        // Batch means 1 to 5: mean 3, standard error sqrt(10 / 20).
        let intervals: Vec<f64> = (1..=5).flat_map(|batch| [f64::from(batch); 7]).collect();
        let expected = 2.776 * (10.0f64 / 20.0).sqrt() / 3.0;
        assert!((noise(&intervals).expect("enough") - expected).abs() < 1e-12);
    }

    #[test]
    fn a_beginning_that_is_not_like_the_rest_is_found_and_a_steady_run_has_none() {
        let wave = |n: u32| 100.0 + f64::from(n * 7 % 5);
        let steady: Vec<f64> = (0..60).map(wave).collect();
        assert_eq!(unsettled(&steady), 0);
        let warming: Vec<f64> =
            (0..60).map(|n| if n < 12 { 30.0 + 5.0 * f64::from(n) } else { wave(n) }).collect();
        assert!((11..=13).contains(&unsettled(&warming)), "{}", unsettled(&warming));
        assert_eq!(unsettled(&warming[..20]), 0, "too short to tell");
        assert_eq!(unsettled(&[]), 0);
        assert_eq!(unsettled(&[5.0; 60]), 0);
    }
}
