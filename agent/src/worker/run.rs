//! What a worker does from its first session to its last: open, wait for the start, keep time while
//! its clients work, close.
//!
//! A worker says `Connected` once and then `Done` once, or else `Died`, so that nobody waits for it in
//! vain.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Instant;

use pgsurge_common::stats::micros;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;

use super::crew::{Assignment, Outbox};
use super::log::Log;
use super::open::{Opened, Opener};
use super::recorder::Recorder;
use super::shift::Shift;
use super::station::{Furnishing, Schedule, Station};
use super::timer::Timer;
use super::{Begin, Command, Start, WorkerEvent, WorkerResult};
use crate::client::Session;
use crate::load::{Ready, Stop};
use crate::vitals::CpuMeter;

/// Tells if a worker ends without having said so, which is a bug.
struct Farewell {
    outbox: Outbox,
    said: bool,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        if !self.said {
            self.outbox.send(WorkerEvent::Died);
        }
    }
}

/// The body of a worker's thread.
pub(super) fn run(assignment: Assignment) {
    let outbox = assignment.outbox.clone();
    let mut farewell = Farewell { outbox: outbox.clone(), said: false };
    let wanted = assignment.sessions_wanted();
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let result = runtime.and_then(|runtime| {
        let result = runtime.block_on(work(assignment));
        // Without waiting for threads that look after shell commands of scripts.
        runtime.shutdown_background();
        result
    });
    let result = result.unwrap_or_else(|error| {
        let mut ready = Ready::default();
        ready.connect.wanted = wanted;
        ready.connect.example = Some(format!("cannot run a worker: {error}"));
        outbox.send(WorkerEvent::Connected(Box::new(ready)));
        WorkerResult::default()
    });
    farewell.said = true;
    outbox.send(WorkerEvent::Done(Box::new(result)));
}

async fn work(mut assignment: Assignment) -> io::Result<WorkerResult> {
    let timer = Timer::new()?;
    let driver = timer.clone();
    tokio::task::spawn_local(async move { driver.drive().await });
    let meter = Rc::new(RefCell::new(CpuMeter::start()));
    let station = Rc::new(furnish(&mut assignment, &timer, &meter));

    let opened = open(&mut assignment, &timer).await;
    let sessions = if station.rules.connect_each {
        let proof = opened.sessions.into_iter().flatten().collect();
        part(&station, proof).await;
        Vec::new()
    } else {
        opened.sessions
    };
    if opened.ready.direct == Some(false) {
        let reason = "a pooler is between this agent and the server";
        station.books.borrow_mut().unpredictable.push(reason.into());
    }
    assignment.outbox.send(WorkerEvent::Connected(Box::new(opened.ready)));

    // A stop that came while sessions were being opened was for this, too.
    let begin = if assignment.stopped {
        None
    } else {
        wait_for_start(&assignment.start, &mut assignment.commands, &timer).await
    };
    let Some(begin) = begin else {
        part(&station, sessions.into_iter().flatten().collect()).await;
        let station = Rc::into_inner(station).expect("no client has begun");
        return Ok(station.into_result(0.0));
    };
    meter.borrow_mut().lap();
    Ok(Shift::begin(station, &mut assignment, begin, sessions).await)
}

/// Everything that clients need, made before the start.
fn furnish(assignment: &mut Assignment, timer: &Timer, meter: &Rc<RefCell<CpuMeter>>) -> Station {
    let (outbox, lag, meter) = (assignment.outbox.clone(), timer.clone(), Rc::clone(meter));
    let close = Box::new(move |mut interval: Box<pgsurge_common::stats::Interval>| {
        interval.vitals.cpu_fraction = meter.borrow_mut().lap();
        interval.vitals.loop_lag_us = micros(lag.take_lag());
        outbox.send(WorkerEvent::Interval(interval));
    });
    let timeline = assignment.timeline;
    let log = log(assignment);
    let station = Station::new(Furnishing {
        plan: &assignment.plan,
        program: assignment.program.clone(),
        share: assignment.share,
        connector: assignment.connector.clone(),
        gate: assignment.gate.clone(),
        timer: timer.clone(),
        timeline,
        recorder: Recorder::new(timeline, assignment.spares.clone(), close),
        schedule: Schedule::new(&assignment.plan, &assignment.share, timeline, &assignment.streams),
        log,
        outbox: assignment.outbox.clone(),
    });
    station.books.borrow_mut().unpredictable.clone_from(&assignment.unpredictable);
    station
}

/// The worker's log, into the file that was made for it.
fn log(assignment: &mut Assignment) -> Option<Log> {
    let (plan, file) = (&assignment.plan, assignment.log.take()?);
    let chance = assignment.streams.worker(assignment.share.worker.0).log;
    Some(Log::new(plan, plan.log.as_ref()?, file, chance))
}

/// Opens the sessions; a stop meanwhile leaves those that are still wanted unopened.
async fn open(assignment: &mut Assignment, timer: &Timer) -> Opened {
    let wanted = assignment.sessions_wanted();
    let opener = Opener {
        connector: assignment.connector.clone(),
        gate: assignment.gate.clone(),
        timer: timer.clone(),
        identify: Rc::new(Cell::new(assignment.identifies)),
    };
    let gate = opener.gate.clone();
    let mut opening = std::pin::pin!(opener.open(wanted));
    loop {
        tokio::select! {
            result = &mut opening => return result,
            command = assignment.commands.recv(), if !assignment.stopped => {
                if matches!(command, Some(Command::Stop(_)) | None) {
                    assignment.stopped = true;
                    gate.give_up();
                }
            }
        }
    }
}

/// Closes sessions that no client will use.
async fn part(station: &Station, sessions: Vec<Session>) {
    for mut session in sessions {
        station.books.borrow_mut().extra_commits += u64::from(session.take_commits());
        session.connection.close().await;
    }
}

/// Waits until the load begins; `None` if it is stopped before.
async fn wait_for_start(
    start: &Start,
    commands: &mut UnboundedReceiver<Command>,
    timer: &Timer,
) -> Option<Begin> {
    loop {
        if let Some(begun) = start.begin(Instant::now()) {
            return Some(begun);
        }
        let named = start.instant();
        let moment = async {
            match named {
                Some(instant) => timer.sleep_until(instant).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = moment => {}
            command = commands.recv() => match command {
                Some(Command::StartChanged) => {}
                Some(Command::Stop(Stop::Drain | Stop::Now)) | None => return None,
            }
        }
    }
}
