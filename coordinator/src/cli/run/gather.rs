//! The fleet of a run: a port that agents dial, or one agent inside this process.

use std::time::Duration;

use anyhow::{Context, Result};
use pgsurge_proto::tls::Identity;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;

use super::{Surroundings, announce};
use crate::cli::bench::{BenchArgs, TlsFiles, listen_address};
use crate::fleet::{AgentHandle, Fleet, FleetOptions, Listen};

/// Starts the agent inside this process, given where it "dials".
pub type StartLocalAgent = Box<dyn FnOnce(mpsc::Sender<DuplexStream>) + Send>;

/// How long the agent inside this process may take to attach.
const LOCAL_AGENT_WAIT: Duration = Duration::from_secs(10);

/// Opens the port, or starts the agent inside this process.
pub async fn open(args: &BenchArgs, surroundings: Surroundings) -> Result<(Fleet, FleetOptions)> {
    let cluster = &args.cluster;
    let options = FleetOptions { lease: cluster.lease, ..FleetOptions::default() };
    if cluster.agents.is_none() {
        let (fleet, pipes) = Fleet::in_process(options);
        (surroundings.local_agent)(pipes);
        return Ok((fleet, options));
    }
    let listen = Listen {
        address: listen_address(&cluster.listen)?,
        tls: identity(&cluster.tls)?,
        insecure: cluster.insecure,
    };
    Ok((Fleet::listen(listen, options).await?, options))
}

/// Reads the three files of a side's certificate.
pub fn identity(files: &TlsFiles) -> Result<Option<Identity>> {
    let Some([ca, cert, key]) = files.complete()? else { return Ok(None) };
    Ok(Some(Identity::read(&ca, &cert, &key)?))
}

/// Waits for the agents asked for.
pub async fn agents(args: &BenchArgs, fleet: &Fleet) -> Result<Vec<AgentHandle>> {
    let (wanted, wait) = match args.cluster.agents {
        Some(agents) => (agents as usize, args.cluster.agent_wait),
        None => (1, LOCAL_AGENT_WAIT),
    };
    if let (Some(agents), Some(address)) = (args.cluster.agents, fleet.local_addr()) {
        announce::waiting(agents, address);
    }
    fleet.gather(wanted, wait).await.context("not enough agents")
}
