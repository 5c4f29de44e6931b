//! One line for programs that tune something (`--metrics-line`): the same keys in the same order in every run.

use pgsurge_common::inference::noise;

use super::RunResult;

/// `metrics: tps=... p50_ms=... p99_ms=... failed=... noise=... valid=...`; what a run did not yield is `nan`.
#[must_use]
pub fn line(run: &RunResult) -> String {
    let response = Some(&run.merged.response).filter(|h| !h.is_empty());
    let ms = |q| match response {
        Some(h) => format!("{:.3}", h.quantile_us(q) as f64 / 1000.0),
        None => "nan".to_owned(),
    };
    let counts = &run.merged.measured;
    let all = counts.transactions + counts.failed();
    let failed = if all > 0 { counts.failed() as f64 / all as f64 } else { 0.0 };
    // The last interval is partial.
    let whole = run.timeline.split_last().map_or(&[][..], |(_, whole)| whole);
    let tps: Vec<f64> = whole.iter().map(|i| i.transactions as f64 / i.width_s).collect();
    let noise = noise(&tps).map_or_else(|| "nan".to_owned(), |noise| format!("{noise:.4}"));
    format!(
        "metrics: tps={:.6} p50_ms={} p99_ms={} failed={failed:.6} noise={noise} valid={}",
        run.tps(counts.transactions),
        ms(0.50),
        ms(0.99),
        run.verdict.is_valid()
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::fixture;
    use super::*;
    use crate::report::TimelineEntry;

    #[test]
    fn every_run_has_the_same_keys() {
        let keys = |line: &str| -> Vec<String> {
            let pairs = line.strip_prefix("metrics: ").expect("it begins so").split(' ');
            pairs.map(|pair| pair.split_once('=').expect("a pair").0.to_owned()).collect()
        };
        let known = ["tps", "p50_ms", "p99_ms", "failed", "noise", "valid"];
        let mut run = fixture::local();
        assert_eq!(keys(&line(&run)), known);
        assert!(line(&run).ends_with("noise=nan valid=true"), "{}", line(&run));
        run.merged.response = pgsurge_common::stats::Histogram::new();
        run.merged.duration = Duration::ZERO;
        assert_eq!(keys(&line(&run)), known);
        assert!(line(&run).contains("tps=0.000000 p50_ms=nan p99_ms=nan"), "{}", line(&run));
    }

    #[test]
    fn noise_is_that_of_the_whole_intervals() {
        let mut run = fixture::local();
        let entry = run.timeline[0].clone();
        let second = |n: u32, transactions| TimelineEntry {
            t_s: n.into(),
            width_s: 1.0,
            transactions,
            ..entry.clone()
        };
        run.timeline = (0..40).map(|n| second(n, 100)).collect();
        run.timeline.push(TimelineEntry { width_s: 0.01, ..second(40, 1) });
        assert!(line(&run).contains(" noise=0.0000 "), "{}", line(&run));
    }
}
