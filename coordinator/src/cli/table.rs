//! Every option of `pgsurge run` and `pgsurge init`, once. Help, completions, reading of the command
//! line and of `PGSURGE_*` variables all follow this table.

/// In which mode an option may stand (pgbench's own grouping).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Initialization only.
    Init,
    /// Benchmarking only.
    Bench,
    /// Both.
    Both,
    /// Benchmarking only, and unknown to pgbench.
    Cluster,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// The long name, without dashes.
    pub long: &'static str,
    /// The letter, if it has one.
    pub short: Option<char>,
    /// What help calls its value; `None` for a flag.
    pub value: Option<&'static str>,
    /// Where it may stand.
    pub group: Group,
    /// What help says.
    pub help: &'static str,
}

impl Opt {
    /// How pgbench's messages name it: `-c/--client`, or `--partitions`.
    #[must_use]
    pub fn label(&self) -> String {
        match self.short {
            Some(short) => format!("-{short}/--{}", self.long),
            None => format!("--{}", self.long),
        }
    }

    /// The environment variable that gives its default. Connection options have none: libpq's own
    /// variables serve there, and Kubernetes injects `PGSURGE_PORT` for a Service called pgsurge.
    #[must_use]
    pub fn env(&self) -> Option<String> {
        const LIBPQ: [&str; 4] = ["host", "port", "username", "dbname"];
        const AT_ONCE: [&str; 2] = ["initialize", "show-script"];
        if LIBPQ.contains(&self.long) || AT_ONCE.contains(&self.long) {
            return None;
        }
        if self.long == "log" {
            // PGSURGE_LOG filters what the program says of itself.
            return Some("PGSURGE_TRANSACTION_LOG".to_owned());
        }
        Some(format!("PGSURGE_{}", self.long.replace('-', "_").to_ascii_uppercase()))
    }
}

const fn flag(short: char, long: &'static str, group: Group, help: &'static str) -> Opt {
    Opt { long, short: Some(short), value: None, group, help }
}

const fn long_flag(long: &'static str, group: Group, help: &'static str) -> Opt {
    Opt { long, short: None, value: None, group, help }
}

const fn valued(
    short: char,
    (long, value): (&'static str, &'static str),
    group: Group,
    help: &'static str,
) -> Opt {
    Opt { long, short: Some(short), value: Some(value), group, help }
}

const fn long_valued(
    (long, value): (&'static str, &'static str),
    group: Group,
    help: &'static str,
) -> Opt {
    Opt { long, short: None, value: Some(value), group, help }
}

use Group::{Bench, Both, Cluster, Init};

/// All options, in the order in which help lists them.
pub const OPTIONS: &[Opt] = &[
    flag('i', "initialize", Both, "create pgbench's tables instead of running a benchmark"),
    valued('I', ("init-steps", "STEPS"), Init, "steps to run, of \"dtgGvpf\" [default: dtgvp]"),
    valued('F', ("fillfactor", "NUM"), Init, "fill factor, 10 to 100 [default: 100]"),
    flag('q', "quiet", Init, "one progress line every 5 seconds"),
    long_flag("foreign-keys", Init, "create foreign keys between the tables"),
    long_valued(("index-tablespace", "NAME"), Init, "tablespace of the indexes"),
    long_valued(("tablespace", "NAME"), Init, "tablespace of the tables"),
    long_flag("unlogged-tables", Init, "create unlogged tables"),
    long_valued(("partitions", "NUM"), Init, "partition pgbench_accounts into NUM parts"),
    long_valued(
        ("partition-method", "METHOD"),
        Init,
        "partition by \"range\" or \"hash\" [default: range]",
    ),
    valued(
        'b',
        ("builtin", "NAME[@W]"),
        Bench,
        "add a built-in script with weight W (\"list\" lists them) [default: tpcb-like]",
    ),
    valued('f', ("file", "FILE[@W]"), Bench, "add a script file with weight W (\"-\" is stdin)"),
    flag('N', "skip-some-updates", Bench, "the same as \"-b simple-update\""),
    flag('S', "select-only", Bench, "the same as \"-b select-only\""),
    valued('c', ("client", "NUM"), Bench, "sessions over the whole cluster [default: 1]"),
    flag('C', "connect", Bench, "open a new connection for each transaction"),
    valued('D', ("define", "VAR=VALUE"), Bench, "define a variable for scripts"),
    valued(
        'j',
        ("jobs", "NUM"),
        Bench,
        "worker threads per agent [default: 1, with --agents the agent's cores]",
    ),
    valued('L', ("latency-limit", "MS"), Bench, "count transactions above MS as late"),
    flag('l', "log", Bench, "write each transaction to a log file"),
    valued(
        'M',
        ("protocol", "MODE"),
        Bench,
        "query mode: simple, extended or prepared [default: simple]",
    ),
    valued('P', ("progress", "SEC"), Bench, "show progress every SEC seconds"),
    flag('r', "report-per-command", Bench, "report latencies, failures and retries per command"),
    valued('R', ("rate", "TPS"), Bench, "target rate over the whole cluster"),
    valued('s', ("scale", "NUM"), Both, "scaling factor [default: 1]"),
    valued('t', ("transactions", "NUM"), Bench, "transactions of each client [default: 10]"),
    valued('T', ("time", "SEC"), Bench, "duration of the measured part"),
    flag('n', "no-vacuum", Both, "do not vacuum the standard tables"),
    flag('v', "vacuum-all", Bench, "vacuum all four standard tables before the run"),
    long_valued(
        ("aggregate-interval", "SEC"),
        Bench,
        "log sums over SEC seconds instead of transactions",
    ),
    long_flag("continue-on-error", Bench, "go on after an SQL error"),
    long_flag("exit-on-abort", Bench, "end the run when a client aborts"),
    long_flag("failures-detailed", Bench, "report failures by kind"),
    long_valued(
        ("log-prefix", "PREFIX"),
        Bench,
        "what names of log files begin with [default: pgbench_log]",
    ),
    long_valued(("max-tries", "NUM"), Bench, "tries per transaction [default: 1]"),
    long_flag("progress-timestamp", Bench, "show Unix epoch times in progress lines"),
    long_valued(("random-seed", "SEED"), Bench, "seed: \"time\", \"rand\" or an integer"),
    long_valued(("sampling-rate", "NUM"), Bench, "share of transactions to log, such as 0.01"),
    long_valued(("show-script", "NAME"), Both, "show the text of a built-in script"),
    long_flag("verbose-errors", Bench, "print each error, retry and failure"),
    long_flag("debug", Both, "print debugging output"),
    valued('d', ("dbname", "DBNAME"), Both, "database, connection string or URI"),
    valued('h', ("host", "HOST"), Both, "host or socket directory of the target"),
    valued('p', ("port", "PORT"), Both, "port of the target"),
    valued('U', ("username", "NAME"), Both, "role to connect as"),
    long_valued(("agents", "N"), Cluster, "wait for N agents [default: run in this process]"),
    long_valued(("listen", "ADDR"), Cluster, "where agents dial in [default: 127.0.0.1:7432]"),
    long_valued(("agent-wait", "SEC"), Cluster, "how long to wait for agents [default: 60]"),
    long_valued(
        ("split", "HOW"),
        Cluster,
        "clients per agent: \"even\" or by \"cores\" [default: even]",
    ),
    long_valued(
        ("lease", "SEC"),
        Cluster,
        "an agent cut off for so long stops its load [default: 10]",
    ),
    long_valued(
        ("on-agent-loss", "HOW"),
        Cluster,
        "after losing an agent: \"fail\", \"continue\" or \"rebalance\" [default: fail]",
    ),
    long_valued(
        ("tls", "DIR"),
        Cluster,
        "folder with ca.crt, tls.crt and tls.key, as \"pgsurge certs\" makes it",
    ),
    long_valued(("tls-ca", "FILE"), Cluster, "authority that signs the agents' certificates"),
    long_valued(("tls-cert", "FILE"), Cluster, "this coordinator's certificate"),
    long_valued(("tls-key", "FILE"), Cluster, "this coordinator's private key"),
    long_flag("insecure", Cluster, "allow plaintext beyond loopback"),
    long_valued(
        ("connect-rate", "PER_SEC"),
        Cluster,
        "new connections per second over the cluster",
    ),
    long_valued(
        ("connect-concurrency", "N"),
        Cluster,
        "connections being opened at a time over the cluster [default: 64]",
    ),
    long_valued(
        ("connect-wait", "SEC"),
        Cluster,
        "how long opening all connections may take [default: 60]",
    ),
    long_flag("reconnect", Cluster, "clients whose connection is lost open another"),
    long_flag("allow-fewer-clients", Cluster, "go on if not all clients could connect"),
    long_flag("any-server", Cluster, "allow agents to reach different servers"),
    long_valued(("warmup", "SEC"), Cluster, "same load before, outside of all figures"),
    long_valued(
        ("drain-timeout", "SEC"),
        Cluster,
        "bound on finishing what is in flight at the end",
    ),
    long_valued(
        ("observe-interval", "SEC"),
        Cluster,
        "look at the server's statistics every SEC seconds, 0: before and after [default: 5]",
    ),
    long_flag("no-observe", Cluster, "do not look at the server's statistics"),
    long_flag("prewarm", Cluster, "load the tables into the server's cache before the run"),
    long_valued(("results", "DIR"), Cluster, "results folder [default: pgsurge-results/RUN-ID]"),
    long_flag("no-results", Cluster, "write no results folder"),
    long_valued(
        ("web", "ADDR"),
        Cluster,
        "serve a live page and /metrics, e.g. 8080 or 0.0.0.0:8080",
    ),
    long_flag("no-html", Cluster, "leave report.html (5 MB) out of it"),
    long_valued(
        ("fail-if", "CONDITION"),
        Cluster,
        "exit with 4 if it holds: p99>20ms, tps<1000, failed>0.1%; several: commas, or again",
    ),
    long_valued(
        ("require", "valid"),
        Cluster,
        "\"valid\": a finding of the verdict that only warns exits with 3, too",
    ),
    long_flag("collect-logs", Cluster, "bring the log files into the results folder"),
    long_flag("metrics-line", Cluster, "end the report with one line of key=value pairs"),
    long_valued(("format", "FORMAT"), Cluster, "print \"text\" or \"json\" [default: text]"),
];

/// Finds an option by its exact long name.
#[must_use]
pub fn by_long(long: &str) -> Option<&'static Opt> {
    OPTIONS.iter().find(|opt| opt.long == long)
}

/// Finds an option by its letter.
#[must_use]
pub fn by_short(short: char) -> Option<&'static Opt> {
    OPTIONS.iter().find(|opt| opt.short == Some(short))
}

/// All options that a long name may stand for: itself, else those that it is a prefix of. pgbench's
/// own options are looked at first, so that a prefix that is unique there stays unique here.
#[must_use]
pub fn by_prefix(prefix: &str) -> Vec<&'static Opt> {
    if let Some(exact) = by_long(prefix) {
        return vec![exact];
    }
    let matching = |cluster: bool| {
        OPTIONS
            .iter()
            .filter(move |opt| (opt.group == Cluster) == cluster && opt.long.starts_with(prefix))
            .collect::<Vec<_>>()
    };
    let pgbench = matching(false);
    if pgbench.is_empty() { matching(true) } else { pgbench }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_names_are_unique() {
        for (i, a) in OPTIONS.iter().enumerate() {
            for b in &OPTIONS[i + 1..] {
                assert_ne!(a.long, b.long);
                assert!(a.short.is_none() || a.short != b.short, "{} and {}", a.long, b.long);
            }
        }
    }

    #[test]
    fn a_prefix_that_is_unique_in_pgbench_stays_unique() {
        let names = |prefix| by_prefix(prefix).iter().map(|opt| opt.long).collect::<Vec<_>>();
        assert_eq!(names("conn"), ["connect"]);
        assert_eq!(names("no"), ["no-vacuum"]);
        assert_eq!(names("agent-"), ["agent-wait"]);
        assert_eq!(names("pro"), ["protocol", "progress", "progress-timestamp"]);
        assert_eq!(names("nothing"), [""; 0]);
    }

    #[test]
    fn no_variable_collides_with_those_that_kubernetes_injects() {
        for variable in OPTIONS.iter().filter_map(Opt::env) {
            assert!(!variable.starts_with("PGSURGE_PORT"), "{variable}");
            assert!(!variable.starts_with("PGSURGE_SERVICE_"), "{variable}");
        }
    }
}
