//! What experiments change around their runs: options of the run, the tables' scale, settings of the server and of the
//! operating system; and that all of it is as before when they end.
//!
//! `knob` says what can be varied, `setting` what the server takes, `look` what is known before anything is changed, `ways` how
//! it is restarted, `server` puts settings into force and back, `commands` runs what users give. The stage itself is the order of these around a run.

mod commands;
mod knob;
mod look;
mod server;
mod setting;
mod ways;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use pgsurge_common::target::Target;
use tokio_util::sync::CancellationToken;

use super::runs::{Asked, Ended, OneRun, Runs, RunsError};
use crate::observe::{Session, TargetError};

pub use knob::{Axis, Knob, SystemKnob};
pub use server::{Original, Server, ServerError, statement};
pub use setting::size;
pub use ways::Ways;

/// How long a command that gets or sets something of the operating system may take.
const SYSTEM_WITHIN: Duration = Duration::from_secs(60);

/// Settings of the operating system with their values before anything was changed.
pub type SystemBefore = Vec<(SystemKnob, String)>;

/// Reads what the operating system has.
///
/// # Errors
/// A command that is to read it fails.
pub async fn system_before(axes: &[Axis]) -> Result<SystemBefore, String> {
    let mut system = Vec::new();
    for axis in axes {
        let Knob::System(knob) = &axis.knob else { continue };
        let value = commands::printed(&mut commands::shell(&knob.get, &[]), SYSTEM_WITHIN).await;
        let failed = |why| format!("the command that gets {} {why}: {}", knob.name, knob.get);
        system.push((knob.clone(), value.map_err(failed)?));
    }
    Ok(system)
}

/// What comes before each run.
#[derive(Clone, Debug, Default)]
pub struct Habits {
    /// Nothing is done for so long.
    pub cool_down: Duration,
    /// The server writes a checkpoint, so that no run inherits one.
    pub checkpoint: bool,
    /// `--prewarm`.
    pub prewarm: bool,
}

/// The present state, and the means to change it.
#[derive(Debug)]
pub struct Stage<R> {
    /// Who makes the runs.
    pub runs: Runs<R>,
    /// The target, for checkpoints.
    pub target: Target,
    /// The server, if settings of it are varied.
    pub server: Option<Server>,
    /// What comes before each run.
    pub habits: Habits,
    /// The user wants to stop.
    pub interrupted: CancellationToken,
    system: SystemBefore,
    scale: Option<String>,
}

/// Why there are no figures of a point.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// It cannot be measured; others can.
    #[error("{0}")]
    Point(String),
    /// Nothing more can be done.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// The same; the message says what is left to do.
    #[error("{0}")]
    Broken(String),
}

impl From<ServerError> for StageError {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Unsuitable(why) => Self::Point(why),
            ServerError::Refused(why) | ServerError::Broken(why) => Self::Broken(why),
        }
    }
}

impl<R: OneRun> Stage<R> {
    /// Nothing is changed yet.
    #[must_use]
    pub fn new(
        runs: Runs<R>,
        (target, server): (Target, Option<Server>),
        system: SystemBefore,
        (habits, interrupted): (Habits, CancellationToken),
    ) -> Self {
        Self { runs, target, server, habits, interrupted, system, scale: None }
    }

    /// Brings everything into this state.
    ///
    /// # Errors
    /// See [`StageError`].
    pub async fn set(&mut self, state: &[(Knob, String)]) -> Result<(), StageError> {
        let settings: BTreeMap<String, String> = state
            .iter()
            .filter_map(|(knob, value)| match knob {
                Knob::Setting(name) => Some((name.clone(), value.clone())),
                _ => None,
            })
            .collect();
        if let Some(server) = &mut self.server {
            server.apply(&settings).await?;
        }
        for (knob, value) in state {
            match knob {
                Knob::System(knob) => set_system(knob, value).await.map_err(StageError::Point)?,
                Knob::Scale if self.scale.as_ref() != Some(value) => {
                    self.scale = None;
                    self.runs.init(value).await?;
                    self.scale = Some(value.clone());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes a run in this state.
    ///
    /// # Errors
    /// See [`StageError`].
    pub async fn run(
        &mut self,
        state: &[(Knob, String)],
        name: String,
        more: &[String],
    ) -> Result<Ended, StageError> {
        self.set(state).await?;
        self.before_a_run().await?;
        let mut options: Vec<String> =
            state.iter().flat_map(|(knob, value)| knob.arguments(value)).collect();
        if self.habits.prewarm {
            options.push("--prewarm".to_owned());
        }
        options.extend_from_slice(more);
        Ok(self.runs.run(&Asked { name, options }).await?)
    }

    async fn before_a_run(&mut self) -> Result<(), StageError> {
        tokio::select! {
            () = self.interrupted.cancelled() => return Err(RunsError::Interrupted.into()),
            () = tokio::time::sleep(self.habits.cool_down) => {}
        }
        if self.habits.checkpoint {
            let done = checkpoint(&self.target).await;
            done.map_err(|why| StageError::Broken(format!("no checkpoint before a run: {why}")))?;
        }
        Ok(())
    }

    /// Whether the target does.
    ///
    /// # Errors
    /// It does not.
    pub async fn answers(&self) -> Result<(), TargetError> {
        let session = Session::open(&self.target).await?;
        session.close().await;
        Ok(())
    }

    /// Leaves everything as it was, whatever happened.
    ///
    /// # Errors
    /// What could not be put back, and how the user can.
    pub async fn leave(&mut self) -> Result<(), String> {
        let mut left = Vec::new();
        if let Some(server) = &mut self.server
            && let Err(error) = server.restore().await
        {
            left.push(error.to_string());
        }
        for (knob, value) in &self.system {
            if let Err(why) = set_system(knob, value).await {
                left.push(why);
            }
        }
        if left.is_empty() { Ok(()) } else { Err(left.join("; ")) }
    }
}

async fn set_system(knob: &SystemKnob, value: &str) -> Result<(), String> {
    let mut command = commands::shell(&knob.set, &[("VALUE", value)]);
    let set = commands::printed(&mut command, SYSTEM_WITHIN).await;
    set.map_err(|why| {
        format!("the command that sets {} to {value} {why}: {}", knob.name, knob.set)
    })?;
    let now = commands::printed(&mut commands::shell(&knob.get, &[]), SYSTEM_WITHIN).await;
    match now {
        Ok(now) if now == value => Ok(()),
        Ok(now) => Err(format!("{} is {now} after it was set to {value}", knob.name)),
        Err(why) => Err(format!("the command that gets {} {why}: {}", knob.name, knob.get)),
    }
}

async fn checkpoint(target: &Target) -> Result<(), String> {
    let mut session = Session::open(target).await.map_err(|error| error.to_string())?;
    let done = session.execute("checkpoint").await;
    session.close().await;
    done.map_err(|error| error.to_string())
}

/// Arguments of `run` for a state, as [`Stage::run`] gives them.
#[must_use]
pub fn arguments(state: &[(Knob, String)]) -> Vec<OsString> {
    let arguments = state.iter().flat_map(|(knob, value)| knob.arguments(value));
    arguments.map(OsString::from).collect()
}
