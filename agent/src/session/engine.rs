//! What executes load, as the session sees it: the real one, or a test's own.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::load::{Load, LoadEvent, LoadOptions, Stop, WrittenLog};

/// Makes loads.
pub trait Engine: Send + 'static {
    /// The load that it makes.
    type Load: RunningLoad;

    /// Begins to open the sessions of a share; `at_work` clients of the run are on this host already.
    ///
    /// # Errors
    /// It cannot be done on this host, with the reason for the user.
    fn prepare(
        &mut self,
        plan: Arc<Plan>,
        share: &Share,
        at_work: u32,
    ) -> Result<(Self::Load, UnboundedReceiver<LoadEvent>), String>;
}

/// A load that was made; see [`Load`] for what each call means. Dropping it ends it.
pub trait RunningLoad: Send + 'static {
    /// Begin so long after the common start.
    fn join(&self, start: Instant, after: Duration);
    /// Do not, after all; `false` if it had begun.
    fn disarm(&self) -> bool;
    /// End.
    fn stop(&self, stop: Stop);
    /// The log files that it writes.
    fn logs(&self) -> Vec<WrittenLog>;
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
        at_work: u32,
    ) -> Result<(Load, UnboundedReceiver<LoadEvent>), String> {
        let clients = share.clients().saturating_add(at_work);
        self.options.check_clients(clients).map_err(|error| error.to_string())?;
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
    fn join(&self, start: Instant, after: Duration) {
        self.join(start, after);
    }

    fn disarm(&self) -> bool {
        self.disarm()
    }

    fn stop(&self, stop: Stop) {
        self.stop(stop);
    }

    fn logs(&self) -> Vec<WrittenLog> {
        self.logs().to_vec()
    }
}
