//! How far the mean of one run's intervals may be off, though each depends on the one before.
//!
//! Means of batches: neighbours that depend on each other fall into the same batch, so that batches hardly do. What runs
//! differ by among each other is not in it.

/// So many batches; the quantile of Student's distribution belongs to it.
const BATCHES: usize = 10;
const STUDENT: f64 = 2.262;
/// Intervals a batch at least: with fewer the batches still depend on each other.
const BATCH_LEAST: usize = 3;

/// Half the width of the 95 % interval of the mean, as a share of the mean; `None` for less than 30 intervals or a
/// mean of zero. What does not fill the batches is left out at the beginning.
#[must_use]
pub fn noise(intervals: &[f64]) -> Option<f64> {
    let length = intervals.len() / BATCHES;
    if length < BATCH_LEAST {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let used = &intervals[intervals.len() - length * BATCHES..];
    let means: Vec<f64> = used.chunks(length).map(mean).collect();
    let all = mean(&means);
    let squares: f64 = means.iter().map(|m| (m - all) * (m - all)).sum();
    let error = (squares / (BATCHES * (BATCHES - 1)) as f64).sqrt();
    (all > 0.0).then(|| STUDENT * error / all)
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
    fn ten_batches_give_the_textbooks_interval() {
        // Batch means 1 to 10: mean 5.5, standard error sqrt(82.5 / 90).
        let intervals: Vec<f64> = (1..=10).flat_map(|batch| [f64::from(batch); 4]).collect();
        let expected = 2.262 * (82.5f64 / 90.0).sqrt() / 5.5;
        assert!((noise(&intervals).expect("enough") - expected).abs() < 1e-12);
    }
}
