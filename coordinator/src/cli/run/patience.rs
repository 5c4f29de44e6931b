//! Waiting for things that a user may lose the patience for: an interrupt ends each of them at once.

use std::time::Duration;

use tokio::task::JoinHandle;

use crate::observe::Canceller;
use crate::run::{Interrupts, RunError};

/// How long a cancel request may take on its way.
const CANCELLED_WITHIN: Duration = Duration::from_secs(3);

/// Waits, unless the user wants no more of it.
pub async fn unless<T>(
    interrupts: &Interrupts,
    waited_for: impl Future<Output = T>,
) -> Result<T, RunError> {
    tokio::select! {
        done = waited_for => Ok(done),
        () = interrupts.drain.cancelled() => Err(RunError::Interrupted),
    }
}

/// The same for what a session of the coordinator does: the server is asked to stop its statement, which
/// would else go on without anybody to read its result.
pub async fn unless_cancelled<T>(
    interrupts: &Interrupts,
    canceller: &Canceller,
    waited_for: impl Future<Output = T>,
) -> Result<T, RunError> {
    let done = unless(interrupts, waited_for).await;
    if done.is_err() {
        // Whether or not the request arrives, the session ends.
        tokio::select! {
            _ = tokio::time::timeout(CANCELLED_WITHIN, canceller.cancel()) => {}
            () = interrupts.abort.cancelled() => {}
        }
    }
    done
}

/// A task that ends with its owner.
pub struct Beside(JoinHandle<()>);

impl Beside {
    /// Starts it.
    pub fn start(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(task))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.0.abort();
    }
}
