//! Watches a run from outside and knows nothing of the machine's own state: what must be true of its actions
//! whatever happened.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use pgsurge_common::ids::AgentId;
use pgsurge_proto::message::Stop;

use super::super::{Action, Event, Heir, Note};
use super::{A, B, TICK, rules};

/// What was said and done so far.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    now: Duration,
    /// When each agent was last heard, by a clock that stands still with the coordinator.
    heard: BTreeMap<AgentId, Duration>,
    unreachable: BTreeSet<AgentId>,
    /// Parts whose agents have said themselves that they have no load any more.
    ended: BTreeSet<AgentId>,
    /// Agents that broke the protocol: what they say is no sign of life any more.
    expelled: BTreeSet<AgentId>,
    lost: BTreeSet<AgentId>,
    stopped: BTreeMap<AgentId, Stop>,
    /// The agent that has each part.
    hosts: Vec<AgentId>,
    over: bool,
}

impl Witness {
    pub(super) fn new(now: Duration) -> Self {
        Self {
            now,
            heard: [(A, now), (B, now)].into(),
            unreachable: BTreeSet::new(),
            ended: BTreeSet::new(),
            expelled: BTreeSet::new(),
            lost: BTreeSet::new(),
            stopped: BTreeMap::new(),
            hosts: vec![A, B],
            over: false,
        }
    }

    /// An event is about to happen.
    pub(super) fn see(&mut self, now: Duration, event: &Event) {
        let gap = now.saturating_sub(self.now);
        if gap >= Duration::from_secs(1) {
            self.heard.values_mut().for_each(|heard| *heard += gap);
        }
        self.now = now;
        match event {
            Event::Heard(agent) if !self.expelled.contains(agent) => {
                self.heard.insert(*agent, now);
                self.unreachable.remove(agent);
            }
            Event::Behind => {
                let silent = &self.unreachable;
                let others = self.heard.iter_mut().filter(|(agent, _)| !silent.contains(agent));
                others.for_each(|(_, heard)| *heard = now);
            }
            Event::Expelled(part, _) => {
                self.expelled.insert(self.hosts[part.0 as usize]);
            }
            Event::Finished(part) | Event::Fault(part, _) => {
                self.ended.insert(*part);
            }
            Event::Gone(agent, _) => self.ended.extend(self.parts_of(*agent)),
            Event::Placed { by, .. } => {
                for heir in by {
                    let next = AgentId(u32::try_from(self.hosts.len()).expect("a few"));
                    match heir {
                        Heir::Agent(host) => self.hosts.push(*host),
                        Heir::Spare(_) => {
                            self.hosts.push(next);
                            self.heard.insert(next, now);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn parts_of(&self, agent: AgentId) -> Vec<AgentId> {
        let parts = (0..).map(AgentId).zip(&self.hosts).filter(|(_, host)| **host == agent);
        parts.map(|(part, _)| part).collect()
    }

    fn silent(&self, agent: AgentId) -> Duration {
        self.now.saturating_sub(self.heard[&agent])
    }

    /// Judges what the machine answered.
    pub(super) fn judge(&mut self, actions: &[Action]) {
        for action in actions {
            assert!(!self.over, "nothing follows the end: {action:?}");
            match action {
                Action::Note(note) => self.judge_note(note),
                Action::Place { lost, among } => self.judge_place(*lost, among),
                Action::Start { agent: part, .. }
                | Action::CallOff { agent: part, .. }
                | Action::Join { part, .. } => {
                    assert!(!self.stopped.contains_key(part), "{action:?} after a stop");
                    assert!(!self.lost.contains(part), "{action:?} for a lost part");
                    assert!(!self.ended.contains(part), "{action:?} for a part that has ended");
                }
                Action::Stop(part, stop) => {
                    let before = self.stopped.insert(*part, *stop);
                    assert!(before != Some(Stop::Now), "{action:?} after a stop at once");
                    assert!(!self.lost.contains(part), "{action:?} for a lost part");
                }
                Action::MeasureClock(agent) => {
                    assert!(self.heard.contains_key(agent), "{action:?} of no agent");
                }
                Action::Forget(_) => {}
                Action::End(_) => self.over = true,
            }
        }
        let started = |action: &Action| matches!(action, Action::Start { .. });
        let called_off = |action: &Action| matches!(action, Action::CallOff { .. });
        assert!(
            !(actions.iter().any(started) && actions.iter().any(called_off)),
            "an instant is named and called off at once: {actions:?}"
        );
    }

    fn judge_note(&mut self, note: &Note) {
        let rules = rules();
        match note {
            Note::Unreachable(agent) => {
                let silent = self.silent(*agent);
                assert!(self.unreachable.insert(*agent), "{agent} is unreachable twice");
                let due = rules.unreachable_after..rules.unreachable_after + TICK;
                // A machine that was busy with something else looks at the next tick.
                assert!(silent >= due.start, "{note:?} after {silent:?}");
                assert!(silent <= due.end || self.expelled.contains(agent), "only {silent:?}");
            }
            Note::Lost(part, reason) => {
                assert!(self.lost.insert(*part), "{part} is lost twice");
                let silent = self.silent(self.hosts[part.0 as usize]);
                if reason.contains("not heard") || reason.contains("protocol") {
                    assert!(silent >= rules.lease + rules.margin, "{note:?} after {silent:?}");
                }
            }
            _ => {}
        }
    }

    /// Nobody gets clients before it is certain that nobody else works for them.
    fn judge_place(&self, lost: AgentId, among: &[AgentId]) {
        let host = self.hosts[lost.0 as usize];
        let certain = self.ended.contains(&lost) || self.silent(host) >= rules().lease;
        let stalled = self.now >= rules().stalled_after;
        assert!(certain || stalled, "{lost} may still be at work");
        for agent in among {
            assert_ne!(*agent, host, "{lost} would be its own heir");
            assert!(!self.unreachable.contains(agent), "{agent} is unreachable");
            assert!(!self.lost.contains(agent) || self.hosts.len() > 2, "{agent} is lost");
        }
    }
}
