//! Options of experiments that vary something, and the stage that they make.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use pgsurge_common::target::Target;
use serde::Deserialize;

use super::space::{self, Space};
use super::{OWNED, a_run, refuse};
use crate::cli::target::resolve_target;
use crate::cli::usage::UsageError;
use crate::cli::values::seconds_of;
use crate::experiment::stage::{
    Axis, Habits, Knob, Original, Server, ServerError, Ways, arguments,
};

/// What is varied, and how the server takes it.
#[derive(Clone, Debug, Default, Args)]
pub struct VariedArgs {
    /// a TOML file with any of what options say
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// vary an option of the runs: clients, rate, workload, protocol or scale; repeatable
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub axis: Vec<String>,
    /// vary a setting of the server; repeatable
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub setting: Vec<String>,
    /// seconds of rest before each run
    #[arg(long, value_name = "SEC", value_parser = pause)]
    pub cool_down: Option<Duration>,
    /// have the server write a checkpoint before each run
    #[arg(long)]
    pub checkpoint: bool,
    /// load the tables into the server's cache before each run
    #[arg(long)]
    pub prewarm: bool,
    /// command that restarts the server
    #[arg(long, value_name = "COMMAND")]
    pub restart_cmd: Option<String>,
    /// command that takes changed settings back where the server does not start with them
    #[arg(long, value_name = "COMMAND")]
    pub recover_cmd: Option<String>,
    /// data directory of the server, if it is on this host: no restart command is needed then
    #[arg(long, value_name = "DIR")]
    pub data_directory: Option<PathBuf>,
    /// how long a restart may take in seconds [default: 120]
    #[arg(long, value_name = "SEC", value_parser = pause)]
    pub restart_timeout: Option<Duration>,
}

/// The same as a file has it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    cool_down: Option<f64>,
    checkpoint: bool,
    prewarm: bool,
    restart_cmd: Option<String>,
    recover_cmd: Option<String>,
    data_directory: Option<PathBuf>,
    restart_timeout: Option<f64>,
    #[serde(flatten)]
    space: Space,
}

/// What is varied and how, after file and options were put together.
#[derive(Clone, Debug)]
pub struct Varied {
    /// What is varied.
    pub axes: Vec<Axis>,
    /// What comes before each run.
    pub habits: Habits,
    ways: Ways,
    run: Vec<OsString>,
}

fn pause(text: &str) -> Result<Duration, String> {
    seconds_of(text, true)
}

impl VariedArgs {
    /// The file's text; none where there is no file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn text(&self) -> Result<String, UsageError> {
        let Some(path) = &self.file else { return Ok(String::new()) };
        std::fs::read_to_string(path)
            .map_err(|error| UsageError::new(format!("cannot read {}: {error}", path.display())))
    }

    /// Puts file and options together, options first, and checks them with the options of the runs.
    ///
    /// # Errors
    /// Something is wrong; nothing was done.
    pub fn varied(
        &self,
        text: &str,
        run: &[OsString],
        own: &[&'static str],
    ) -> Result<Varied, UsageError> {
        let wrong = |what: String| {
            let path = self.file.as_deref().unwrap_or(Path::new(""));
            UsageError::new(format!("{}: {what}", path.display()))
        };
        let file: File = toml::from_str(text).map_err(|error| wrong(error.message().to_owned()))?;
        let seconds = |given: Option<Duration>, of_file: Option<f64>| match of_file {
            Some(number) if given.is_none() => {
                pause(&number.to_string()).map(Some).map_err(|what| wrong(what.clone()))
            }
            _ => Ok(given),
        };
        let mut axes = file.space.axes()?;
        axes.extend(self.axis.iter().map(|text| space::axis(text)).collect::<Result<Vec<_>, _>>()?);
        axes.extend(
            self.setting.iter().map(|text| space::setting(text)).collect::<Result<Vec<_>, _>>()?,
        );
        let habits = Habits {
            cool_down: seconds(self.cool_down, file.cool_down)?.unwrap_or_default(),
            checkpoint: self.checkpoint || file.checkpoint,
            prewarm: self.prewarm || file.prewarm,
        };
        let ways = Ways {
            restart: self.restart_cmd.clone().or(file.restart_cmd),
            recover: self.recover_cmd.clone().or(file.recover_cmd),
            data_directory: self.data_directory.clone().or(file.data_directory),
            patience: seconds(self.restart_timeout, file.restart_timeout)?
                .unwrap_or(Duration::from_secs(120)),
            log: PathBuf::new(),
            server_log: None,
        };
        let varied = Varied { axes, habits, ways, run: run.to_vec() };
        varied.check(own)?;
        Ok(varied)
    }
}

impl Varied {
    /// Runs take each value, and nothing is said twice.
    fn check(&self, own: &[&'static str]) -> Result<(), UsageError> {
        let rivals = self.axes.iter().flat_map(|axis| axis.knob.rivals());
        refuse(&self.run, &OWNED.iter().chain(own).chain(rivals).copied().collect::<Vec<_>>())?;
        let first: Vec<(Knob, String)> = self
            .axes
            .iter()
            .filter_map(|axis| Some((axis.knob.clone(), axis.values.first()?.clone())))
            .collect();
        for (place, axis) in self.axes.iter().enumerate() {
            for value in &axis.values {
                let mut state = first.clone();
                if let Some(one) = state.get_mut(place) {
                    one.1.clone_from(value);
                }
                let mut line = arguments(&state);
                line.extend(self.run.iter().cloned());
                a_run(line)?;
                if axis.knob == Knob::Scale && !value.parse::<u32>().is_ok_and(|scale| scale > 0) {
                    return Err(UsageError::new(format!("invalid scale: {value}")));
                }
            }
        }
        Ok(())
    }

    /// The runs' target.
    pub fn target(&self) -> Result<Target> {
        resolve_target(&a_run(self.line())?.1)
    }

    /// The command line of a run, the one of the first point.
    #[must_use]
    pub fn line(&self) -> Vec<OsString> {
        let first: Vec<(Knob, String)> = self
            .axes
            .iter()
            .map(|axis| (axis.knob.clone(), axis.values.first().cloned().unwrap_or_default()))
            .collect();
        let mut line = arguments(&first);
        line.extend(self.run.iter().cloned());
        line
    }

    /// Looks at the settings of the server that are varied; nothing is changed. `folder` is where commands print to.
    ///
    /// # Errors
    /// The server is not there or would not take something.
    pub async fn server(
        &self,
        target: &Target,
        folder: &Path,
        originals: Option<Vec<Original>>,
    ) -> Result<Option<Server>> {
        let settings: Vec<(String, Vec<String>)> = self
            .axes
            .iter()
            .filter_map(|axis| match &axis.knob {
                Knob::Setting(name) => Some((name.clone(), axis.values.clone())),
                _ => None,
            })
            .collect();
        if settings.is_empty() {
            return Ok(None);
        }
        let ways = Ways { log: folder.join("commands.log"), ..self.ways.clone() };
        let looked = Server::look(target.clone(), ways, &settings, originals).await;
        looked.map(Some).map_err(|error| match error {
            ServerError::Refused(why) => anyhow::anyhow!(why),
            other => other.into(),
        })
    }

    /// Options of the runs.
    #[must_use]
    pub fn run(&self) -> Vec<OsString> {
        self.run.clone()
    }
}
