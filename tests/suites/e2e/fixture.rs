//! What the suites have in common: a server with pgbench's tables, and what is true of every good run.

use std::path::Path;
use std::time::Duration;

use pgsurge_tests::cluster::{Report, pgsurge};
use pgsurge_tests::postgres::{Postgres, Settings, Version};
use pgsurge_tests::process::{Finished, Running};
use pgsurge_tests::turn::{self, Turn};

/// Far beyond what any of these runs takes.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Scripts of a few lines, one a kind of end.
const SCRIPTS: [(&str, &str); 8] = [
    ("one.sql", "SELECT 1;\n"),
    ("two.sql", "\\set x random(1, 10)\nSELECT :x;\n"),
    ("fails.sql", "DO $$ BEGIN RAISE EXCEPTION USING errcode = '40001'; END $$;\n"),
    (
        "sometimes.sql",
        "DO $$ BEGIN IF random() < 0.5 THEN RAISE EXCEPTION USING errcode = '40P01'; END IF; \
         END $$;\n",
    ),
    ("deadlocks.sql", "DO $$ BEGIN RAISE EXCEPTION USING errcode = '40P01'; END $$;\n"),
    ("sleeps.sql", "SELECT pg_sleep(0.1);\n"),
    ("aborts.sql", "SELECT 1/0;\n"),
    ("lines.sql", "\n\nSELECT 1,\n  2;\n\\if 0\n \\sleep 1\n\\endif\nSELECT 1 \\; SELECT 2;\n"),
];

/// Writes them into a folder.
pub fn write_scripts(folder: &Path) {
    for (name, text) in SCRIPTS {
        std::fs::write(folder.join(name), text).unwrap();
    }
}

/// The exit code of pgsurge where pgbench ended so: the same, but for runs that pgbench calls good although
/// nothing succeeded in them.
pub fn code_after(pgbench: &Finished) -> Option<i32> {
    let nothing = |line: &str| {
        let done = line.strip_prefix("number of transactions actually processed: ");
        done.is_some_and(|done| done.split('/').next() == Some("0"))
    };
    match pgbench.code() {
        Some(0) if pgbench.stdout.lines().any(nothing) => Some(3),
        code => code,
    }
}

/// A server that nobody else uses, and the machine with it.
pub struct World {
    pub server: Postgres,
    /// The server as the last argument of a command line.
    pub uri: String,
    _turn: Turn,
}

impl World {
    /// A server without tables.
    pub fn bare(settings: &Settings) -> Self {
        let turn = turn::take();
        let server = Postgres::start(Version::V15, settings);
        let uri = server.uri();
        Self { server, uri, _turn: turn }
    }

    /// A server with pgbench's tables at scale 1.
    pub fn with_tables() -> Self {
        Self::filled(&Settings::new())
    }

    /// The same with settings.
    pub fn filled(settings: &Settings) -> Self {
        let world = Self::bare(settings);
        let mut init = pgsurge(&["init", "-q", "-s", "1", &world.uri]);
        let _ = Running::run("init", &mut init, PATIENCE).expect_code(0);
        world
    }

    /// Rows of `pgbench_history`.
    pub fn history_rows(&self) -> u64 {
        self.count("pgbench_history")
    }

    /// Rows of a table.
    pub fn count(&self, table: &str) -> u64 {
        self.server.value(&format!("select count(*) from {table}")).parse().unwrap()
    }

    /// Sessions of load on the server.
    pub fn sessions(&self) -> u64 {
        let sql = "select count(*) from pg_stat_activity \
             where application_name like 'pgsurge%' and application_name not like '% observer' \
             and backend_type = 'client backend'";
        self.server.value(sql).parse().unwrap()
    }
}

/// I1 as far as a report shows it: the cluster is the sum of its agents and of its intervals.
#[track_caller]
pub fn assert_adds_up(report: &Report) {
    let summary = report.summary();
    let total = summary["totals"]["transactions"].as_u64().unwrap();
    let agents = summary["agents"].as_array().unwrap();
    let of_agents: u64 = agents.iter().map(|agent| agent["transactions"].as_u64().unwrap()).sum();
    assert_eq!(of_agents, total, "the agents against the whole\n{}", report.finished);
    assert_eq!(report.sum_measured("transactions"), total, "the intervals against the whole");
    let printed = format!("number of transactions actually processed: {total}");
    assert!(report.finished.stdout.contains(&printed), "{}", report.finished);
}

/// The percentiles of a latency object, lowest first; they must never be out of order.
#[track_caller]
pub fn assert_in_order(latency_ms: &serde_json::Value) {
    let names = ["min", "p50", "p90", "p95", "p99", "p99_9", "max"];
    let values: Vec<f64> = names.iter().map(|name| latency_ms[name].as_f64().unwrap()).collect();
    assert!(values.is_sorted(), "{latency_ms}");
}

/// For every tpcb-like transaction a row, and the same sum everywhere.
#[track_caller]
pub fn assert_balanced(world: &World, transactions: u64) {
    assert_eq!(world.history_rows(), transactions, "rows of pgbench_history");
    let sums = [
        "(select sum(abalance) from pgbench_accounts)",
        "(select sum(tbalance) from pgbench_tellers)",
        "(select sum(bbalance) from pgbench_branches)",
    ];
    for sum in sums {
        let sql = format!("select {sum} = (select coalesce(sum(delta), 0) from pgbench_history)");
        assert_eq!(world.server.value(&sql), "t", "{sum}");
    }
}
