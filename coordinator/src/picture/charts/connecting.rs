//! How the sessions came about, before the load.

use crate::picture::chart::Chart;
use crate::picture::series::Points;
use crate::report::summary::Summary;

/// Sessions over the time of the connection phase; none where there was one moment only.
pub(super) fn ramp(summary: &Summary) -> Option<Chart> {
    let ramp = &summary.connections.ramp;
    if ramp.len() < 2 {
        return None;
    }
    let begin = std::iter::once((0.0, Some(0.0)));
    let points: Points =
        begin.chain(ramp.iter().map(|point| (point.t_s, Some(point.sessions as f64)))).collect();
    let (obtained, wanted) = (summary.connections.obtained, summary.connections.wanted);
    let chart = Chart::new(
        "ramp",
        "Sessions opened before the load",
        ["seconds since each load host began to connect", "sessions"],
    );
    Some(chart.noted(format!("{obtained} of {wanted} were obtained.")).line("sessions", &points))
}
