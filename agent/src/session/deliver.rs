//! Logs on their way to the coordinator, beside the session: over a connection of their own, piece by piece,
//! so that they delay no heartbeat and take little memory.
//!
//! Invariant: a log leaves this host only when the coordinator has said that it keeps all of it. What could not be
//! delivered stays where it was written.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use pgsurge_proto::client;
use pgsurge_proto::message::{LogPart, LogReceipt, LogSender};
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{sleep, timeout};

use super::dial::{DialError, Dialler};
use crate::load::WrittenLog;

/// One piece of a file.
const CHUNK_BYTES: usize = 64 * 1024;

/// Times that it is tried; the coordinator does not wait for ever.
const ATTEMPTS: u32 = 5;

/// From one to the next.
const PAUSE: Duration = Duration::from_secs(1);

/// Time from the end of the run to the end of a delivery: the coordinator has its last word on its way.
const END_WITHIN: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug)]
pub(super) struct Delivery(JoinHandle<()>);

impl Delivery {
    /// Begins to send.
    pub fn begin(dialler: Dialler, sender: LogSender, logs: Vec<WrittenLog>) -> Self {
        Self(tokio::spawn(deliver(dialler, sender, logs.into())))
    }

    /// Nothing is being sent any more.
    pub fn is_over(&self) -> bool {
        self.0.is_finished()
    }

    /// The run is over: what is not delivered in a moment stays.
    pub async fn end(mut self) {
        if timeout(END_WITHIN, &mut self.0).await.is_err() {
            self.0.abort();
        }
    }
}

async fn deliver(dialler: Dialler, sender: LogSender, logs: Arc<[WrittenLog]>) {
    for _ in 0..ATTEMPTS {
        match attempt(&dialler, sender.clone(), Arc::clone(&logs)).await {
            Ok(()) => return remove(&logs),
            Err(error) => {
                tracing::warn!("logs could not be delivered and stay on this host: {error}");
                if error.for_good && !error.renewable {
                    return;
                }
            }
        }
        sleep(PAUSE).await;
    }
}

async fn attempt(
    dialler: &Dialler,
    sender: LogSender,
    logs: Arc<[WrittenLog]>,
) -> Result<(), DialError> {
    let (channel, testimony) = dialler.channel().await?;
    let (outgoing, parts) = self::channel(1);
    let reading = spawn_blocking(move || read(&logs, &outgoing));
    let receipt = client::deliver(channel, sender, parts).await;
    let receipt = receipt.map_err(|error| dialler.attach_error(&testimony, error))?;
    match reading.await {
        Ok(Some(sent)) if sent == receipt => Ok(()),
        _ => Err(DialError {
            address: dialler.address.clone(),
            reason: "its receipt is about something else".to_owned(),
            for_good: true,
            renewable: false,
        }),
    }
}

/// Reads all files into the channel; nothing comes back if its other end is gone.
fn read(logs: &[WrittenLog], outgoing: &Sender<LogPart>) -> Option<LogReceipt> {
    let mut sent = LogReceipt::default();
    for log in logs {
        let file = LogPart::File { process: std::process::id(), worker: log.worker };
        outgoing.blocking_send(file).ok()?;
        sent.files += 1;
        match read_file(log, outgoing) {
            Ok(bytes) => sent.bytes += bytes?,
            Err(error) => {
                let problem = format!("cannot read {}: {error}", log.path.display());
                outgoing.blocking_send(LogPart::Problem(problem)).ok()?;
                return None;
            }
        }
    }
    outgoing.blocking_send(LogPart::End(sent)).ok()?;
    Some(sent)
}

fn read_file(log: &WrittenLog, outgoing: &Sender<LogPart>) -> io::Result<Option<u64>> {
    let mut file = File::open(&log.path)?;
    let mut sent = 0;
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        let length = file.read(&mut chunk)?;
        if length == 0 {
            return Ok(Some(sent));
        }
        chunk.truncate(length);
        if outgoing.blocking_send(LogPart::Data(chunk)).is_err() {
            return Ok(None);
        }
        sent += length as u64;
    }
}

/// The coordinator has them.
fn remove(logs: &[WrittenLog]) {
    for log in logs {
        if let Err(error) = std::fs::remove_file(&log.path) {
            tracing::warn!("cannot remove {}, which was delivered: {error}", log.path.display());
        }
    }
    tracing::info!(files = logs.len(), "logs delivered");
}
