//! What agents say, as events of the state machine; payloads go to the merger and into the outcome.

use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::{Interval, Totals};
use pgsurge_proto::message::{OfPart, Ready, Report};

use super::{Driver, now};
use crate::fleet::{FleetEvent, Sign};
use crate::merge::{MergeError, Merger};
use crate::run::RunEvent;
use crate::run::machine::{Event, Opened};
use crate::run::outcome::Aborted;

impl Driver {
    pub(super) async fn sign(&mut self, event: FleetEvent) {
        let FleetEvent { agent, sign } = event;
        match sign {
            Sign::Report(OfPart { part, body }) => match self.seats.get(part.0 as usize) {
                Some(seat) if seat.host == agent => {
                    if seat.lost.is_none() && !seat.expelled {
                        self.report(part, body).await;
                    }
                }
                _ => {
                    let fault = format!("it reported on part {part}, which it has not");
                    self.expel(agent, fault).await;
                }
            },
            Sign::Expelled(reason) => self.event(Event::Expelled(agent, reason)).await,
            Sign::Gone(reason) => self.event(Event::Gone(agent, reason)).await,
            Sign::Clock(reading) => {
                if self.started.is_some() {
                    self.seat(agent).clock.later(&reading);
                }
                let slowest = Duration::from_nanos(reading.slowest_ns);
                self.event(Event::Clock(agent, slowest)).await;
            }
        }
    }

    async fn report(&mut self, agent: AgentId, report: Report) {
        match report {
            Report::Ready(ready) => self.opened(agent, *ready).await,
            Report::Armed { attempt, lead_ns } => {
                self.event(Event::Armed { agent, attempt, in_time: lead_ns > 0 }).await;
            }
            Report::CalledOff { attempt, begun } => {
                self.event(Event::CalledOff { agent, attempt, begun }).await;
            }
            Report::Interval(interval) => self.interval(agent, *interval).await,
            Report::Notice(notice) => {
                let agent = self.name(agent);
                self.tell(RunEvent::Notice { agent, notice }).await;
            }
            Report::AbortRun { worker: _, reason } => {
                // Others may meet the same before they are told.
                self.aborted.get_or_insert(reason.map_or(Aborted::ClientEnded, Aborted::Because));
                self.event(Event::Abort).await;
            }
            Report::Finished(totals) => self.finished(agent, *totals).await,
            Report::Fault(reason) => self.event(Event::Fault(agent, reason)).await,
            Report::Leaving(reason) => {
                let host = self.seat(agent).host;
                self.event(Event::Leaving(host, reason)).await;
            }
        }
    }

    async fn opened(&mut self, agent: AgentId, ready: Ready) {
        let opened = Opened {
            wanted: ready.connect.wanted,
            obtained: ready.connect.obtained,
            server: ready.connect.server_identity.clone(),
        };
        self.seat(agent).ready = Some(ready);
        self.event(Event::Opened(agent, opened)).await;
    }

    async fn interval(&mut self, agent: AgentId, interval: Interval) {
        let end = self.rules.end_of(interval.phase, interval.index);
        if let Some(fault) = self.foresight("an interval that ends", end) {
            return self.expel(agent, fault).await;
        }
        match self.merge(|merger| merger.accept(agent, interval)).await {
            Ok(()) => self.event(Event::Interval(agent)).await,
            Err(fault) => self.expel(agent, fault.to_string()).await,
        }
    }

    async fn finished(&mut self, agent: AgentId, totals: Totals) {
        let end = self.rules.warmup.saturating_add(Duration::from_micros(totals.last_end_us));
        if let Some(fault) = self.foresight("transactions", end) {
            return self.expel(agent, fault).await;
        }
        match self.merge(|merger| merger.finished(agent, totals)).await {
            Ok(()) => self.event(Event::Finished(agent)).await,
            Err(fault) => self.expel(agent, fault.to_string()).await,
        }
    }

    /// What is wrong with a report on a time that cannot have been yet: it would be the cluster's figure, or let the
    /// other agents seem late.
    fn foresight(&self, what: &str, time: Duration) -> Option<String> {
        let elapsed = self.started.map_or(Duration::ZERO, |at| now(&self.seats).saturating_sub(at));
        let (time_s, elapsed_s) = (time.as_secs_f64(), elapsed.as_secs_f64());
        (!self.rules.may_have_been(time, elapsed)).then(|| {
            format!(
                "it reported {what} {time_s:.1} s after the start, when {elapsed_s:.1} s were over"
            )
        })
    }

    /// An agent whose figures cannot be is not listened to any more.
    async fn expel(&mut self, part: AgentId, fault: String) {
        self.seat(part).expelled = true;
        self.seat(part).handle.forget();
        self.event(Event::Expelled(part, fault)).await;
    }

    /// Changes the merger and passes on the intervals that became ready by it.
    pub(super) async fn merge(
        &mut self,
        change: impl FnOnce(&mut Merger) -> Result<(), MergeError>,
    ) -> Result<(), MergeError> {
        let Some(merger) = &mut self.merger else { return Ok(()) };
        change(merger)?;
        while let Some(ready) = self.merger.as_mut().and_then(Merger::next_ready) {
            self.tell(RunEvent::Interval(Box::new(ready))).await;
        }
        Ok(())
    }
}
