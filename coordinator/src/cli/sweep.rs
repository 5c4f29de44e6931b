//! `pgsurge sweep`: runs over a grid of values, and everything as before afterwards.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Parser;
use pgsurge_common::outcome::ExitCode;
use serde::Deserialize;

use super::experiment::{self, Here, Varied, VariedArgs};
use super::run::Surroundings;
use super::tell;
use super::usage::UsageError;
use crate::experiment::Runs;
use crate::experiment::stage::{Stage, system_before};
use crate::experiment::sweep::{Head, Measured, Order, Plan, Sweep, page as drawn, print};

/// Measure every combination of values, again and again
#[derive(Clone, Debug, Parser)]
#[command(name = "sweep", display_name = "pgsurge-sweep", bin_name = "pgsurge sweep", version = super::version::number())]
pub struct SweepArgs {
    /// What is varied.
    #[command(flatten)]
    pub varied: VariedArgs,
    /// runs of each point [default: 3]
    #[arg(long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// interleaved, sequential or random [default: interleaved]
    #[arg(long, value_name = "ORDER", value_parser = order)]
    pub order: Option<Order>,
    /// folder of all results [default: pgsurge-results/sweep-TIME]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// go on with the sweep in this folder; everything else as when it began
    #[arg(long, value_name = "DIR", conflicts_with = "results")]
    pub resume: Option<PathBuf>,
    /// options of "pgsurge run" (but --results, --format and what is varied) and the target; they come last
    #[arg(value_name = "RUN OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub run: Vec<OsString>,
}

/// What of the file is the sweep's own.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    repeats: Option<u32>,
    order: Order,
}

/// Keys of the file.
const KEYS: [&str; 12] = [
    "repeats",
    "order",
    "cool_down",
    "checkpoint",
    "prewarm",
    "restart_cmd",
    "recover_cmd",
    "data_directory",
    "restart_timeout",
    "axes",
    "settings",
    "system",
];

fn order(text: &str) -> Result<Order, String> {
    match text {
        "interleaved" => Ok(Order::Interleaved),
        "sequential" => Ok(Order::Sequential),
        "random" => Ok(Order::Random),
        _ => Err("expected interleaved, sequential or random".to_owned()),
    }
}

impl SweepArgs {
    /// Checks what file and options say together, those of the runs included.
    pub fn check(&self) -> Result<(), UsageError> {
        self.plan().map(drop)
    }

    fn plan(&self) -> Result<(Plan, Varied), UsageError> {
        let text = self.varied.text()?;
        experiment::known_keys(self.varied.file.as_deref(), &text, &KEYS)?;
        let file: File = toml::from_str(&text).map_err(|error| UsageError::new(error.message()))?;
        let varied = self.varied.varied(&text, &self.run, &[])?;
        let repeats = self.repeats.or(file.repeats).unwrap_or(3).max(1) as usize;
        let plan =
            Plan { axes: varied.axes.clone(), repeats, order: self.order.unwrap_or(file.order) };
        plan.check().map_err(UsageError::new)?;
        Ok((plan, varied))
    }
}

/// Sweeps, prints and keeps the answer.
///
/// # Errors
/// It could not begin, or something could not be put back.
pub async fn sweep(
    args: SweepArgs,
    surroundings: impl Fn() -> Result<Surroundings>,
) -> Result<ExitCode> {
    let (plan, varied) = args.plan()?;
    let target = varied.target()?;
    let interrupted = surroundings()?.interrupts.drain;
    let again = args.resume.is_some();
    let folder = args.resume.or(args.results);
    let folder = folder.unwrap_or_else(|| experiment::default_folder("sweep"));
    let resumed = if again { Some(resume(&folder, &plan)?) } else { None };
    let originals = resumed.as_ref().map(|(_, head)| head.originals.clone());
    let server = varied.server(&target, &folder, originals).await?;
    let system = match &resumed {
        Some((_, head)) => head.system.clone(),
        None => system_before(&plan.axes).await.map_err(anyhow::Error::msg)?,
    };
    let page = experiment::page(varied.line()).await?;
    let here = Here { surroundings, page: page.clone() };
    let (runs, mut sweep) = if let Some((sweep, _)) = resumed {
        (Runs::again(here, varied.run(), &folder), sweep)
    } else {
        let runs = Runs::new(here, varied.run(), &folder)?;
        let originals = server.as_ref().map(|server| server.originals().to_vec());
        let (plan, system) = (plan.clone(), system.clone());
        let head = Head { plan, originals: originals.unwrap_or_default(), system };
        (runs, Sweep::begin(&folder, &head)?)
    };
    let habits = (varied.habits.clone(), interrupted);
    let mut stage = Stage::new(runs, (target, server), system, habits);
    let (all, done) = sweep.progress();
    let mut number = done;
    let outcome = sweep.go_on(&mut stage, |plan, run| {
        number += 1;
        experiment::told(page.as_deref(), &format!("[{number}/{all}] {}", line(plan, run)));
    });
    let outcome = outcome.await;
    let left = stage.leave().await;
    if let Some(page) = &page {
        page.close().await;
    }
    finish(&folder, &sweep)?;
    if let Err(left) = left {
        bail!(left);
    }
    match outcome {
        Ok(()) if sweep.answer().is_whole() => Ok(ExitCode::Done),
        Ok(()) => Ok(ExitCode::Invalid),
        Err(error) if error.is_interrupt() => Ok(ExitCode::Interrupted),
        Err(error) => Err(error.into()),
    }
}

fn resume(folder: &Path, plan: &Plan) -> Result<(Sweep, Head)> {
    let (sweep, head) = Sweep::resume(folder)?;
    if head.plan != *plan {
        bail!("the sweep in {} varied something else, or in another way", folder.display());
    }
    Ok((sweep, head))
}

fn line(plan: &Plan, run: &Measured) -> String {
    let point = plan.shown(&run.point);
    let figures = run.tps.zip(run.latency_ms.as_ref());
    match (&run.because, figures) {
        (Some(why), _) => format!("{point}: {why}"),
        (None, Some((tps, ms))) => {
            format!("{point}: {tps:.1} tps, p50 {:.3} ms, p99 {:.3} ms", ms.p50, ms.p99)
        }
        (None, None) => point,
    }
}

/// Keeps and prints what is known.
fn finish(folder: &Path, sweep: &Sweep) -> Result<()> {
    let answer = sweep.answer();
    experiment::keep(&folder.join("sweep.json"), &answer, &drawn(&answer))?;
    let mut out = io::stdout().lock();
    // The answer is in the folder, whoever listens.
    let _ = print(&mut out, &answer).and_then(|()| out.flush());
    tell::line(&format_args!("results are in {}", folder.display()));
    Ok(())
}
