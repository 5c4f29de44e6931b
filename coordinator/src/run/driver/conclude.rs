//! The end of a run in domain terms: its outcome, or why there was none.

use std::time::Instant;

use pgsurge_common::ids::AgentId;
use pgsurge_common::stats::ConnectStats;
use pgsurge_proto::message::Ready;

use super::{Driver, Took, id, now};
use crate::run::machine::Failure;
use crate::run::{
    AgentOutcome, Missing, OnAgentLoss, RunError, RunEvent, RunOutcome, TookOver, connections,
};

impl Driver {
    pub(super) fn ready(&self) -> impl Iterator<Item = &Ready> {
        self.seats.iter().filter_map(|seat| seat.ready.as_ref())
    }

    pub(super) fn missing(&self, agents: &[AgentId]) -> Missing {
        Missing(agents.iter().map(|agent| self.name(*agent)).collect())
    }

    pub(super) fn error(&self, failure: Failure) -> RunError {
        match failure {
            Failure::Interrupted => RunError::Interrupted,
            Failure::TooFewSessions => {
                RunError::TooFewSessions(Box::new(connections(self.ready())))
            }
            Failure::DifferentServers => RunError::DifferentServers(self.servers()),
            Failure::NotReady(missing) => RunError::NotReady {
                missing: self.missing(&missing),
                waited: self.rules.prepare_within,
            },
            Failure::NoClock(missing) => RunError::NoClock {
                missing: self.missing(&missing),
                waited: self.rules.answer_within,
            },
            Failure::NotArmed { attempt, missing } => {
                RunError::NotArmed { missing: self.missing(&missing), attempts: attempt }
            }
            Failure::BeganAlone(agent) => RunError::BeganAlone(self.name(agent)),
            Failure::Lost(agent, reason) => RunError::Lost { agent: self.name(agent), reason },
        }
    }

    fn servers(&self) -> Vec<String> {
        let seats = self.seats.iter().filter_map(|seat| {
            let server = seat.ready.as_ref()?.connect.server_identity.as_ref()?;
            Some(format!("{}: {server}", seat.handle.facts().name))
        });
        seats.collect()
    }

    /// Only after load was on.
    pub(super) async fn outcome(&mut self) -> RunOutcome {
        let mut merger = self.merger.take().expect("taken only here, at the end of the run");
        merger.close();
        while let Some(ready) = merger.next_ready() {
            self.tell(RunEvent::Interval(Box::new(ready))).await;
        }
        let elapsed = now(&self.seats).saturating_sub(self.started.unwrap_or_default());
        let any_gone = self.seats.iter().any(|seat| seat.lost.is_some() || seat.left.is_some());
        let fail = self.rules.on_agent_loss == OnAgentLoss::Fail;
        RunOutcome {
            agents: self.agents(),
            merged: merger.finish(),
            started: Instant::now().checked_sub(elapsed).unwrap_or_else(Instant::now),
            start_attempts: self.attempts,
            stopped_after: self
                .stopped
                .map(|at| at.saturating_sub(self.started.unwrap_or_default())),
            interrupts: self.machine.interrupts(),
            aborted: self.aborted.take(),
            cut_short: any_gone && fail,
        }
    }

    fn agents(&mut self) -> Vec<AgentOutcome> {
        let warmup = self.spec.plan.load.warmup.as_secs_f64();
        let took_over = |took: &Took| TookOver {
            from: took.from,
            at_s: took.joined.map(|after| after.as_secs_f64() - warmup),
        };
        let nothing = || Ready { connect: ConnectStats::default(), direct: None };
        let agents = self.seats.iter_mut().enumerate().map(|(number, seat)| AgentOutcome {
            id: id(number),
            facts: seat.handle.facts().clone(),
            share: seat.share.clone(),
            ready: seat.ready.take().unwrap_or_else(nothing),
            clock: seat.clock,
            lost: seat.lost.take(),
            left: seat.left.take(),
            silences: std::mem::take(&mut seat.silences),
            took_over: seat.took.as_ref().map(took_over),
            logs: None,
        });
        agents.collect()
    }
}
