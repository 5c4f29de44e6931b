//! What these tests have in common: a server with pgbench's tables behind a pooler.

use std::time::Duration;

use pgsurge_tests::cluster::{Report, Run, pgsurge};
use pgsurge_tests::pgbouncer::{PgBouncer, Pooling};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::Running;
use pgsurge_tests::turn::{self, Turn};

/// Far beyond what any of these runs takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A server and the machine with it; poolers come and go before it.
pub struct World {
    pub server: Postgres,
    _turn: Turn,
}

impl World {
    /// Fills the tables through a pooler, as a user without a way around it has to.
    pub fn start(settings: &Settings) -> Self {
        let turn = turn::take();
        let server = Postgres::start(Version::V15, settings);
        let world = Self { server, _turn: turn };
        let pooler = world.pooler(&Pooling::transaction());
        let mut init = pgsurge(&["init", "-q", "-s", "1", &pooler.uri()]);
        let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
        world
    }

    /// Puts a pooler before it.
    pub fn pooler(&self, pooling: &Pooling) -> PgBouncer {
        PgBouncer::start(&self.server, pooling)
    }

    /// Rows of `pgbench_history`.
    pub fn history_rows(&self) -> u64 {
        self.server.value("select count(*) from pgbench_history").parse().unwrap()
    }
}

/// A run through a pooler, to its end.
#[track_caller]
pub fn run(pooler: &PgBouncer, arguments: &[&str]) -> Report {
    let uri = pooler.uri();
    let arguments = [arguments, &[&uri]].concat();
    Run::local(&arguments).finish(PATIENCE)
}

/// Lines of stderr that tell of an error.
pub fn errors(report: &Report) -> Vec<&str> {
    report.finished.stderr.lines().filter(|line| line.contains("error")).collect()
}
