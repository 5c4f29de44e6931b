//! SIGINT and SIGTERM: the first asks for an orderly end with a report, the second for an end at once.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// What a process was asked to do; both tokens stay cancelled once they are.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Finish what is in flight, then leave.
    pub drain: CancellationToken,
    /// Leave at once.
    pub abort: CancellationToken,
}

impl Shutdown {
    /// Listens for signals in a task of the current runtime.
    pub fn on_signals() -> std::io::Result<Self> {
        let shutdown = Self::default();
        let (interrupt, terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::spawn(listen(shutdown.clone(), interrupt, terminate));
        Ok(shutdown)
    }
}

async fn listen(shutdown: Shutdown, mut interrupt: Signal, mut terminate: Signal) {
    for token in [&shutdown.drain, &shutdown.abort] {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        token.cancel();
    }
}
