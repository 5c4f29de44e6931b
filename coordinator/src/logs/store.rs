//! One agent's folder of logs while it fills.
//!
//! Names of files are made here from the numbers that the agent gives; it has no say in where they lie. The
//! folder gets its final name only when what came, what the agent sent and what it had counted are the same.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pgsurge_common::ids::WorkerId;
use pgsurge_common::plan::Log;
use pgsurge_proto::message::{LogPart, LogReceipt};
use pgsurge_proto::{Incoming, ReceiveError};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// See the module.
#[derive(Debug)]
pub(super) struct Store {
    place: PathBuf,
    partial: PathBuf,
    prefix: String,
    /// Whose files are still to come.
    missing: Vec<WorkerId>,
    workers: Vec<WorkerId>,
    kept: LogReceipt,
}

/// Why a delivery was not taken to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing came for too long.
    Silent,
    /// It broke off; another one may follow.
    Broken(String),
    /// None that follows will do better.
    Final(String),
}

impl Store {
    /// Makes the folder.
    pub(super) fn create(
        place: &Path,
        folder: &str,
        prefix: &str,
        workers: Vec<WorkerId>,
    ) -> Result<Self, String> {
        let partial = place.join(format!("{folder}.partial"));
        fs::create_dir_all(&partial).map_err(|error| unwritable(&partial, &error))?;
        let missing = workers.clone();
        let (place, prefix) = (place.join(folder), prefix.to_owned());
        Ok(Self { place, partial, prefix, missing, workers, kept: LogReceipt::default() })
    }

    /// What is there.
    pub(super) fn kept(&self) -> LogReceipt {
        self.kept
    }

    /// Takes a delivery from its beginning to its end; what an earlier one left is replaced.
    pub(super) async fn take(
        &mut self,
        parts: &mut Incoming<LogPart>,
        patience: Duration,
    ) -> Result<LogReceipt, Fault> {
        self.clear().map_err(|error| Fault::Final(unwritable(&self.partial, &error)))?;
        let mut open: Option<File> = None;
        loop {
            let part = match timeout(patience, parts.next()).await {
                Err(_) => return Err(Fault::Silent),
                Ok(Err(ReceiveError::Connection(why))) => return Err(Fault::Broken(why)),
                Ok(Err(error @ (ReceiveError::Message(_) | ReceiveError::Garbled(_)))) => {
                    return Err(Fault::Final(error.to_string()));
                }
                Ok(Ok(None)) => return Err(Fault::Broken("it stopped in the middle".to_owned())),
                Ok(Ok(Some(part))) => part,
            };
            match part {
                LogPart::File { process, worker } => {
                    close(open.take()).await.map_err(|error| self.failed(&error))?;
                    open = Some(self.begin(process, worker)?);
                }
                LogPart::Data(data) => {
                    let Some(file) = open.take() else {
                        return Err(Fault::Final("it sent data of no file".to_owned()));
                    };
                    let bytes = data.len() as u64;
                    open = Some(write(file, data).await.map_err(|error| self.failed(&error))?);
                    self.kept.bytes += bytes;
                }
                LogPart::End(sent) => {
                    close(open.take()).await.map_err(|error| self.failed(&error))?;
                    if self.kept != sent {
                        return Err(Fault::Final(differs("it sent", sent, self.kept)));
                    }
                    return Ok(sent);
                }
                LogPart::Problem(problem) => return Err(Fault::Final(problem)),
            }
        }
    }

    /// Gives the folder its final name, if all is there that the agent had counted.
    pub(super) fn complete(
        &self,
        kept: LogReceipt,
        counted: LogReceipt,
    ) -> Result<LogReceipt, String> {
        if kept != counted {
            return Err(differs("it had counted", counted, kept));
        }
        fs::rename(&self.partial, &self.place).map_err(|error| unwritable(&self.place, &error))?;
        Ok(kept)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.missing.clone_from(&self.workers);
        self.kept = LogReceipt::default();
        fs::remove_dir_all(&self.partial)?;
        fs::create_dir(&self.partial)
    }

    fn begin(&mut self, process: u32, worker: WorkerId) -> Result<File, Fault> {
        let Some(place) = self.missing.iter().position(|missing| *missing == worker) else {
            let what = format!("it sent a file of worker {worker}, which is not to come from it");
            return Err(Fault::Final(what));
        };
        self.missing.swap_remove(place);
        let path = self.partial.join(Log::file_name(&self.prefix, process, worker));
        let file = File::create_new(&path);
        let file = file.map_err(|error| Fault::Final(unwritable(&path, &error)))?;
        self.kept.files += 1;
        Ok(file)
    }

    fn failed(&self, error: &io::Error) -> Fault {
        Fault::Final(unwritable(&self.partial, error))
    }
}

fn unwritable(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

fn differs(who: &str, theirs: LogReceipt, ours: LogReceipt) -> String {
    format!(
        "{who} {} bytes in {} files, and {} bytes in {} files came",
        theirs.bytes, theirs.files, ours.bytes, ours.files
    )
}

/// Writes beside the runtime, which has one thread and must go on answering agents.
async fn write(mut file: File, data: Vec<u8>) -> io::Result<File> {
    beside(move || file.write_all(&data).map(|()| file)).await
}

/// A file that is complete is so on the disk.
async fn close(file: Option<File>) -> io::Result<()> {
    let Some(file) = file else { return Ok(()) };
    beside(move || file.sync_all()).await
}

async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}
