//! An agent that does its work and does not tell the truth about it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use pgsurge_agent::load::{Load, LoadEvent};
use pgsurge_agent::session::{AgentOptions, Coordinator, Engine, LoadEngine, Shutdown, serve};
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use pgsurge_common::stats::{Interval, Phase, Totals};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// What it says in place of the truth.
#[derive(Clone, Copy)]
pub enum Lie {
    /// Nothing of what happened after the second second; its totals are the true ones.
    Silence,
    /// So many transactions more than there were, everywhere in the same way.
    Boast(u64),
}

struct Liar {
    honest: LoadEngine,
    lie: Lie,
}

impl Engine for Liar {
    type Load = Load;

    fn prepare(
        &mut self,
        plan: Arc<Plan>,
        share: &Share,
        at_work: u32,
    ) -> Result<(Load, UnboundedReceiver<LoadEvent>), String> {
        let (load, mut truth) = self.honest.prepare(plan, share, at_work)?;
        let (told, events) = unbounded_channel();
        let lie = self.lie;
        tokio::spawn(async move {
            while let Some(event) = truth.recv().await {
                if let Some(event) = lie.twist(event)
                    && told.send(event).is_err()
                {
                    return;
                }
            }
        });
        Ok((load, events))
    }
}

impl Lie {
    fn twist(self, event: LoadEvent) -> Option<LoadEvent> {
        match (self, event) {
            (Self::Silence, LoadEvent::Interval(interval)) if interval.index >= 2 => None,
            (Self::Boast(more), LoadEvent::Interval(mut interval)) => {
                if (interval.phase, interval.index) == (Phase::Measure, 0) {
                    boast_of_interval(&mut interval, more);
                }
                Some(LoadEvent::Interval(interval))
            }
            (Self::Boast(more), LoadEvent::Finished(mut totals)) => {
                boast_of_totals(&mut totals, more);
                Some(LoadEvent::Finished(totals))
            }
            (_, event) => Some(event),
        }
    }
}

fn boast_of_interval(interval: &mut Interval, more: u64) {
    interval.counts.transactions += more;
    interval.counts.commits += more;
    (0..more).for_each(|_| interval.response.record(100));
}

fn boast_of_totals(totals: &mut Totals, more: u64) {
    totals.measured.transactions += more;
    totals.measured.commits += more;
    if let Some(first) = totals.clients.first_mut() {
        first.transactions += more;
    }
}

/// Serves one run of a coordinator in a thread of its own.
pub fn start(coordinator: SocketAddr, lie: Lie) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime starts");
        let address = coordinator.to_string();
        let options = AgentOptions {
            coordinator: Coordinator::Tcp { address, tls: None, insecure: false },
            name: "liar".to_owned(),
            once: true,
            give_up_after: Some(super::stage::PATIENCE),
        };
        let liar = Liar { honest: LoadEngine::default(), lie };
        let served = runtime.block_on(serve(options, liar, Shutdown::default()));
        served.expect("the coordinator is there");
    })
}
