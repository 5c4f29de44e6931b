//! What happened during a run and when, for all charts over time.

use crate::picture::chart::Mark;
use crate::report::summary::Summary;

/// More of them would cover the lines.
const MOST: usize = 20;

/// Losses of agents, times in which one was unreachable, outages, and intervals that are not whole.
pub(super) fn of(summary: &Summary) -> Vec<Mark> {
    let mut marks = Vec::new();
    for agent in &summary.agents {
        if let Some(at_s) = agent.lost_at_s {
            marks.push(mark(at_s, at_s, format!("{} lost", agent.name)));
        }
        for span in &agent.unreachable {
            marks.push(mark(span.from_s, span.until_s, format!("{} unreachable", agent.name)));
        }
    }
    for outage in &summary.outages {
        let label = format!("outage: {} clients", outage.clients);
        marks.push(mark(outage.t_s, outage.t_s + outage.length_s, label));
    }
    for interval in summary.intervals.iter().filter(|interval| !interval.complete) {
        let until_s = interval.t_s + interval.width_s;
        match marks.last_mut() {
            Some(last) if last.label == INCOMPLETE && last.until_s >= interval.t_s => {
                last.until_s = until_s;
            }
            _ => marks.push(mark(interval.t_s, until_s, INCOMPLETE.to_owned())),
        }
    }
    marks.truncate(MOST);
    marks
}

const INCOMPLETE: &str = "incomplete";

fn mark(from_s: f64, until_s: f64, label: String) -> Mark {
    Mark { from_s, until_s, label }
}
