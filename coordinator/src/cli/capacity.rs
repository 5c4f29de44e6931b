//! `pgsurge capacity`: the highest rate at which an objective holds.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;
use pgsurge_common::outcome::ExitCode;

use super::experiment::{self, Here};
use super::run::Surroundings;
use super::tell;
use super::usage::UsageError;
use crate::experiment::Runs;
use crate::experiment::capacity::{self, Bounds, HEADING, Question, Step, line};
use crate::verdict::missed;

/// Find the highest rate (-R) at which an objective holds
#[derive(Clone, Debug, Parser)]
#[command(name = "capacity", display_name = "pgsurge-capacity", bin_name = "pgsurge capacity", version = super::version::number())]
pub struct CapacityArgs {
    /// what has to hold, e.g. 'p99<20ms' or 'p99<20ms,failed<0.1%'
    #[arg(long, value_name = "CONDITION")]
    pub slo: String,
    /// the first rate, in transactions per second
    #[arg(long, value_name = "NUM", default_value_t = 100.0, value_parser = positive)]
    pub start_rate: f64,
    /// try no higher rate
    #[arg(long, value_name = "NUM", value_parser = positive)]
    pub max_rate: Option<f64>,
    /// how far the answer and the next rate may be apart
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = positive)]
    pub precision: f64,
    /// length of each run in seconds
    #[arg(long, value_name = "SEC", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub step_time: u32,
    /// runs that have to hold at the end, besides the one that found the rate
    #[arg(long, value_name = "NUM", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=20))]
    pub confirm: u32,
    /// folder of all results [default: pgsurge-results/capacity-TIME]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// options of "pgsurge run" (but -R, -T, -t, --fail-if, --results, --format) and the target; they come last
    #[arg(value_name = "RUN OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub run: Vec<OsString>,
}

/// Options that the search itself sets.
const SET: [&str; 6] = ["rate", "time", "transactions", "results", "no-results", "format"];

/// What it sets, as far as it matters for what can be passed on.
const OWN: [&str; 8] = ["-R", "1", "-T", "1", "--results", "x", "--fail-if", "tps<1"];

impl CapacityArgs {
    /// Checks what options say together, those of the runs included.
    pub fn check(&self) -> Result<(), UsageError> {
        self.fail_if()?;
        experiment::refuse(&self.run, &SET)?;
        experiment::check(&self.run, &OWN)
    }

    fn fail_if(&self) -> Result<String, UsageError> {
        missed(&self.slo).map_err(|error| {
            let wrong = UsageError::new(format!("invalid value \"{}\" for option --slo", self.slo));
            wrong.detail(error.to_string())
        })
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

/// Searches, prints and keeps the answer.
///
/// # Errors
/// A run could not start, or results cannot be written.
pub async fn capacity(
    args: CapacityArgs,
    surroundings: impl Fn() -> Result<Surroundings>,
) -> Result<ExitCode> {
    let folder = args.results.clone().unwrap_or_else(|| experiment::default_folder("capacity"));
    let question = Question {
        fail_if: args.fail_if()?,
        objective: args.slo,
        bounds: Bounds {
            start: args.start_rate,
            most: args.max_rate,
            precision: args.precision / 100.0,
            confirmations: args.confirm,
        },
        seconds: args.step_time,
    };
    let page = experiment::page(args.run.clone()).await?;
    let runs = Runs::new(Here { surroundings, page: page.clone() }, args.run, &folder)?;
    experiment::told(page.as_deref(), HEADING);
    let told = |step: &Step| experiment::told(page.as_deref(), &line(step));
    let answer = capacity::search(&question, &runs, told).await.inspect_err(|_| {
        // Where nothing was run, nothing is left.
        let _ = std::fs::remove_dir(&folder);
    })?;
    if let Some(page) = &page {
        page.close().await;
    }
    experiment::keep(&folder.join("capacity.json"), &answer, &capacity::page(&answer))?;
    let mut out = io::stdout().lock();
    // The answer is in the folder, whoever listens.
    let _ = capacity::print(&mut out, &answer).and_then(|()| out.flush());
    tell::line(&format_args!("results are in {}", folder.display()));
    Ok(match (answer.complete, answer.found_tps) {
        (true, Some(_)) => ExitCode::Done,
        (false, _) if answer.interrupted => ExitCode::Interrupted,
        _ => ExitCode::Invalid,
    })
}
