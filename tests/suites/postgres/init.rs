//! `init` makes what `pgbench -i` of version 18 makes: statements, catalogs, contents and texts.

use std::process::Command;

use pgsurge_coordinator::init::{
    Console, Options, PartitionMethod, Partitioning, Step, Style, init,
};
use pgsurge_coordinator::observe::TargetError;
use pgsurge_tests::postgres::{Postgres, Settings, Version, wait_until};
use tokio_util::sync::CancellationToken;

use crate::{block_on, target};

/// Options for us, and the same for pgbench.
struct Case {
    pgbench: &'static str,
    options: Options,
}

fn steps(letters: &str) -> Vec<Step> {
    letters.chars().map(|letter| Step::of_letter(letter).unwrap()).collect()
}

fn cases() -> Vec<Case> {
    use PartitionMethod::{Hash, Range};
    let partitions = |method, count| Some(Partitioning { method, count });
    let case = |pgbench, options| Case { pgbench, options };
    let plain = Options::default;
    vec![
        case("", plain()),
        case("-s 2 -F 80 -q", Options { scale: 2, fillfactor: 80, quiet: true, ..plain() }),
        case("--unlogged-tables -n", Options { unlogged: true, steps: steps("dtgp"), ..plain() }),
        case(
            "--partitions 3 -F 50 --foreign-keys",
            Options {
                partitioning: partitions(Range, 3),
                fillfactor: 50,
                steps: steps("dtgvpf"),
                ..plain()
            },
        ),
        case(
            "--partitions 4 --partition-method hash --unlogged-tables -I dtGvp",
            Options {
                partitioning: partitions(Hash, 4),
                unlogged: true,
                steps: steps("dtGvp"),
                ..plain()
            },
        ),
        case("--foreign-keys -I dtGvp", Options { steps: steps("dtGvpf"), ..plain() }),
        case(
            "--tablespace heaps --index-tablespace =odd\"name -I dtvp",
            Options {
                tablespace: Some("heaps".into()),
                index_tablespace: Some("odd\"name".into()),
                steps: steps("dtvp"),
                ..plain()
            },
        ),
        case(
            "--tablespace heaps --partitions 2 -I dtpf",
            Options {
                tablespace: Some("heaps".into()),
                partitioning: partitions(Range, 2),
                steps: steps("dtpf"),
                ..plain()
            },
        ),
        case(
            "-s 20000 --partitions 7 -I dtvvp",
            Options {
                scale: 20_000,
                partitioning: partitions(Range, 7),
                steps: steps("dtvvp"),
                ..plain()
            },
        ),
        case("-s 19999 -I dt", Options { scale: 19_999, steps: steps("dt"), ..plain() }),
    ]
}

/// Runs `init` against a database; what it wrote, and how it ended.
fn run(server: &Postgres, database: &str, options: &Options) -> (String, Result<(), TargetError>) {
    let mut written = Vec::new();
    let console =
        Console { err: &mut written, style: Style::Lines, cancel: CancellationToken::new() };
    let outcome = block_on(init(&target(server, database), options, console));
    (String::from_utf8(written).unwrap(), outcome)
}

fn pgbench(server: &Postgres, database: &str, args: &str) -> Command {
    let mut command = server.command_from(Version::V18, "pgbench");
    command.arg("-i").args(args.split_whitespace().map(|arg| arg.trim_start_matches('=')));
    command.env("PGDATABASE", database);
    command
}

/// Times and the program's name differ by nature.
fn masked(text: &str) -> String {
    let masked = |word: &str| {
        let digits = word.trim_matches(|c: char| "(),.s".contains(c));
        let is_time = digits.contains('.') && digits.parse::<f64>().is_ok();
        if is_time { word.replace(digits, "T") } else { word.to_owned() }
    };
    let line = |line: &str| line.split(' ').map(masked).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n").replace("pgbench: ", "pgsurge: ")
}

/// What the server's catalogs and tables hold, as lines to compare.
fn fingerprint(server: &Postgres, database: &str) -> Vec<String> {
    const CATALOGS: [&str; 3] = [
        "select c.relname, c.relkind, c.relpersistence, c.reloptions, c.relispartition, s.spcname, \
           c.relnatts, c.reltuples, \
           pg_get_expr(c.relpartbound, c.oid), pg_get_partkeydef(c.oid), \
           case when c.relkind in ('i', 'I') then pg_get_indexdef(c.oid) end \
         from pg_class c left join pg_tablespace s on s.oid = c.reltablespace \
         where c.relname like 'pgbench%'",
        "select attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull, \
           atthasdef, attstorage \
         from pg_attribute where attrelid::regclass::text like 'pgbench%'",
        "select conrelid::regclass, conname, contype, pg_get_constraintdef(oid) \
         from pg_constraint where conrelid::regclass::text like 'pgbench%'",
    ];
    const TABLES: [&str; 4] = ["branches", "tellers", "accounts", "history"];
    let contents = TABLES.map(|table| {
        format!(
            "select '{table}', count(*), count(filler), min(octet_length(filler)), \
               md5(string_agg(t::text, ';' order by t::text)) from pgbench_{table} t"
        )
    });
    let all = CATALOGS.iter().map(ToString::to_string).chain(contents);
    let rows = all.flat_map(|sql| server.query_in(database, &sql));
    let cell = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
    let mut lines: Vec<_> =
        rows.map(|row| row.into_iter().map(cell).collect::<Vec<_>>().join(" | ")).collect();
    lines.sort();
    lines
}

/// Statements that changed something in a database, without white space, in order.
fn statements(server: &Postgres, database: &str, skip: usize) -> Vec<String> {
    // Further lines of a statement begin with a tab.
    let log = server.log().split_off(skip).replace("\n\t", " ");
    let marker = format!("db={database} ");
    let statement = |line: &str| {
        let (kind, sql) = line.split_once(&marker)?.1.strip_prefix("LOG:  ")?.split_once(": ")?;
        // The simple protocol and the extended one, in which a copy is started here.
        if kind != "statement" && !kind.starts_with("execute") {
            return None;
        }
        let sql = sql.split_whitespace().collect::<String>().to_lowercase();
        (!sql.starts_with("select")).then_some(sql)
    };
    log.lines().filter_map(statement).collect()
}

fn compare_on(version: Version) {
    let settings = Settings::new()
        .set("allow_in_place_tablespaces", "on")
        .set("log_statement", "all")
        .set("log_line_prefix", "db=%d ");
    let server = Postgres::start(version, &settings);
    for name in ["heaps", "\"odd\"\"name\""] {
        server.execute(&format!("create tablespace {name} location ''"));
    }
    // Both keep their tables between cases, so that each case but the first drops some.
    server.execute("create database theirs");
    server.execute("create database ours");
    for case in cases() {
        let skip = server.log().len();
        let theirs = pgbench(&server, "theirs", case.pgbench).output().unwrap();
        assert!(theirs.status.success(), "{}: {theirs:?}", case.pgbench);
        let (text, outcome) = run(&server, "ours", &case.options);
        outcome.unwrap_or_else(|error| panic!("{}: {error}", case.pgbench));
        let name = format!("pgbench -i {} on {version:?}", case.pgbench);
        assert_eq!(masked(&text), masked(&String::from_utf8_lossy(&theirs.stderr)), "{name}");
        let statements = |database| statements(&server, database, skip).join("\n");
        assert_eq!(statements("ours"), statements("theirs"), "{name}");
        let fingerprint = |database| fingerprint(&server, database).join("\n");
        assert_eq!(fingerprint("ours"), fingerprint("theirs"), "{name}");
    }
}

#[test]
fn tables_on_15_are_those_of_pgbench_18() {
    compare_on(Version::V15);
}

#[test]
fn tables_on_18_are_those_of_pgbench_18() {
    compare_on(Version::V18);
}

#[test]
fn a_step_that_fails_is_told_as_pgbench_tells_it() {
    let server = Postgres::start(Version::V18, &Settings::new());
    let options = Options { steps: steps("dv"), ..Options::default() };
    let (text, outcome) = run(&server, "postgres", &options);
    let error = outcome.unwrap_err();
    let told = format!(
        "{text}pgsurge: error: {}\npgsurge: detail: {}\n",
        error.message,
        error.detail.as_deref().unwrap()
    );
    let theirs = pgbench(&server, "postgres", "-I dv").output().unwrap();
    assert_eq!(theirs.status.code(), Some(1));
    let theirs = masked(&String::from_utf8_lossy(&theirs.stderr));
    assert_eq!(error.sqlstate.as_deref(), Some("42P01"));
    assert_eq!(masked(&told.replace(" (SQLSTATE 42P01)", "")), theirs.trim_end());
}

#[test]
fn a_database_that_is_not_there_is_an_error_with_the_servers_words() {
    let server = Postgres::start(Version::V18, &Settings::new());
    let (text, outcome) = run(&server, "nowhere", &Options::default());
    let error = outcome.unwrap_err();
    assert_eq!(text, "");
    assert_eq!(
        error.message,
        format!(
            "connection to server at \"127.0.0.1\", port {} failed: \
             FATAL:  database \"nowhere\" does not exist (SQLSTATE 3D000)",
            server.port()
        )
    );
    assert_eq!(error.detail.as_deref(), Some("could not create connection for initialization"));
}

/// Cancels as soon as the server is seen to work on a statement of this beginning.
fn interrupted_in(server: &Postgres, options: &Options, statement: &str) {
    let cancel = CancellationToken::new();
    let mut written = Vec::new();
    let console = Console { err: &mut written, style: Style::Lines, cancel: cancel.clone() };
    let busy = format!(
        "select count(*) from pg_stat_activity where state = 'active' and query like '{statement}%'"
    );
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("the statement is running", || server.value(&busy) == "1");
            cancel.cancel();
        });
        block_on(init(&target(server, "postgres"), options, console))
    });
    assert!(outcome.is_err(), "{}", String::from_utf8_lossy(&written));
    wait_until("the session is gone", || {
        server.value(
            "select count(*) from pg_stat_activity \
             where backend_type = 'client backend' and pid <> pg_backend_pid()",
        ) == "0"
    });
    assert_eq!(server.value("select count(*) from pgbench_branches"), "0", "half loaded");
}

#[test]
fn an_interrupt_ends_the_running_statement_and_keeps_nothing_of_it() {
    let server = Postgres::start(Version::V18, &Settings::new());
    // Each would take minutes.
    let long = Options { scale: 500, ..Options::default() };
    let there = Options { steps: steps("dtG"), ..long.clone() };
    interrupted_in(&server, &there, "insert into pgbench_accounts");
    interrupted_in(&server, &long, "copy pgbench_accounts");
}
