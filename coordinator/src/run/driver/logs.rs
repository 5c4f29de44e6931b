//! After the load: the agents' logs, while they still belong to the run.

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::Totals;
use pgsurge_proto::message::LogReceipt;

use super::{Driver, id};
use crate::logs::{Collection, Source};
use crate::run::{RunEvent, RunOutcome};

impl Driver {
    /// Collects the logs of all agents into the outcome, if the plan wants it.
    pub(super) async fn collect(&self, outcome: &mut RunOutcome) {
        let Some(log) = self.spec.plan.log.as_ref().filter(|log| log.collect) else { return };
        let Some(place) = &self.spec.options.logs else { return };
        let interrupts = &self.spec.interrupts;
        // An interrupt that ended the load does not end this, but the next one does.
        let interrupted = interrupts.drain.is_cancelled();
        let collection = Collection {
            place: place.clone(),
            prefix: log.last_of_prefix().to_owned(),
            patience: self.rules.lease + self.rules.margin,
            ended: if interrupted { &interrupts.abort } else { &interrupts.drain }.clone(),
        };
        let hosts: Vec<usize> =
            (0..self.seats.len()).filter(|n| self.seats[*n].host == id(*n)).collect();
        let sources = hosts.iter().map(|host| self.source(*host, outcome)).collect();
        self.tell(RunEvent::CollectingLogs(hosts.len())).await;
        for (host, collected) in hosts.into_iter().zip(collection.collect(sources).await) {
            if let Some(problem) = &collected.problem {
                let name = self.name(id(host));
                let line = format!("logs of agent {name} are incomplete: {problem}");
                self.tell(RunEvent::Warning(line)).await;
            }
            outcome.agents[host].logs = Some(collected);
        }
    }

    /// An agent with all its parts.
    fn source(&self, host: usize, outcome: &RunOutcome) -> Source {
        let seat = &self.seats[host];
        let own = || (0..self.seats.len()).filter(|n| self.seats[*n].host == id(host));
        let workers = own().flat_map(|n| &self.seats[n].share.workers);
        let mut counted = LogReceipt::default();
        for totals in parts_of(outcome, own().map(id)) {
            let log = totals.log.unwrap_or_default();
            counted.files += log.files;
            counted.bytes += log.bytes;
        }
        let known = &outcome.agents[host];
        let deliveries = match (&known.lost, &known.left) {
            (Some(lost), _) => Err(format!("it was lost: {}", lost.reason)),
            (None, Some(_)) => Err("it left before the end, its files stay on its host".to_owned()),
            (None, None) => Ok(seat.handle.collect_logs(id(host))),
        };
        Source {
            agent: seat.handle.facts().name.clone(),
            workers: workers.map(|worker| worker.worker).collect(),
            counted,
            deliveries,
        }
    }
}

/// What some parts counted themselves.
fn parts_of(
    outcome: &RunOutcome,
    parts: impl Iterator<Item = AgentId>,
) -> impl Iterator<Item = &Totals> {
    let merged = &outcome.merged.agents;
    parts.filter_map(|part| merged.iter().find(|agent| agent.agent == part)?.totals.as_ref())
}
