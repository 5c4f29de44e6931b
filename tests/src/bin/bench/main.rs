//! `pgsurge-bench`: pgsurge against the pgbench of the same machine. Same server, same statements, one after the
//! other in turns; figures of whole processes from the operating system; medians of the rounds' ratios.

mod cases;
mod rounds;
mod scripts;
mod table;

use std::io::{Write, stdout};
use std::path::PathBuf;

use clap::Parser;

use cases::{CASES, Case};
use rounds::{Bench, Choice, Tool};

/// Compares pgsurge with pgbench and prints a table and JSON.
#[derive(Parser)]
struct Arguments {
    /// Rounds of each case; in each one every tool runs once.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of each run.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Only the cases whose name contains this.
    #[arg(long, default_value = "")]
    case: String,
    /// Major version of the server: 15 or 18.
    #[arg(long, default_value_t = 15)]
    server: u32,
    /// Connect by TCP on loopback in place of the unix socket.
    #[arg(long)]
    tcp: bool,
    /// Also compare with pgbench 18, if it is there.
    #[arg(long)]
    pgbench_18: bool,
    /// Where the JSON goes too, besides standard output.
    #[arg(long)]
    json: Option<PathBuf>,
}

fn main() -> std::io::Result<()> {
    let arguments = Arguments::parse();
    let mut tools = vec![Tool::Pgsurge, Tool::Pgbench15];
    tools.extend(arguments.pgbench_18.then_some(Tool::Pgbench18));
    let chosen: Vec<&Case> = CASES.iter().filter(|c| c.name.contains(&arguments.case)).collect();
    let bench = Bench::start(Choice {
        server: arguments.server,
        tools,
        seconds: arguments.seconds,
        over_tcp: arguments.tcp,
    });
    let mut results = Vec::new();
    writeln!(stdout(), "{}", table::header())?;
    for case in chosen {
        let result = bench.rounds(case, arguments.rounds);
        for line in table::lines(&result) {
            writeln!(stdout(), "{line}")?;
        }
        results.push(result);
    }
    let json = serde_json::to_string_pretty(&results).map_err(std::io::Error::other)?;
    if let Some(path) = arguments.json {
        std::fs::write(path, &json)?;
    }
    writeln!(stdout(), "\n{json}")
}
