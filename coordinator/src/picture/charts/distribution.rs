//! How response times are distributed: all samples of all agents, from the merged histogram.

use hdrhistogram::Histogram;

use super::over_time::LOG_MS;
use crate::picture::chart::Chart;
use crate::picture::series::Points;
use crate::picture::source::RunFiles;

/// Latency by percentile, on an axis that gives each further nine as much room as the one before.
pub(super) fn percentiles(files: &RunFiles) -> Option<Chart> {
    let response = files.response.as_ref().filter(|h| !h.is_empty())?;
    // Beyond this there is less than one sample.
    let nines_most = (response.len() as f64).log10();
    let shown = (1..=5u32).filter(|&nines| nines == 1 || f64::from(nines) <= nines_most);
    let ticks = [(0.0, "min".to_owned()), (2f64.log10(), "p50".to_owned())];
    let ticks = ticks.into_iter().chain(shown.map(|nines| (f64::from(nines), named(nines))));
    let (places, names) = ticks.unzip();
    let titles = ["percentile", LOG_MS];
    let mut chart = Chart::new("percentiles", "Latency by percentile", titles)
        .log_y()
        .ticks(places, names)
        .noted("Each step to the right is ten times as rare.")
        .line("response time", &curve(response, nines_most));
    if let Some(service) = files.service.as_ref().filter(|h| !h.is_empty()) {
        chart = chart.line("service time", &curve(service, nines_most));
    }
    Some(chart)
}

/// Share of all transactions by latency, in steps of a tenth of a power of ten.
pub(super) fn density(files: &RunFiles) -> Option<Chart> {
    let response = files.response.as_ref().filter(|h| !h.is_empty())?;
    let titles = [LOG_MS, "% of transactions"];
    let mut chart = Chart::new("distribution", "Latency distribution", titles)
        .log_x()
        .noted("Each point is a tenth of a power of ten. Two hills are two kinds of transactions.")
        .line("response time", &shares(response));
    if let Some(service) = files.service.as_ref().filter(|h| !h.is_empty()) {
        chart = chart.line("service time", &shares(service));
    }
    Some(chart)
}

/// The percentile with so many nines.
fn named(nines: u32) -> String {
    match nines {
        1 => "p90".to_owned(),
        2 => "p99".to_owned(),
        more => format!("p99.{}", "9".repeat(more as usize - 2)),
    }
}

/// In steps of a twentieth of a nine, as far as there are samples, at most five nines.
fn curve(histogram: &Histogram<u64>, nines_most: f64) -> Points {
    let steps = (0..=100u32).map(|step| f64::from(step) / 20.0);
    let point = |nines: f64| {
        let us = histogram.value_at_quantile(1.0 - 10f64.powf(-nines));
        (nines, Some(us as f64 / 1000.0))
    };
    steps.take_while(|nines| *nines <= nines_most).map(point).collect()
}

/// At the middle of each tenth of a power of ten that has samples, or lies between such.
fn shares(histogram: &Histogram<u64>) -> Points {
    // 1 us to more than the hour that histograms hold.
    let borders: Vec<f64> = (0..=96u32).map(|tenth| 10f64.powf(f64::from(tenth) / 10.0)).collect();
    let mut counts = vec![0u64; borders.len()];
    let mut here = 0;
    for step in histogram.iter_recorded() {
        while here + 1 < borders.len() && step.value_iterated_to() as f64 >= borders[here + 1] {
            here += 1;
        }
        counts[here] += step.count_at_value();
    }
    let all = histogram.len() as f64;
    let middle_ms = |border: f64| border * 10f64.powf(0.05) / 1000.0;
    let shares = borders.iter().zip(&counts);
    let shares: Points = shares
        .map(|(&border, &count)| (middle_ms(border), Some(100.0 * count as f64 / all)))
        .collect();
    let first = counts.iter().position(|&count| count > 0).unwrap_or(0);
    let last = counts.iter().rposition(|&count| count > 0).unwrap_or(0);
    shares[first.saturating_sub(1)..shares.len().min(last + 2)].to_vec()
}
