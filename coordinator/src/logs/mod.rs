//! Collects the agents' logs into the results folder, after the load has ended.
//!
//! Every agent has a folder below `logs`, called `NAME.partial` until everything that the agent has is in it (I5);
//! so an agent that never sent anything is seen there, too. Memory is bounded by one piece of a file an agent.
//! Knows the fleet's deliveries and nothing of the run that asked for them.

mod names;
mod store;

use std::path::PathBuf;
use std::time::Duration;

use pgsurge_common::ids::WorkerId;
use pgsurge_proto::message::LogReceipt;
use pgsurge_proto::server::Refusal;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::fleet::LogDelivery;
use store::{Fault, Store};

/// What came of an agent's logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// Its folder below `logs`, by its final name.
    pub folder: String,
    /// Files and bytes that are there.
    pub kept: LogReceipt,
    /// Why they are not all that the agent has; absent if they are.
    pub problem: Option<String>,
}

impl Collected {
    /// Where they are in the results folder.
    #[must_use]
    pub fn path(&self) -> String {
        let end = if self.problem.is_some() { ".partial" } else { "" };
        format!("logs/{}{end}", self.folder)
    }
}

/// Where logs go, and how long they are waited for.
#[derive(Clone, Debug)]
pub struct Collection {
    /// The `logs` folder, which is made.
    pub place: PathBuf,
    /// What names of files begin with.
    pub prefix: String,
    /// An agent that sends nothing for so long is given up.
    pub patience: Duration,
    /// The user wants to wait no longer.
    pub ended: CancellationToken,
}

/// One agent.
#[derive(Debug)]
pub struct Source {
    /// Its name, which may be anything.
    pub agent: String,
    /// Workers that it had.
    pub workers: Vec<WorkerId>,
    /// What it counted itself.
    pub counted: LogReceipt,
    /// What it sends, or why nothing is to be expected.
    pub deliveries: Result<mpsc::Receiver<LogDelivery>, String>,
}

impl Collection {
    /// Collects from all agents at the same time; the answers are in their order.
    pub async fn collect(self, sources: Vec<Source>) -> Vec<Collected> {
        let folders = names::folders(sources.iter().map(|source| source.agent.as_str()));
        let mut work = JoinSet::new();
        let mut collected = Vec::with_capacity(sources.len());
        for (number, (source, folder)) in sources.into_iter().zip(folders).enumerate() {
            let nothing = "collecting it came to nothing".to_owned();
            let kept = LogReceipt::default();
            collected.push(Collected { folder: folder.clone(), kept, problem: Some(nothing) });
            let one = self.clone().one(source, folder);
            work.spawn(async move { (number, one.await) });
        }
        while let Some(done) = work.join_next().await {
            if let Ok((number, one)) = done {
                collected[number] = one;
            }
        }
        collected
    }

    async fn one(self, source: Source, folder: String) -> Collected {
        let Source { agent: _, workers, counted, deliveries } = source;
        let mut store = match Store::create(&self.place, &folder, &self.prefix, workers) {
            Ok(store) => store,
            Err(problem) => {
                let kept = LogReceipt::default();
                return Collected { folder, kept, problem: Some(problem) };
            }
        };
        let ended = self.ended.clone();
        let result = match deliveries {
            Err(reason) => Err(reason),
            Ok(deliveries) => tokio::select! {
                result = self.receive(&mut store, counted, deliveries) => result,
                () = ended.cancelled() => Err("it was interrupted".to_owned()),
            },
        };
        Collected { folder, kept: store.kept(), problem: result.err() }
    }

    /// Takes deliveries until one is whole. A later one means that the one before is dead, whether or not that is
    /// known here.
    async fn receive(
        &self,
        store: &mut Store,
        counted: LogReceipt,
        mut deliveries: mpsc::Receiver<LogDelivery>,
    ) -> Result<(), String> {
        let silent = || format!("it sent nothing for {} s", self.patience.as_secs());
        let mut why = silent();
        let mut waiting = None;
        loop {
            let delivery = match waiting.take() {
                Some(delivery) => delivery,
                None => match timeout(self.patience, deliveries.recv()).await {
                    Ok(Some(delivery)) => delivery,
                    Ok(None) => return Err("the agent is gone".to_owned()),
                    Err(_) => return Err(why),
                },
            };
            let LogDelivery { mut parts, receipt } = delivery;
            let taken = tokio::select! {
                taken = store.take(&mut parts, self.patience) => taken,
                Some(newer) = deliveries.recv() => {
                    waiting = Some(newer);
                    continue;
                }
            };
            let whole = taken.and_then(|kept| store.complete(kept, counted).map_err(Fault::Final));
            match whole {
                Ok(kept) => {
                    // If it does not arrive, the agent keeps its files, too.
                    let _ = receipt.send(Ok(kept));
                    return Ok(());
                }
                Err(Fault::Silent) => why = silent(),
                Err(Fault::Broken(reason)) => why = reason,
                Err(Fault::Final(reason)) => {
                    let _ = receipt.send(Err(Refusal::Never(reason.clone())));
                    return Err(reason);
                }
            }
        }
    }
}
