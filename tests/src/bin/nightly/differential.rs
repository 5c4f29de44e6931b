//! pgbench as the judge of generated expressions and scripts.

use std::io::{self, Write, stdout};
use std::process::ExitCode;
use std::time::Instant;

use clap::Args;
use pgsurge_tests::agreement::{Tally, Tools, expressions, scripts};
use pgsurge_tests::postgres::{Postgres, Version};

/// How much is compared.
#[derive(Args)]
pub struct Options {
    /// Makes the same expressions and scripts again.
    #[arg(long)]
    seed: Option<u64>,
    /// Expressions for each version.
    #[arg(long, default_value_t = 10_000)]
    expressions: usize,
    /// Scripts for each version: half of them statements for a real server, half pieces to be cut alike.
    #[arg(long, default_value_t = 500)]
    scripts: usize,
    /// Steps towards the smallest case of a difference.
    #[arg(long, default_value_t = 150)]
    shrinks: u32,
    /// Only this version: 15 or 18.
    #[arg(long)]
    version: Option<u32>,
}

/// Compares, and prints one line for each kind and version, and every difference.
pub fn run(options: &Options) -> io::Result<ExitCode> {
    let seed = options.seed.unwrap_or_else(super::any_seed);
    writeln!(stdout(), "seed {seed}")?;
    let mut differences = 0;
    for version in Version::ALL {
        if options.version.is_some_and(|only| only != version.major()) {
            continue;
        }
        let server: Postgres = scripts::logging_server(version);
        let tools = Tools::new(&server).shrinking(options.shrinks);
        let halves = (options.scripts.div_ceil(2), options.scripts / 2);
        let parts: [(&str, &dyn Fn() -> Tally); 3] = [
            ("expressions", &|| expressions::compare(tools, seed, options.expressions)),
            ("scripts of statements", &|| scripts::compare_statements(tools, seed, halves.0)),
            ("scripts of pieces", &|| scripts::compare_pieces(tools, seed, halves.1)),
        ];
        for (what, compare) in parts {
            let began = Instant::now();
            let tally = compare();
            writeln!(
                stdout(),
                "pgbench {}: {} {what}, {} of them refused, {} ended by an error, {} differ, {:.0} s",
                version.major(),
                tally.compared,
                tally.refused,
                tally.failed,
                tally.differences.len(),
                began.elapsed().as_secs_f64(),
            )?;
            for difference in &tally.differences {
                writeln!(stdout(), "{difference}")?;
            }
            differences += tally.differences.len();
        }
    }
    Ok(if differences == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
