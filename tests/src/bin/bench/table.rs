//! The table: one line for each case and pgbench, figures as the median ratio pgsurge : pgbench with its
//! range over the rounds, and whether the goal was reached.

use super::rounds::{Figures, Outcome, Tool};

/// The first line.
pub fn header() -> String {
    format!(
        "{:26} {:10} {:>8} {:>8} {:>23} {:>23} {:>23} {:>23} {:>23}",
        "case",
        "against",
        "cpu us",
        "theirs",
        "cpu/transaction",
        "in user mode",
        "throughput",
        "connecting",
        "peak memory"
    )
}

/// One line for each pgbench that took part.
pub fn lines(outcome: &Outcome) -> Vec<String> {
    let (_, ours) = &outcome.tools[0];
    let others = outcome.tools.iter().filter(|(tool, _)| *tool != Tool::Pgsurge);
    others.map(|(tool, theirs)| line(outcome, ours, *tool, theirs)).collect()
}

fn line(outcome: &Outcome, ours: &[Figures], tool: Tool, theirs: &[Figures]) -> String {
    let ratios = |figure: fn(&Figures) -> f64| -> Vec<f64> {
        ours.iter().zip(theirs).map(|(ours, theirs)| figure(ours) / figure(theirs)).collect()
    };
    let middle = |side: &[Figures]| median(side.iter().map(|figures| figures.cpu_us).collect());
    let reach = &outcome.case.reach;
    format!(
        "{:26} {:10} {:8.2} {:8.2} {:>23} {:>23} {:>23} {:>23} {:>23}{}",
        outcome.name,
        format!("{tool:?}").to_lowercase(),
        middle(ours),
        middle(theirs),
        cell(ratios(|f| f.cpu_us), reach.cpu, f64::le),
        cell(ratios(|f| f.user_us), reach.user, f64::le),
        cell(ratios(|f| f.tps), reach.tps, f64::ge),
        cell(ratios(|f| f.connect_ms), reach.connect, f64::le),
        cell(ratios(|f| f.memory_kib), reach.memory, f64::le),
        pooler(ours, theirs),
    )
}

/// How busy the pooler was under either, in cores.
fn pooler(ours: &[Figures], theirs: &[Figures]) -> String {
    let cores = |side: &[Figures]| -> Option<f64> {
        side.iter().map(|figures| figures.pooler_cores).collect::<Option<_>>().map(median)
    };
    match (cores(ours), cores(theirs)) {
        (Some(ours), Some(theirs)) => format!("  pooler's cores {ours:.2} against {theirs:.2}"),
        _ => String::new(),
    }
}

/// `0.71 (0.69-0.73) ok`: the median, the range, and the goal if there is one.
fn cell(ratios: Vec<f64>, goal: Option<f64>, reaches: fn(&f64, &f64) -> bool) -> String {
    let lowest = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let median = median(ratios);
    let mark = match goal {
        None => "  ",
        Some(goal) if reaches(&median, &goal) => "ok",
        Some(_) => "--",
    };
    format!("{median:.2} ({lowest:.2}-{highest:.2}) {mark}")
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    if figures.len() % 2 == 1 {
        figures[middle]
    } else {
        f64::midpoint(figures[middle - 1], figures[middle])
    }
}
