//! One part of a run that this agent has: a load of its own, with clients of its own.
//!
//! Pure but for the load: turns commands about the part into calls and answers.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use pgsurge_common::ids::AgentId;
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_proto::message::Report;
use tokio::sync::mpsc::UnboundedReceiver;

use super::engine::{Engine, RunningLoad};
use super::run::Epoch;
use crate::load::{LoadEvent, Stop, WrittenLog};

/// See the module.
pub(super) struct Part<L> {
    pub id: AgentId,
    clients: u32,
    load: Option<L>,
    events: Option<UnboundedReceiver<LoadEvent>>,
    begins: Option<Instant>,
    /// The files that its load writes; whole once that has ended.
    pub logs: Vec<WrittenLog>,
}

impl<L: RunningLoad> Part<L> {
    /// Begins to open the sessions.
    pub fn prepare<E: Engine<Load = L>>(
        id: AgentId,
        engine: &mut E,
        plan: Plan,
        (share, at_work): (&Share, u32),
    ) -> Result<Self, String> {
        let (load, events) = engine.prepare(Arc::new(plan), share, at_work)?;
        let (clients, logs) = (share.clients(), load.logs());
        Ok(Self { id, clients, load: Some(load), events: Some(events), begins: None, logs })
    }

    /// Its clients, as long as they have sessions.
    pub fn clients(&self) -> u32 {
        if self.is_loaded() { self.clients } else { 0 }
    }

    /// Load may be on, or sessions open.
    pub fn is_loaded(&self) -> bool {
        self.load.is_some()
    }

    /// Clients begin `join_us` after the common start, if that lies ahead.
    pub fn start(&mut self, attempt: u32, at_ns: i64, join_us: u64, epoch: Epoch) -> Report {
        let after = Duration::from_micros(join_us);
        let distance = Duration::from_nanos(at_ns.unsigned_abs());
        let start =
            if at_ns < 0 { epoch.0.checked_sub(distance) } else { epoch.0.checked_add(distance) };
        let begins = start.and_then(|start| start.checked_add(after));
        let begin_ns = i128::from(at_ns) + i128::from(join_us) * 1000;
        let lead_ns = begin_ns - i128::from(epoch.now_ns());
        let lead_ns = i64::try_from(lead_ns).unwrap_or(i64::MAX);
        if let (Some(load), Some(start), Some(begins), true) =
            (&self.load, start, begins, lead_ns > 0)
        {
            load.join(start, after);
            self.begins = Some(begins);
        }
        Report::Armed { attempt, lead_ns }
    }

    pub fn call_off(&mut self, attempt: u32) -> Report {
        let armed = self.begins.take().is_some();
        let begun = armed && self.load.as_ref().is_some_and(|load| !load.disarm());
        Report::CalledOff { attempt, begun }
    }

    /// Ends the load in one way or the other.
    pub fn stop(&self, stop: Stop) {
        if let Some(load) = &self.load {
            load.stop(stop);
        }
    }

    /// What is in flight finishes, what has not begun never will.
    pub fn leave(&self) {
        let on = self.begins.is_some_and(|begins| begins <= Instant::now());
        self.stop(if on { Stop::Drain } else { Stop::Now });
    }

    /// The load's next event; never where there is no load.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<LoadEvent>> {
        match &mut self.events {
            Some(events) => events.poll_recv(cx),
            None => Poll::Pending,
        }
    }

    /// The load has ended.
    pub fn ended(&mut self) {
        (self.load, self.events) = (None, None);
    }
}
