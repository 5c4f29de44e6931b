//! What is compared, and what has to be reached.

/// One workload.
#[derive(Debug)]
pub struct Case {
    /// As the table names it.
    pub name: &'static str,
    /// Options that both tools understand alike.
    pub options: &'static [&'static str],
    /// Sessions.
    pub clients: u32,
    /// How much is done.
    pub work: Work,
    /// Against the fake server, whose speed is no limit, in place of PostgreSQL.
    pub is_ceiling: bool,
    /// The goals: ratios of pgsurge to pgbench.
    pub reach: Reach,
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
    /// Transactions per second, at least.
    pub tps: Option<f64>,
    /// Time to open all connections, at most.
    pub connect: Option<f64>,
    /// Peak memory, at most.
    pub memory: Option<f64>,
}

const FEW: Reach = Reach { cpu: Some(0.75), tps: Some(1.0), connect: None, memory: None };
const MANY: Reach =
    Reach { cpu: Some(0.85), tps: Some(1.0), connect: Some(0.7), memory: Some(1.0) };
const NONE: Reach = Reach { cpu: None, tps: None, connect: None, memory: None };

const fn on_postgres(
    name: &'static str,
    options: &'static [&'static str],
    clients: u32,
    reach: Reach,
) -> Case {
    let work = if clients < 100 { Work::Time } else { Work::Transactions(15) };
    Case { name, options, clients, work, is_ceiling: false, reach }
}

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
    Case {
        name: "ceiling prepared 16",
        options: &["-M", "prepared", "-f"],
        clients: 16,
        work: Work::Time,
        is_ceiling: true,
        reach: NONE,
    },
];
