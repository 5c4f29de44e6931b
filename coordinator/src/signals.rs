//! SIGINT and SIGTERM: the first asks for an orderly end with a report, the second for an end at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::run::Interrupts;

/// Listens for signals in a task of the current runtime.
pub fn interrupts() -> std::io::Result<Interrupts> {
    let interrupts = Interrupts::default();
    let (interrupt, terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::spawn(listen(interrupts.clone(), interrupt, terminate));
    Ok(interrupts)
}

async fn listen(interrupts: Interrupts, mut interrupt: Signal, mut terminate: Signal) {
    for token in [&interrupts.drain, &interrupts.abort] {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        token.cancel();
    }
}
