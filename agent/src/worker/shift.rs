//! The clients of one worker at work: starts them, keeps time beside them, ends them.
//!
//! Costs ten wake-ups a second. They roll intervals when nothing happens, show how late the worker's
//! loop runs, and enforce the drain timeout.

use std::rc::Rc;
use std::time::Duration;

use pgsurge_common::script::ClientState;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;

use super::clock::RunTime;
use super::crew::Assignment;
use super::station::Station;
use super::{Begin, Command, WorkerEvent, WorkerResult};
use crate::client::{self, Session};
use crate::load::Stop;
use crate::vitals::CpuMeter;

/// Distance of the wake-ups.
const TICK: Duration = Duration::from_millis(100);
/// Wake-ups from one refill of the notices' budget to the next.
const TICKS_PER_REFILL: u32 = 10;
/// Bound on asking the server to cancel what is running.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);
/// Requests to cancel under way at the same time; each is a connection.
const CANCELS_AT_ONCE: usize = 32;

/// See the module.
pub(super) struct Shift {
    station: Rc<Station>,
    clients: JoinSet<()>,
    drain_timeout: Option<Duration>,
    /// Since when no transaction may begin.
    closing_since: Option<RunTime>,
    /// Of the measured part.
    cpu: Option<CpuMeter>,
}

impl Shift {
    /// All clients begin; returns when the last one has ended.
    pub(super) async fn begin(
        station: Rc<Station>,
        assignment: &mut Assignment,
        begin: Begin,
        sessions: Vec<Option<Session>>,
    ) -> WorkerResult {
        station.begin(begin);
        let mut shift = Self {
            clients: JoinSet::new(),
            drain_timeout: assignment.plan.load.drain_timeout,
            closing_since: None,
            cpu: None,
            station,
        };
        shift.start_clients(assignment, sessions);
        shift.keep_time(&mut assignment.commands).await;
        shift.finish()
    }

    fn start_clients(&mut self, assignment: &Assignment, sessions: Vec<Option<Session>>) {
        let station = &self.station;
        let (program, streams) = (&station.program, &assignment.streams);
        let first = assignment.share.first_client.0;
        let own = streams.clients(first, assignment.share.clients);
        let mut sessions = sessions.into_iter();
        for (seat, own) in own.map(|own| own.moved(assignment.moves)).enumerate() {
            let session = sessions.next().flatten();
            if session.is_none() && !station.rules.connect_each {
                continue;
            }
            let state = ClientState::new(program, station.seats[seat].client, own, streams);
            station.recorder.borrow_mut().client_joined();
            self.clients.spawn_local(client::run(Rc::clone(station), seat, state, session));
        }
    }

    async fn keep_time(&mut self, commands: &mut UnboundedReceiver<Command>) {
        let station = Rc::clone(&self.station);
        let mut next = station.joined();
        for tick in 0u32.. {
            self.tick(tick).await;
            next = next.plus(TICK);
            loop {
                tokio::select! {
                    biased;
                    ended = self.clients.join_next() => if ended.is_none() { return },
                    command = commands.recv(), if station.stopping() != Some(Stop::Now) => {
                        match command {
                            Some(Command::StartChanged) => {}
                            Some(Command::Stop(stop)) => station.stop(stop),
                            None => station.stop(Stop::Now),
                        }
                        if station.stopping() == Some(Stop::Now) {
                            self.cut_off(None).await;
                        }
                    }
                    now = station.sleep_until(next, true) => if now >= next { break },
                }
            }
        }
    }

    async fn tick(&mut self, tick: u32) {
        let station = &self.station;
        let now = station.now();
        station.recorder.borrow_mut().roll(now);
        if self.cpu.is_none() && station.timeline.is_measuring(now) {
            self.cpu = Some(CpuMeter::start());
        }
        if tick.is_multiple_of(TICKS_PER_REFILL)
            && let Some(notice) = station.budget.refill()
        {
            station.outbox.send(WorkerEvent::Notice(notice));
        }
        if station.is_closing(now) {
            let since = *self.closing_since.get_or_insert(now);
            if let Some(bound) = self.drain_timeout.filter(|bound| now >= since.plus(*bound)) {
                self.drain_timeout = None;
                self.station.stop(Stop::Now);
                self.cut_off(Some(bound)).await;
            }
        }
    }

    /// Ends all clients at once. Closing a socket alone would leave its statement running, so the
    /// server is asked to cancel first. After a drain timeout they count as aborted.
    async fn cut_off(&mut self, drain_timeout: Option<Duration>) {
        let station = &self.station;
        let reason = "the load was stopped before its transactions ended";
        station.books.borrow_mut().unpredictable.push(reason.into());
        for seat in station.seats.iter().filter(|seat| seat.working.get()) {
            if let Some(bound) = drain_timeout {
                let (client, bound) = (seat.client, bound.as_secs_f64());
                station.abort(
                    client,
                    format!("client {client} cut off by the drain timeout of {bound} s"),
                );
            }
        }
        let busy = station.seats.iter().filter(|seat| seat.busy.get());
        let mut tokens = busy.filter_map(|seat| seat.cancel.borrow().clone()).collect::<Vec<_>>();
        let cancelling = async {
            let mut cancels = JoinSet::new();
            while !(tokens.is_empty() && cancels.is_empty()) {
                while let Some(token) =
                    (cancels.len() < CANCELS_AT_ONCE).then(|| tokens.pop()).flatten()
                {
                    cancels.spawn_local(async move { token.cancel().await });
                }
                // Whether it arrived shows in the session's end; there is nothing else to try.
                let _ = cancels.join_next().await;
            }
        };
        let _ = tokio::time::timeout(CANCEL_TIMEOUT, cancelling).await;
        self.clients.abort_all();
    }

    fn finish(self) -> WorkerResult {
        let station = Rc::into_inner(self.station)
            .expect("clients and the clock hold the other references, and they are gone");
        let cpu_fraction = self.cpu.map_or(0.0, |cpu| cpu.so_far());
        station.into_result(cpu_fraction)
    }
}
