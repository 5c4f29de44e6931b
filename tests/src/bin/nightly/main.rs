//! `pgsurge-nightly`: what takes too long for every change. Prints its seed first, so that whatever it finds can be
//! found again.

mod chaos;
mod differential;

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Parser, Subcommand};

/// Long tests with a seed.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    test: Test,
}

#[derive(Subcommand)]
enum Test {
    /// Generated expressions and scripts through pgbench and pgsurge, on servers 15 and 18.
    Differential(differential::Options),
    /// Runs that are disturbed at random, on hosts of their own. Needs root.
    Chaos(chaos::Options),
}

fn main() -> std::io::Result<ExitCode> {
    match Arguments::parse().test {
        Test::Differential(options) => differential::run(&options),
        Test::Chaos(options) => Ok(chaos::run(&options)),
    }
}

/// A seed that nobody has chosen.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos() & u128::from(u64::MAX)).unwrap_or_default()
}
