//! The server's own statistics beside a run (`--observe-interval`), unless switched off.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use pgsurge_common::plan::Plan;

use super::{BenchArgs, tell};
use crate::observe::{Facts, Observed, Observer, Own, Starts, Watching};
use crate::report::Folder;
use crate::report::summary::Observation;
use crate::run::Interrupts;

/// How long the last reading may take in all.
const CONCLUDED_WITHIN: Duration = Duration::from_secs(12);

/// The observer, and what it cannot do.
pub struct Observing {
    observer: Option<Observer>,
    /// The session is closed between readings.
    in_between: bool,
    reserved: Option<String>,
}

impl Observing {
    /// Takes the first reading beside what follows. The session that reads must not take one from the clients: where
    /// there is none to spare, or a pooler that may have few, it is opened for each reading, or for the first and last.
    pub fn start(args: &BenchArgs, plan: &Plan, facts: &Facts, folder: Option<&Folder>) -> Self {
        let Some(interval) = args.cluster.observe else {
            return Self { observer: None, in_between: false, reserved: None };
        };
        let clients = u64::from(plan.load.clients);
        let room = facts.slots.refuse(clients + 1).is_none();
        let opens = plan.load.connect_per_transaction || plan.load.reconnect;
        let why = match (facts.direct, room) {
            (true, false) => Some("the server has no session to spare besides the clients'"),
            (false, _) if opens => {
                Some("a pooler may have no session to spare when clients reconnect")
            }
            _ => None,
        };
        let why = why.filter(|_| !interval.is_zero());
        let reserved = why.map(|why| format!("{why}: looked at before and after the load only"));
        let watching = Watching {
            target: plan.target.clone(),
            version_num: facts.version_num,
            interval: if reserved.is_some() { Duration::ZERO } else { interval },
            warmup: plan.load.warmup,
            hold: facts.direct && room,
            file: folder.map(Folder::server),
        };
        let in_between = !watching.hold;
        Self { observer: Some(Observer::start(watching)), in_between, reserved }
    }

    /// Waits for the first reading where it would else compete with the clients for a session.
    pub async fn ready(&self, interrupts: &Interrupts) {
        if let Some(observer) = self.observer.as_ref().filter(|_| self.in_between) {
            tokio::select! {
                () = observer.first_reading() => {}
                () = interrupts.drain.cancelled() => {}
            }
        }
    }

    /// Who is to be told when the load begins.
    pub fn starts(&self) -> Option<Starts> {
        self.observer.as_ref().map(Observer::starts)
    }

    /// The load is over.
    pub async fn stop(self) -> Stopped {
        let lost = self.observer.is_some();
        let observed = match self.observer {
            Some(observer) => observer.stop().await,
            None => None,
        };
        Stopped { lost: lost && observed.is_none(), observed, reserved: self.reserved }
    }
}

/// Everything but the last reading.
pub struct Stopped {
    observed: Option<Observed>,
    /// It did not come to an end.
    lost: bool,
    reserved: Option<String>,
}

/// What was seen.
pub struct Seen {
    pub observation: Option<Observation>,
    /// What the observing itself added to the server's counters.
    pub own: Own,
    pub written: Result<(), (PathBuf, io::Error)>,
}

impl Stopped {
    /// Takes the last reading and tells what could not be read. `several` is why another server may have had the load.
    pub async fn conclude(self, several: Option<&str>, interrupts: &Interrupts) -> Seen {
        let inexact = Own { exact: false, ..Own::default() };
        let Some(observed) = self.observed else {
            if self.lost {
                tell::warning(&"observing the server did not come to an end");
            }
            let own = if self.lost { inexact } else { Own::default() };
            return Seen { observation: None, own, written: Ok(()) };
        };
        // A server may add a commit or two of its own to what the observer can account for, so that its count is a
        // lower bound for the agents' beside an observer.
        let own = Own { exact: false, ..observed.own() };
        let concluded = tokio::select! {
            concluded = observed.conclude() => Some(concluded),
            () = tokio::time::sleep(CONCLUDED_WITHIN) => None,
            () = interrupts.abort.cancelled() => None,
        };
        let Some((mut observation, written)) = concluded else {
            return Seen { observation: None, own, written: Ok(()) };
        };
        for problem in &observation.problems {
            tell::line(&format_args!("note: observing the server: {problem}"));
        }
        // These are no trouble of the server's; the report has them.
        let several = several.map(|reason| format!("only one server was looked at: {reason}"));
        observation.problems.extend(self.reserved.into_iter().chain(several));
        Seen { observation: Some(observation), own, written }
    }
}
