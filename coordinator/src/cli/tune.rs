//! `pgsurge tune`: a search for better values, and everything as before afterwards.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Parser;
use pgsurge_common::outcome::ExitCode;
use serde::Deserialize;

use super::experiment::{self, Here, Varied, VariedArgs};
use super::run::Surroundings;
use super::tell;
use super::usage::UsageError;
use crate::experiment::Runs;
use crate::experiment::stage::{Knob, Server, Stage, SystemBefore, system_before};
use crate::experiment::tune::{
    Answer, Head, Purpose, Question, Strategy, Trial, Tuning, page as drawn, print,
};

/// Search for settings that are better than those there are
#[derive(Clone, Debug, Parser)]
#[command(name = "tune", display_name = "pgsurge-tune", bin_name = "pgsurge tune", version = super::version::number())]
pub struct TuneArgs {
    /// What is tuned.
    #[command(flatten)]
    pub varied: VariedArgs,
    /// tps (the more the better), or mean, p50, p90, p95, p99, p99.9, max (the less) [default: tps]
    #[arg(long, value_name = "NAME")]
    pub objective: Option<String>,
    /// grid, random or model [default: model]
    #[arg(long, value_name = "NAME", value_parser = strategy)]
    pub strategy: Option<Strategy>,
    /// points to try at most [default: 30, all of a grid]
    #[arg(long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub trials: Option<u32>,
    /// length of each run in seconds [default: 30]
    #[arg(long, value_name = "SEC", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub step_time: Option<u32>,
    /// length of the run that shows whether a point is hopeless, 0 for none [default: a fifth of --step-time]
    #[arg(long, value_name = "SEC", value_parser = clap::value_parser!(u32).range(0..=86_400))]
    pub probe_time: Option<u32>,
    /// a point is hopeless if its probe is worse than the baseline's by so much [default: 25]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub hopeless: Option<f64>,
    /// measure the baseline again after so many points [default: 5]
    #[arg(long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..))]
    pub baseline_every: Option<u32>,
    /// runs of the best point and of the baseline at the end, each [default: 6]
    #[arg(long, value_name = "NUM", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub confirm: Option<u32>,
    /// seed of what is left to chance [default: 1]
    #[arg(long, value_name = "NUM")]
    pub seed: Option<u64>,
    /// folder of all results [default: pgsurge-results/tune-TIME]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// go on with the search in this folder; everything else as when it began
    #[arg(long, value_name = "DIR", conflicts_with = "results")]
    pub resume: Option<PathBuf>,
    /// options of "pgsurge run" (but -T, -t, --results, --format and what is tuned) and the target; they come last
    #[arg(value_name = "RUN OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub run: Vec<OsString>,
}

/// What of the file is the search's own.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    objective: Option<String>,
    strategy: Option<Strategy>,
    trials: Option<u32>,
    step_time: Option<u32>,
    probe_time: Option<u32>,
    hopeless: Option<f64>,
    baseline_every: Option<u32>,
    confirm: Option<u32>,
    seed: Option<u64>,
}

/// Keys of the file.
const KEYS: [&str; 19] = [
    "objective",
    "strategy",
    "trials",
    "step_time",
    "probe_time",
    "hopeless",
    "baseline_every",
    "confirm",
    "seed",
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

fn strategy(text: &str) -> Result<Strategy, String> {
    match text {
        "grid" => Ok(Strategy::Grid),
        "random" => Ok(Strategy::Random),
        "model" => Ok(Strategy::Model),
        _ => Err("expected grid, random or model".to_owned()),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

impl TuneArgs {
    /// Checks what file and options say together, those of the runs included.
    pub fn check(&self) -> Result<(), UsageError> {
        self.question().map(drop)
    }

    fn question(&self) -> Result<(Question, Varied), UsageError> {
        let text = self.varied.text()?;
        experiment::known_keys(self.varied.file.as_deref(), &text, &KEYS)?;
        let file: File = toml::from_str(&text).map_err(|error| UsageError::new(error.message()))?;
        let varied = self.varied.varied(&text, &self.run, &["time", "transactions"])?;
        let seconds = self.step_time.or(file.step_time).unwrap_or(30).max(1);
        let strategy = self.strategy.or(file.strategy).unwrap_or_default();
        let mut question = Question {
            axes: varied.axes.clone(),
            objective: self
                .objective
                .clone()
                .or(file.objective)
                .unwrap_or_else(|| "tps".to_owned()),
            strategy,
            seed: self.seed.or(file.seed).unwrap_or(1),
            trials: 30,
            baseline_every: self.baseline_every.or(file.baseline_every).unwrap_or(5).max(1)
                as usize,
            seconds,
            probe_seconds: self.probe_time.or(file.probe_time).unwrap_or(seconds / 5),
            hopeless_percent: self.hopeless.or(file.hopeless).unwrap_or(25.0),
            confirmations: self.confirm.or(file.confirm).unwrap_or(6) as usize,
        };
        question.trials = match self.trials.or(file.trials) {
            Some(trials) => trials as usize,
            None if strategy == Strategy::Grid => question.points(),
            None => 30,
        };
        question.check().map_err(UsageError::new)?;
        Ok((question, varied))
    }
}

/// Searches, prints and keeps the answer.
///
/// # Errors
/// It could not begin, or something could not be put back.
pub async fn tune(
    args: TuneArgs,
    surroundings: impl Fn() -> Result<Surroundings>,
) -> Result<ExitCode> {
    let (question, varied) = args.question()?;
    let target = varied.target()?;
    let interrupted = surroundings()?.interrupts.drain;
    let resumed = match &args.resume {
        Some(folder) => Some(resume(folder, &question)?),
        None => None,
    };
    let folder = args.resume.or(args.results).unwrap_or_else(|| experiment::default_folder("tune"));
    let before = resumed.as_ref().map(Tuning::head);
    let originals = before.map(|head| head.originals.clone());
    let server = varied.server(&target, &folder, originals).await?;
    let system = match before {
        Some(head) => head.system.clone(),
        None => system_before(&question.axes).await.map_err(anyhow::Error::msg)?,
    };
    let page = experiment::page(varied.line()).await?;
    let here = Here { surroundings, page: page.clone() };
    let (runs, mut tuning) = if let Some(tuning) = resumed {
        (Runs::again(here, varied.run(), &folder), tuning)
    } else {
        let runs = Runs::new(here, varied.run(), &folder)?;
        (runs, Tuning::begin(&folder, head(question, server.as_ref(), &system))?)
    };
    let mut stage =
        Stage::new(runs, (target, server), system, (varied.habits.clone(), interrupted));
    let told = |head: &Head, trial: &Trial| experiment::told(page.as_deref(), &line(head, trial));
    let outcome = tuning.go_on(&mut stage, told).await;
    let left = stage.leave().await;
    if let Some(page) = &page {
        page.close().await;
    }
    let needs_restart =
        |name: &str| stage.server.as_ref().is_some_and(|server| server.needs_restart(name));
    let answer = tuning.answer(needs_restart);
    finish(&folder, &answer)?;
    if let Err(left) = left {
        bail!(left);
    }
    match outcome {
        Ok(()) if answer.best.is_some() => Ok(ExitCode::Done),
        Ok(()) => Ok(ExitCode::Invalid),
        Err(error) if error.is_interrupt() => Ok(ExitCode::Interrupted),
        Err(error) => Err(error.into()),
    }
}

/// The baseline is what is there; of an option of the runs it is the first value.
fn head(question: Question, server: Option<&Server>, system: &SystemBefore) -> Head {
    let before = |knob: &Knob| match knob {
        Knob::Setting(name) => server?.present(name).map(str::to_owned),
        Knob::System(knob) => {
            system.iter().find(|(known, _)| known == knob).map(|(_, value)| value.clone())
        }
        _ => None,
    };
    let axes = question.axes.iter();
    let baseline = axes.map(|axis| before(&axis.knob).unwrap_or_else(|| axis.values[0].clone()));
    let originals = server.map(|server| server.originals().to_vec()).unwrap_or_default();
    Head { baseline: baseline.collect(), originals, system: system.clone(), question }
}

fn resume(folder: &Path, question: &Question) -> Result<Tuning> {
    let tuning = Tuning::resume(folder)?;
    if tuning.head().question != *question {
        bail!("the search in {} was for something else, or in another way", folder.display());
    }
    Ok(tuning)
}

fn line(head: &Head, trial: &Trial) -> String {
    let axes = head.question.axes.iter().zip(&trial.values);
    let point = axes.map(|(axis, value)| format!("{}={value}", axis.knob.name()));
    let point = point.collect::<Vec<_>>().join(" ");
    let what = match trial.purpose {
        Purpose::Baseline => "baseline",
        Purpose::Point => "point",
        Purpose::Best => "best again",
        Purpose::BesideBest => "baseline again",
    };
    match (&trial.because, trial.value) {
        (Some(why), _) => format!("{what} {point}: {why}"),
        (None, Some(value)) => format!("{what} {point}: {} {value:.3}", head.question.objective),
        (None, None) => format!("{what} {point}"),
    }
}

/// Keeps and prints what is known.
fn finish(folder: &Path, answer: &Answer) -> Result<()> {
    for (name, lines) in [("best.sql", &answer.alter_system), ("best.conf", &answer.conf)] {
        let path = folder.join(name);
        let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    experiment::keep(&folder.join("tune.json"), answer, &drawn(answer))?;
    let mut out = io::stdout().lock();
    // The answer is in the folder, whoever listens.
    let _ = print(&mut out, answer).and_then(|()| out.flush());
    tell::line(&format_args!("results are in {}", folder.display()));
    Ok(())
}
