//! Who takes over the clients of a lost part: a spare agent, or else the others of the run.

use std::time::Duration;

use pgsurge_common::ids::{AgentId, WorkerId};
use pgsurge_common::plan::split::{Share, move_share};
use pgsurge_proto::message::Command;

use super::{Driver, Seat, Took, id};
use crate::fleet::{AgentHandle, ClockSummary};
use crate::run::RunEvent;
use crate::run::machine::Heir;

impl Driver {
    /// Finds agents for the clients of a part and lets them prepare; they have seats then, in the order in
    /// which they are returned.
    pub(super) async fn place(&mut self, lost: AgentId, among: &[AgentId]) -> Vec<Heir> {
        if let Some((spare, slowest)) = self.take_spare() {
            self.seat_heirs(lost, vec![(spare, id(self.seats.len()))]).await;
            return vec![Heir::Spare(slowest)];
        }
        let handle = |host: &AgentId| (self.seats[host.0 as usize].handle.clone(), *host);
        let seated = self.seat_heirs(lost, among.iter().map(handle).collect()).await;
        among.iter().take(seated).copied().map(Heir::Agent).collect()
    }

    /// An agent that has attached and has nothing to do joins the run.
    fn take_spare(&self) -> Option<(AgentHandle, Duration)> {
        let number = id(self.seats.len());
        let run = &self.spec.plan.run_id;
        let spares = self.seats.first()?.handle.spares();
        let spare =
            spares.into_iter().find(|spare| spare.join(run, number, self.sender.clone()))?;
        let slowest = spare.clock().map_or(0, |reading| reading.slowest_ns);
        Some((spare, Duration::from_nanos(slowest)))
    }

    /// Spreads the clients; returns how many agents got some.
    async fn seat_heirs(&mut self, lost: AgentId, heirs: Vec<(AgentHandle, AgentId)>) -> usize {
        let cores: Vec<_> = heirs.iter().map(|(handle, _)| handle.facts().cores).collect();
        let (share, split) = (self.seat(lost).share.clone(), self.spec.options.split);
        let shares = move_share(&self.spec.plan.load, &share, &cores, split, self.next_worker());
        let seated = shares.len();
        for ((handle, host), share) in heirs.into_iter().zip(shares) {
            self.seat_heir(lost, (handle, host), share).await;
        }
        seated
    }

    async fn seat_heir(
        &mut self,
        lost: AgentId,
        (handle, host): (AgentHandle, AgentId),
        share: Share,
    ) {
        let part = id(self.seats.len());
        let mut seat = Seat::new(handle, host, share);
        seat.took = Some(Took { from: lost, joined: None });
        self.seats.push(seat);
        self.mark(part, |merger, part| merger.moving(part, host, lost)).await;
        self.prepare(part);
        let (clients, from, name) = (self.clients(part), self.name(lost), self.name(part));
        self.tell(RunEvent::Joins(name.clone())).await;
        let line = format!("agent {name} takes over {clients} of agent {from}");
        self.tell(RunEvent::Warning(line)).await;
    }

    /// Workers of parts that were taken over have numbers that nobody had before.
    fn next_worker(&self) -> WorkerId {
        let workers = self.seats.iter().flat_map(|seat| &seat.share.workers);
        WorkerId(workers.map(|worker| worker.worker.0 + 1).max().unwrap_or(0))
    }

    /// The clients of a part as messages name them.
    pub(super) fn clients(&self, part: AgentId) -> String {
        let share = &self.seats[part.0 as usize].share;
        let first = share.first_client().0;
        match share.clients() {
            1 => format!("client {first}"),
            clients => format!("clients {first} to {}", first + clients - 1),
        }
    }

    /// Names the instant at which clients that were taken over begin.
    pub(super) async fn join(&mut self, part: AgentId, attempt: u32, after: Duration) {
        let interval = self.rules.interval_at(after);
        self.mark(part, |merger, part| merger.join(part, interval)).await;
        let started = self.started.unwrap_or_default();
        let seat = self.seat(part);
        let Some(reading) = seat.handle.clock() else { return };
        if seat.host == part {
            seat.clock = ClockSummary::at_start(&reading);
        }
        let at_ns = reading.to_agent_ns(u64::try_from(started.as_nanos()).unwrap_or(u64::MAX));
        let join_us = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
        seat.handle.command(part, Command::Start { attempt, at_ns, join_us });
    }

    pub(super) async fn joined(&mut self, part: AgentId, after: Duration) {
        let at_s = after.as_secs_f64() - self.spec.plan.load.warmup.as_secs_f64();
        let Some(took) = &mut self.seat(part).took else { return };
        took.joined = Some(after);
        let from = took.from;
        let line = format!(
            "{} of agent {} go on on agent {} from second {at_s:.0} on",
            self.clients(part),
            self.name(from),
            self.name(part),
        );
        self.tell(RunEvent::Warning(line)).await;
    }
}
