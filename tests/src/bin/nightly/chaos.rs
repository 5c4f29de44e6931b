//! `pgsurge-nightly chaos`: schedules one after the other, from a seed on.

use std::process::ExitCode;

use clap::Args;
use pgsurge_tests::chaos::{Schedule, execute};
use pgsurge_tests::turn;

/// Which schedules.
#[derive(Args)]
pub struct Options {
    /// The first seed; by default any.
    #[arg(long)]
    seed: Option<u64>,
    /// How many.
    #[arg(long, default_value_t = 200)]
    count: u64,
}

/// Prints each schedule with what came of it.
#[expect(clippy::print_stdout, reason = "this is what the program is for")]
pub fn run(options: &Options) -> ExitCode {
    let first = options.seed.unwrap_or_else(|| super::any_seed() >> 20);
    println!("seeds {first} to {}", first + options.count - 1);
    let _turn = turn::take();
    let mut wrong = Vec::new();
    for seed in first..first + options.count {
        let schedule = Schedule::of(seed);
        print!("{schedule}");
        let outcome = execute(&schedule);
        print!("{outcome}");
        if !outcome.wrong.is_empty() {
            wrong.push(seed);
        }
    }
    println!("{} schedules, {} wrong: {wrong:?}", options.count, wrong.len());
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
