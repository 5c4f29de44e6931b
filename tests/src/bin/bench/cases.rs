//! What is compared, and what has to be reached.

use super::scripts;

/// One workload.
#[derive(Debug)]
pub struct Case {
    /// As the table names it.
    pub name: &'static str,
    /// Options that both tools understand alike.
    pub options: &'static [&'static str],
    /// A script that is read from a file.
    pub script: Option<&'static str>,
    /// Sessions.
    pub clients: u32,
    /// How much is done.
    pub work: Work,
    /// Where the sessions lead.
    pub place: Place,
    /// The goals: ratios of pgsurge to pgbench.
    pub reach: Reach,
}

/// Where sessions lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// To PostgreSQL.
    Server,
    /// To PostgreSQL through a transaction pooler that asks for a password by SCRAM.
    Pooler,
    /// To the fake server, whose speed is no limit.
    FakeServer,
}

/// How much a run does.
#[derive(Debug)]
pub enum Work {
    /// As many seconds as were asked for.
    Time,
    /// So many transactions of each client for each second that was asked for. pgbench counts the time it takes to
    /// connect as part of `-T`; with many clients only an equal number of transactions is equal work.
    Transactions(u32),
}

/// Goals; absent means that the figure is shown and no goal is set.
#[derive(Debug, Default)]
pub struct Reach {
    /// Processor time for each transaction, at most.
    pub cpu: Option<f64>,
    /// The part of it in user mode, at most.
    pub user: Option<f64>,
    /// Transactions per second, at least.
    pub tps: Option<f64>,
    /// Time to open all connections, at most.
    pub connect: Option<f64>,
    /// Peak memory, at most.
    pub memory: Option<f64>,
}

const NONE: Reach = Reach { cpu: None, user: None, tps: None, connect: None, memory: None };
const FEW: Reach = Reach { cpu: Some(0.75), tps: Some(1.0), ..NONE };
const MANY: Reach =
    Reach { cpu: Some(0.85), tps: Some(1.0), connect: Some(0.7), memory: Some(1.0), ..NONE };
const INTERPRETER: Reach = Reach { user: Some(0.6), tps: Some(1.0), ..NONE };
const CONNECTIONS: Reach = Reach { tps: Some(5.0), ..NONE };

const fn on_postgres(
    name: &'static str,
    options: &'static [&'static str],
    clients: u32,
    reach: Reach,
) -> Case {
    let work = if clients < 100 { Work::Time } else { Work::Transactions(15) };
    Case { name, options, script: None, clients, work, place: Place::Server, reach }
}

/// A script from a file, by 16 clients.
const fn from_file(
    name: &'static str,
    script: &'static str,
    options: &'static [&'static str],
    reach: Reach,
) -> Case {
    Case { script: Some(script), ..on_postgres(name, options, 16, reach) }
}

/// Where files have no table to take the scale from.
const SIMPLE: &[&str] = &["-s", "10", "-M", "simple"];
const PREPARED: &[&str] = &["-s", "10", "-M", "prepared"];

/// All of them, in the order of the table.
pub const CASES: &[Case] = &[
    on_postgres("select-only simple 16", &["-S", "-M", "simple"], 16, FEW),
    on_postgres("select-only extended 16", &["-S", "-M", "extended"], 16, FEW),
    on_postgres("select-only prepared 16", &["-S", "-M", "prepared"], 16, FEW),
    on_postgres("select-only simple 1000", &["-S", "-M", "simple"], 1000, MANY),
    on_postgres("select-only extended 1000", &["-S", "-M", "extended"], 1000, MANY),
    on_postgres("select-only prepared 1000", &["-S", "-M", "prepared"], 1000, MANY),
    on_postgres("tpcb-like simple 16", &["-b", "tpcb-like", "-M", "simple"], 16, FEW),
    on_postgres("tpcb-like prepared 16", &["-b", "tpcb-like", "-M", "prepared"], 16, FEW),
    from_file("file select-only simple", scripts::SELECT_ONLY, SIMPLE, FEW),
    from_file("file select-only prepared", scripts::SELECT_ONLY, PREPARED, FEW),
    from_file("file tpcb-like prepared", scripts::TPCB_LIKE, PREPARED, FEW),
    from_file("file 20 set simple", scripts::ARITHMETIC, SIMPLE, INTERPRETER),
    from_file("file 20 set prepared", scripts::ARITHMETIC, PREPARED, INTERPRETER),
    Case {
        place: Place::Pooler,
        ..on_postgres("pooler scram -C 10", &["-S", "-C", "-M", "simple"], 10, CONNECTIONS)
    },
    Case {
        place: Place::FakeServer,
        ..from_file("ceiling prepared 16", scripts::ONE, &["-M", "prepared"], NONE)
    },
];
