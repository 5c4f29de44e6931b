//! Logs on their way in: which run they belong to, and whether it wants them.
//!
//! They come over connections of their own. Only the token of an agent's session opens the door, and only to the
//! run that the agent takes part in, once that has asked.

use pgsurge_common::ids::AgentId;
use pgsurge_proto::Incoming;
use pgsurge_proto::message::{Command, LogPart, LogReceipt, LogSender};
use pgsurge_proto::server::{Delivery, Refusal};
use tokio::sync::{mpsc, oneshot};

use super::handle::AgentHandle;
use super::hub::Hub;
use super::peer::Peer;

/// An agent's logs. A delivery that breaks off may be followed by another one, which begins anew.
#[derive(Debug)]
pub struct LogDelivery {
    /// What it sends.
    pub parts: Incoming<LogPart>,
    /// What is kept, or why it cannot be kept. Dropping it turns the agent away.
    pub receipt: oneshot::Sender<Result<LogReceipt, Refusal>>,
}

impl AgentHandle {
    /// Asks the agent for the logs of all its parts; `part` is any of them.
    #[must_use]
    pub fn collect_logs(&self, part: AgentId) -> mpsc::Receiver<LogDelivery> {
        let (sender, deliveries) = mpsc::channel(1);
        self.hub().with(self.key(), |agent| {
            if let Some(run) = &mut agent.run {
                run.logs = Some(sender);
            }
            agent.command(part, Command::SendLogs);
        });
        deliveries
    }
}

impl Hub {
    /// Hands a delivery to its run and waits for what that says.
    pub(super) async fn deliver(&self, delivery: Delivery<Peer>) -> Result<LogReceipt, Refusal> {
        let Delivery { peer, sender, parts } = delivery;
        let Some(logs) = self.run_of(&sender) else {
            self.complaints.add(&format!("a sender of logs from {peer}"), "nobody asked for them");
            return Err(Refusal::Never("nobody asked for these logs".to_owned()));
        };
        peer.serve();
        peer.admit();
        let over = || Refusal::Never("their run does not take them any more".to_owned());
        let (receipt, answer) = oneshot::channel();
        logs.send(LogDelivery { parts, receipt }).await.map_err(|_| over())?;
        answer.await.unwrap_or_else(|_| Err(over()))
    }

    fn run_of(&self, sender: &LogSender) -> Option<mpsc::Sender<LogDelivery>> {
        let registry = self.lock();
        let key = registry.by_token(&sender.token)?;
        let run = registry.agents.get(&key)?.run.as_ref()?;
        run.logs.clone().filter(|_| run.id == sender.run)
    }
}
