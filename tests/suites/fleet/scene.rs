//! A fleet with its agents, put together for one test.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use pgsurge_agent::session::{AgentError, AgentExit, AgentOptions, Coordinator, Shutdown, serve};
use pgsurge_common::ids::{ClientId, RunId, WorkerId};
use pgsurge_common::plan::split::{Share, WorkerShare};
use pgsurge_common::plan::{
    ConnectBudget, End, Load, Plan, Protocol, ScriptSource, Seeds, Workload,
};
use pgsurge_common::target::{Address, Host, Secret, Target};
use pgsurge_coordinator::fleet::{AgentHandle, Fleet, FleetOptions, Listen};
use pgsurge_coordinator::run::{Interrupts, RunEvent, RunOptions, RunSpec};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::SOON;
use pgsurge_tests::fake_load::{FakeEngine, PACE};

/// Clients of each agent.
pub const CLIENTS: u32 = 3;

pub fn loopback() -> Listen {
    Listen { address: (Ipv4Addr::LOCALHOST, 0).into(), tls: None, insecure: false }
}

pub async fn listen() -> (Fleet, SocketAddr) {
    let fleet = Fleet::listen(loopback(), FleetOptions::default()).await.unwrap();
    let address = fleet.local_addr().unwrap();
    (fleet, address)
}

/// An agent in a task of its own.
pub struct Agent {
    pub shutdown: Shutdown,
    pub task: JoinHandle<Result<AgentExit, AgentError>>,
}

impl Agent {
    pub fn start(options: AgentOptions, engine: &FakeEngine) -> Self {
        let shutdown = Shutdown::default();
        let task = tokio::spawn(serve(options, engine.clone(), shutdown.clone()));
        Self { shutdown, task }
    }

    pub fn dialling(address: SocketAddr, name: &str, engine: &FakeEngine) -> Self {
        Self::start(options(address, name), engine)
    }

    pub async fn exit(self) -> Result<AgentExit, AgentError> {
        tokio::time::timeout(SOON, self.task).await.expect("the agent leaves").unwrap()
    }
}

pub fn options(address: SocketAddr, name: &str) -> AgentOptions {
    let address = address.to_string();
    AgentOptions {
        coordinator: Coordinator::Tcp { address, tls: None, insecure: false },
        name: name.to_owned(),
        once: true,
        give_up_after: Some(SOON),
    }
}

pub fn plan(run: &str, agents: usize) -> Plan {
    let address = Address::Tcp { name: "db.example".into(), addr: None };
    let host = Host { address, port: 5432, password: Some(Secret::new("hidden")) };
    let script = ScriptSource {
        name: "a.sql".into(),
        text: b"SELECT 1;\n".to_vec(),
        weight: 1,
        builtin: false,
    };
    Plan {
        run_id: RunId::new(run).unwrap(),
        workload: Workload {
            scripts: vec![script],
            protocol: Protocol::Simple,
            scale: 1,
            defines: Vec::new(),
            max_tries: Some(1),
            continue_on_error: false,
            exit_on_abort: false,
            verbose_errors: false,
            report_per_command: false,
        },
        load: Load {
            clients: CLIENTS * u32::try_from(agents).unwrap(),
            end: End::Transactions(1000),
            warmup: Duration::ZERO,
            rate_tps: None,
            latency_limit_us: None,
            connect_per_transaction: false,
            reconnect: false,
            connect: ConnectBudget { rate_per_s: None, concurrency: 8, timeout: SOON },
            allow_fewer_clients: false,
            drain_timeout: None,
        },
        target: Target::new(vec![host], "surge", "bench"),
        seeds: Seeds { random_seed: 42 },
        log: None,
    }
}

fn share(number: u32) -> Share {
    let worker = WorkerShare {
        worker: WorkerId(number),
        first_client: ClientId(number * CLIENTS),
        clients: CLIENTS,
    };
    Share { workers: vec![worker], connect_concurrency: 4, connect_rate_per_s: None, moves: 0 }
}

/// A run over these agents, and its events.
pub fn spec(run: &str, agents: Vec<AgentHandle>) -> (RunSpec, mpsc::Receiver<RunEvent>) {
    let (events, receiver) = mpsc::channel(4096);
    let spec = RunSpec {
        plan: Arc::new(plan(run, agents.len())),
        agents: agents.into_iter().zip((0..).map(share)).collect(),
        fleet: FleetOptions::default(),
        options: RunOptions { interval: PACE, ..RunOptions::default() },
        events,
        interrupts: Interrupts::default(),
    };
    (spec, receiver)
}

/// The first event that is wanted; the others are dropped.
pub async fn until<T>(
    events: &mut mpsc::Receiver<RunEvent>,
    wanted: impl Fn(RunEvent) -> Option<T>,
) -> T {
    let found = async {
        loop {
            let event = events.recv().await.expect("the run has not ended yet");
            if let Some(found) = wanted(event) {
                return found;
            }
        }
    };
    tokio::time::timeout(SOON, found).await.expect("the event comes in time")
}

/// Waits for a number of cluster intervals.
pub async fn intervals(events: &mut mpsc::Receiver<RunEvent>, count: usize) {
    for _ in 0..count {
        until(events, |event| matches!(event, RunEvent::Interval(_)).then_some(())).await;
    }
}
