//! Over which part of the load the figures hold, where agents were lost or left.

use super::RunResult;

/// From when on how many clients were meant to be at work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Seconds since the measured part began.
    pub from_s: f64,
    /// So many clients from then on.
    pub clients: u32,
    /// Those of them that were taken over from lost agents.
    pub moved: u32,
}

/// The changes in the order of time; none where all clients were at work all the time.
#[must_use]
pub fn steps(run: &RunResult) -> Vec<Step> {
    let mut changes: Vec<(f64, i64, i64)> = Vec::new();
    let mut clients = 0;
    for agent in &run.agents {
        let (own, took) = (i64::from(agent.clients()), agent.took_over_from.is_some());
        let moved = if took { own } else { 0 };
        if !took {
            clients += own;
        }
        let Some(ran) = agent.ran.filter(|ran| !took || ran.seconds() > 0.0) else { continue };
        if took {
            changes.push((ran.from_s, own, moved));
        }
        if agent.lost.is_some() || agent.left.is_some() {
            changes.push((ran.until_s, -own, -moved));
        }
    }
    changes.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut steps: Vec<Step> = Vec::new();
    let mut moved = 0;
    for (from_s, more, more_moved) in changes {
        (clients, moved) = (clients + more, moved + more_moved);
        let count = |clients: i64| u32::try_from(clients).unwrap_or(0);
        let step = Step { from_s, clients: count(clients), moved: count(moved) };
        match steps.last_mut().filter(|last| last.from_s >= from_s) {
            Some(last) => *last = step,
            None => steps.push(step),
        }
    }
    steps
}

/// The same as a sentence without a beginning; `None` where there is nothing to say.
#[must_use]
pub fn sentence(run: &RunResult) -> Option<String> {
    let all = run.plan.load.clients;
    let steps = steps(run);
    let part = |step: &Step| {
        let moved = match step.moved {
            0 => String::new(),
            moved => format!(" ({moved} of them moved)"),
        };
        format!("for {} of {all} clients{moved} from second {:.0} on", step.clients, step.from_s)
    };
    (!steps.is_empty()).then(|| steps.iter().map(part).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::{Lost, Span, fixture};
    use super::{sentence, steps};

    fn span(from_s: f64, until_s: f64) -> Span {
        Span { from_s, until_s }
    }

    #[test]
    fn the_figures_say_for_how_many_clients_they_hold_and_from_when_on() {
        let mut run = fixture::cluster();
        assert_eq!((steps(&run), sentence(&run)), (vec![], None));
        run.agents[1].lost = Some(Lost { at_s: 30.5, reason: "silence".into() });
        run.agents[1].ran = Some(span(0.0, 31.0));
        assert_eq!(sentence(&run).as_deref(), Some("for 667 of 1000 clients from second 31 on"),);
        for (first, clients) in [(334, 167), (501, 166)] {
            let mut heir = fixture::agent("heir", first, clients, 100);
            heir.took_over_from = Some("host-b".into());
            heir.ran = Some(span(45.0, 60.0));
            run.agents.push(heir);
        }
        // One that never got to work changes nothing.
        let mut idle = fixture::agent("idle", 0, 7, 0);
        (idle.took_over_from, idle.ran) = (Some("host-b".into()), Some(span(45.0, 45.0)));
        run.agents.push(idle);
        assert_eq!(
            sentence(&run).as_deref(),
            Some(
                "for 667 of 1000 clients from second 31 on, \
                 for 1000 of 1000 clients (333 of them moved) from second 45 on"
            ),
        );
        run.agents[3].left = Some("told to".into());
        run.agents[3].ran = Some(span(45.0, 50.0));
        assert_eq!(steps(&run).last().map(|step| (step.clients, step.moved)), Some((833, 166)));
    }
}
