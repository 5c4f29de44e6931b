//! A server with pgbench's tables, and the machine with it.

use std::time::Duration;

use pgsurge_tests::cluster::pgsurge;
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::Running;
use pgsurge_tests::turn::{self, Turn};

pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct World {
    pub server: Postgres,
    _turn: Turn,
}

pub fn world() -> World {
    let turn = turn::take();
    let server = Postgres::start(Version::V15, &Settings::new());
    let mut init = pgsurge(&["init", "-q", "-s", "1", &server.uri()]);
    let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
    World { server, _turn: turn }
}
