//! The answer as a page.

use super::{Answer, Step, sentence};
use crate::picture::{Curve, Curves, Sheet};
use crate::report::summary::LatencyMs;

/// The load curve.
#[must_use]
pub fn page(answer: &Answer) -> Sheet {
    let mut steps: Vec<&Step> = answer.steps.iter().collect();
    steps.sort_by(|a, b| a.rate_tps.total_cmp(&b.rate_tps));
    let curve = |figure: fn(&LatencyMs) -> f64| {
        steps.iter().map(|step| (step.rate_tps, step.latency_ms.as_ref().map(figure))).collect()
    };
    let rates = |figure: fn(&Step) -> f64| {
        steps.iter().map(|step| (step.rate_tps, Some(figure(step)))).collect()
    };
    let latency = Curves {
        id: "latency",
        title: "Response time by rate".to_owned(),
        note: format!("From when a transaction was due. The objective is {}.", answer.objective),
        axes: ["transactions per second asked for", "ms, logarithmic"].map(str::to_owned),
        log_y: true,
        lines: vec![
            Curve::new("p50", curve(|ms| ms.p50)),
            Curve::new("p99", curve(|ms| ms.p99)),
            Curve::new("max", curve(|ms| ms.max)),
        ],
        ..Curves::default()
    };
    let achieved = Curves {
        id: "achieved",
        title: "Achieved rate".to_owned(),
        note: "Where the lines part, the server is behind.".to_owned(),
        axes: ["transactions per second asked for", "transactions per second done"]
            .map(str::to_owned),
        log_y: false,
        lines: vec![
            Curve::new("done", rates(|step| step.achieved_tps)),
            Curve::new("asked for", rates(|step| step.rate_tps)),
        ],
        ..Curves::default()
    };
    let heading = ["asked", "achieved", "p50 ms", "p99 ms", "holds", "results"];
    let row = |step: &&Step| {
        let ms = |figure: fn(&LatencyMs) -> f64| {
            step.latency_ms.as_ref().map_or_else(String::new, |ms| format!("{:.3}", figure(ms)))
        };
        vec![
            format!("{:.1}", step.rate_tps),
            format!("{:.1}", step.achieved_tps),
            ms(|ms| ms.p50),
            ms(|ms| ms.p99),
            step.because.as_ref().map_or_else(|| "yes".to_owned(), |why| format!("no: {why}")),
            step.folder.clone(),
        ]
    };
    Sheet {
        title: format!("Capacity with {}", answer.objective),
        found: sentence(answer),
        good: answer.complete && answer.found_tps.is_some(),
        curves: vec![latency, achieved],
        heading: heading.map(str::to_owned).to_vec(),
        rows: steps.iter().map(row).collect(),
    }
}
