//! What a worker does from its first session to its last: open, wait for the start, keep time while
//! its clients work, close.
//!
//! Whatever happens, a worker says `Connected` once and then `Done` once, so that nobody waits for it
//! in vain.

use std::time::Instant;

use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;

use super::crew::Assignment;
use super::timer::Timer;
use super::{Command, Start, WorkerEvent, WorkerResult};
use crate::load::{Ready, Stop};

/// The body of a worker's thread.
pub(super) fn run(assignment: Assignment) {
    let outbox = assignment.outbox.clone();
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let result = match runtime {
        Ok(runtime) => runtime.block_on(work(assignment)),
        Err(_) => WorkerResult::default(),
    };
    outbox.send(WorkerEvent::Done(Box::new(result)));
}

async fn work(mut assignment: Assignment) -> WorkerResult {
    assignment.outbox.send(WorkerEvent::Connected(Box::new(Ready::default())));
    let Ok(timer) = Timer::new() else { return WorkerResult::default() };
    tokio::select! {
        _ = timer.drive() => {}
        _ = wait_for_start(&assignment.start, &mut assignment.commands, &timer) => {}
    }
    WorkerResult::default()
}

/// Waits until the load begins; `None` if it is stopped before.
async fn wait_for_start(
    start: &Start,
    commands: &mut UnboundedReceiver<Command>,
    timer: &Timer,
) -> Option<Instant> {
    loop {
        if let Some(begun) = start.begin(Instant::now()) {
            return Some(begun);
        }
        let far = Instant::now() + std::time::Duration::from_secs(86_400);
        tokio::select! {
            () = timer.sleep_until(start.instant().unwrap_or(far)) => {}
            command = commands.recv() => match command {
                Some(Command::StartChanged) => {}
                Some(Command::Stop(Stop::Drain | Stop::Now)) | None => return None,
            }
        }
    }
}
