//! What executes load, as the session sees it: the real one, or a test's own.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::load::{Load, LoadEvent, LoadOptions, Stop};

/// Makes loads.
pub trait Engine: Send + 'static {
    /// The load that it makes.
    type Load: RunningLoad;

    /// Begins to open the sessions of a share.
    ///
    /// # Errors
    /// It cannot be done on this host, with the reason for the user.
    fn prepare(
        &mut self,
        plan: Arc<Plan>,
        share: &Share,
    ) -> Result<(Self::Load, UnboundedReceiver<LoadEvent>), String>;
}

/// A load that was made; see [`Load`] for what each call means. Dropping it ends it.
pub trait RunningLoad: Send + 'static {
    /// Begin at an instant.
    fn arm(&self, start: Instant);
    /// Do not, after all; `false` if it had begun.
    fn disarm(&self) -> bool;
    /// End.
    fn stop(&self, stop: Stop);
}

/// The real one.
#[derive(Clone, Debug, Default)]
pub struct LoadEngine {
    /// What this host allows.
    pub options: LoadOptions,
}

impl Engine for LoadEngine {
    type Load = Load;

    fn prepare(
        &mut self,
        plan: Arc<Plan>,
        share: &Share,
    ) -> Result<(Load, UnboundedReceiver<LoadEvent>), String> {
        Load::prepare(plan, share, &self.options).map_err(|error| {
            let mut text = error.to_string();
            let mut cause = error.source();
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            text
        })
    }
}

impl RunningLoad for Load {
    fn arm(&self, start: Instant) {
        self.arm(start);
    }

    fn disarm(&self) -> bool {
        self.disarm()
    }

    fn stop(&self, stop: Stop) {
        self.stop(stop);
    }
}
