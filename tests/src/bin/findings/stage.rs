//! What the demonstrations share: a server with pgbench's tables, scripts, agents that are short of time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pgsurge_tests::cluster::{InProgress, Report, pgsurge};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Running, let_pass};
use rustix::process::Signal;

/// Far beyond what any of these runs takes.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// See the module.
pub struct Stage {
    pub server: Postgres,
    pub uri: String,
    scripts: tempfile::TempDir,
}

impl Stage {
    pub fn new() -> Self {
        let server = Postgres::start(Version::V15, &Settings::new());
        let uri = server.uri();
        let mut init = pgsurge(&["init", "-q", "-s", "1", &uri]);
        let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
        let scripts = tempfile::tempdir().expect("there is room for scripts");
        Self { server, uri, scripts }
    }

    /// A script file with this text.
    pub fn script(&self, name: &str, text: &str) -> String {
        let path = self.scripts.path().join(name);
        std::fs::write(&path, text).expect("there is room for a script");
        path.to_str().expect("the name is text").to_owned()
    }
}

/// Time that a process gets, again and again: first it is stopped, then it may go on.
#[derive(Clone, Copy)]
pub struct Ration {
    pub stopped: Duration,
    pub going: Duration,
}

/// Waits for the end of a run whose agent gets no more time than this.
pub fn finish_rationed(run: InProgress, agent: &Running, ration: Ration) -> Report {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                agent.signal(Signal::STOP);
                let_pass(ration.stopped);
                agent.signal(Signal::CONT);
                let_pass(ration.going);
            }
        });
        let report = run.finish(PATIENCE);
        over.store(true, Ordering::Relaxed);
        report
    })
}
