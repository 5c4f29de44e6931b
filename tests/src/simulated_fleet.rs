//! A coordinator as a process of its own under a fleet of simulated agents: the real session of an agent over a
//! real connection each, and no load beneath. All of them are in one thread of this process.
//!
//! Tells what it cost the coordinator, as the operating system saw it, and how late its intervals were, by the clock
//! of this process, which knows the common start as its agents do.

use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pgsurge_agent::session::{AgentExit, AgentOptions, Coordinator, Shutdown, serve};

use crate::cluster::{Report, Run, free_address};
use crate::fake_load::{Content, Diary, FakeEngine, Timetable};
use crate::fake_server::{Behaviour, FakeServer};
use crate::usage;

/// Length of an interval, as the coordinator has it.
const SECOND: Duration = Duration::from_secs(1);

/// Far beyond what attaching and saying goodbye take.
const PATIENCE: Duration = Duration::from_secs(300);

/// Who takes part, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Simulated agents.
    pub agents: u32,
    /// Clients of each.
    pub clients: u32,
    /// Transactions of each client in a second, about.
    pub transactions: u32,
    /// Length of the measured part.
    pub seconds: u32,
}

/// What the coordinator used of something between two moments.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// From one to the other.
    pub elapsed: Duration,
    /// Processor time in user mode, in seconds.
    pub user_s: f64,
    /// Processor time in kernel mode, in seconds.
    pub system_s: f64,
}

/// How a run went.
#[derive(Debug)]
pub struct Observed {
    /// What the coordinator printed and left.
    pub report: Report,
    /// What the agents produced.
    pub diary: Diary,
    /// From when the agents began to dial to when load was due to begin: all have attached, their clocks are
    /// measured twice, and they are armed.
    pub attaching: Used,
    /// From the common start to the last interval but one.
    pub measuring: Used,
    /// Highest memory of the coordinator so far at the common start, and at the end, in kibibytes.
    pub peak_kib: [u64; 2],
    /// From the end of each second to the line that shows the cluster's interval.
    pub shown_after: Vec<Duration>,
    /// From the end of each second to the last agent's having its interval ready to send: what is the
    /// simulation's own part in the above.
    pub made_after: Vec<Duration>,
}

/// Runs a fleet to its end.
///
/// # Panics
/// If anything does not go as it should: this is a test.
#[must_use]
pub fn observe(size: Size) -> Observed {
    observe_among(size, |_| ())
}

/// The same in company: it is called once before the agents dial and once when load is on.
///
/// # Panics
/// If anything does not go as it should: this is a test.
#[must_use]
pub fn observe_among(size: Size, mut company: impl FnMut(SocketAddr)) -> Observed {
    let server = FakeServer::start(Behaviour::default());
    let listen = free_address();
    let mut run = command(size, listen, &server.uri()).start();
    let coordinator = run.process.pid();
    run.process.wait_for_stderr("pgsurge: waiting for", PATIENCE);
    company(listen);

    let mut moments = vec![Moment::of(coordinator)];
    let timetable = Timetable {
        intervals: size.seconds,
        pace: SECOND,
        content: Content::Plausible(size.transactions),
        ..Timetable::default()
    };
    let engine = FakeEngine { timetable, diary: Diary::default() };
    let agents = dial(size.agents, listen, &engine);
    crate::process::eventually("load begins", PATIENCE, || engine.diary.start().is_some());
    let start = engine.diary.start().expect("just seen");
    moments.push(Moment::of(coordinator));
    let before = usage::peak_kib(coordinator).expect("the coordinator is at work");

    company(listen);
    let mut shown_after = Vec::new();
    // Beyond the last but one the coordinator may be gone before it is looked at.
    for second in 1..size.seconds {
        run.process.wait_for_stderr(&format!("progress: {second}.0 s"), PATIENCE);
        shown_after.push(start_of(start, second).elapsed());
    }
    moments.push(Moment::of(coordinator));
    let mut after = before;
    crate::process::eventually("the run ends", PATIENCE, || {
        after = usage::peak_kib(coordinator).unwrap_or(0).max(after);
        run.process.has_ended()
    });
    let report = run.finish(PATIENCE);
    for exit in agents.join().expect("the agents' thread does not panic") {
        assert_eq!(exit, AgentExit::ServedOnce);
    }
    let made = engine.diary.intervals();
    let made_after = made.iter().zip(1..).map(|(at, n)| *at - start_of(start, n)).collect();
    Observed {
        report,
        diary: engine.diary,
        attaching: moments[0].until(&moments[1]),
        measuring: moments[1].until(&moments[2]),
        peak_kib: [before, after],
        shown_after,
        made_after,
    }
}

/// The beginning of a second, counted from 0; the end of the one before it.
fn start_of(start: Instant, second: u32) -> Instant {
    start + SECOND * second
}

fn command(size: Size, listen: SocketAddr, target: &str) -> Run {
    let (agents, listen) = (size.agents.to_string(), listen.to_string());
    let (clients, seconds) = ((size.agents * size.clients).to_string(), size.seconds.to_string());
    let mut run = Run::local(&["-S", "-n", "-P", "1", "-j", "1", "-c", &clients, "-T", &seconds]);
    run.command.args(["--agents", &agents, "--listen", &listen, "--agent-wait", "200", target]);
    run
}

fn dial(count: u32, coordinator: SocketAddr, engine: &FakeEngine) -> JoinHandle<Vec<AgentExit>> {
    let (engine, address) = (engine.clone(), coordinator.to_string());
    let options = move |number: u32| AgentOptions {
        coordinator: Coordinator::Tcp { address: address.clone(), tls: None, insecure: false },
        name: format!("simulated-{number}"),
        once: true,
        give_up_after: Some(PATIENCE),
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime starts").block_on(async {
            let serving = |number| serve(options(number), engine.clone(), Shutdown::default());
            let agents: Vec<_> = (1..=count).map(|n| tokio::spawn(serving(n))).collect();
            let mut exits = Vec::new();
            for agent in agents {
                let exit = agent.await.expect("an agent does not panic");
                exits.push(exit.expect("the coordinator takes it"));
            }
            exits
        })
    })
}

/// What a process has used so far.
struct Moment {
    at: Instant,
    user_s: f64,
    system_s: f64,
}

impl Moment {
    fn of(pid: u32) -> Self {
        let (user_s, system_s) = usage::processor_times(pid).expect("the process is at work");
        Self { at: Instant::now(), user_s, system_s }
    }

    fn until(&self, later: &Self) -> Used {
        Used {
            elapsed: later.at - self.at,
            user_s: later.user_s - self.user_s,
            system_s: later.system_s - self.system_s,
        }
    }
}
