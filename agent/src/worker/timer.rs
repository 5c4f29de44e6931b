//! Sleeping to the microsecond: one timerfd a worker, since the runtime's own timer is a millisecond
//! coarse. No spinning; how late the worker woke up is measured, not hidden.
//!
//! Belongs to one thread. Sleepers hold a slot; a slot is reused, so a run allocates only for as many
//! sleepers as it has at once.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A worker's timer; cheap to clone.
#[derive(Clone, Debug)]
pub struct Timer {
    shared: Rc<Shared>,
}

#[derive(Debug)]
struct Shared {
    fd: AsyncFd<OwnedFd>,
    queue: RefCell<Queue>,
    /// Longest lateness since it was last asked for.
    lag: Cell<Duration>,
}

/// Who sleeps until when.
#[derive(Debug, Default)]
struct Queue {
    /// Earliest first. A ticket that is not its slot's is that of a sleeper who left.
    deadlines: BinaryHeap<Reverse<(Instant, Ticket)>>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    /// What the timerfd is set to.
    set_to: Option<Instant>,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u64,
    waker: Option<Waker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    slot: usize,
    generation: u64,
}

impl Timer {
    /// A timer on the current runtime.
    ///
    /// # Errors
    /// The system has no timerfd to give (out of descriptors).
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // The replacement is `unsafe`, because a foreign type may close its descriptor early; an `OwnedFd`
        // cannot.
        #[allow(deprecated)]
        let fd = AsyncFd::with_interest(fd, Interest::READABLE)?;
        let shared = Shared { fd, queue: RefCell::default(), lag: Cell::new(Duration::ZERO) };
        Ok(Self { shared: Rc::new(shared) })
    }

    /// Waits until `deadline`; returns at once if it has passed.
    #[must_use]
    pub fn sleep_until(&self, deadline: Instant) -> Sleep<'_> {
        Sleep { timer: &self.shared, deadline, ticket: None }
    }

    /// The longest time by which a sleeper was woken late since the last call.
    pub fn take_lag(&self) -> Duration {
        self.shared.lag.take()
    }

    /// Wakes all sleepers at once, whatever they wait for; each looks for itself whether it sleeps again.
    pub fn wake_all(&self) {
        let mut queue = self.shared.queue.borrow_mut();
        queue.deadlines.clear();
        for slot in &mut queue.slots {
            slot.generation += 1;
            if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
        }
    }

    /// Wakes sleepers for ever; the worker polls this beside its clients.
    ///
    /// # Errors
    /// The timerfd fails, which a healthy system never does.
    pub async fn drive(&self) -> io::Result<Infallible> {
        loop {
            let mut ready = self.shared.fd.readable().await?;
            let mut expirations = [0u8; 8];
            // Reading re-arms the readiness; the number of expirations says nothing that the clock does not.
            let _ = ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut expirations)?));
            self.shared.wake_due()?;
        }
    }
}

impl Shared {
    fn wake_due(&self) -> io::Result<()> {
        let now = Instant::now();
        let mut queue = self.queue.borrow_mut();
        queue.set_to = None;
        while let Some(&Reverse((deadline, ticket))) = queue.deadlines.peek() {
            if queue.is_current(ticket) {
                if deadline > now {
                    return self.set(&mut queue, deadline, now);
                }
                self.lag.set(self.lag.get().max(now - deadline));
                if let Some(waker) = queue.slots[ticket.slot].waker.take() {
                    waker.wake();
                }
                queue.slots[ticket.slot].generation += 1;
            }
            queue.deadlines.pop();
        }
        Ok(())
    }

    /// Sets the timerfd unless it goes off early enough anyway.
    fn set(&self, queue: &mut Queue, deadline: Instant, now: Instant) -> io::Result<()> {
        if queue.set_to.is_some_and(|set_to| set_to <= deadline) {
            return Ok(());
        }
        // Zero would switch it off.
        let wait = deadline.saturating_duration_since(now).max(Duration::from_nanos(1));
        let value = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let once = Itimerspec { it_interval: Timespec::default(), it_value: value };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        queue.set_to = Some(deadline);
        Ok(())
    }
}

impl Queue {
    fn enter(&mut self, deadline: Instant) -> Ticket {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        let ticket = Ticket { slot, generation: self.slots[slot].generation };
        self.deadlines.push(Reverse((deadline, ticket)));
        ticket
    }

    fn leave(&mut self, ticket: Ticket) {
        let slot = &mut self.slots[ticket.slot];
        slot.generation = slot.generation.max(ticket.generation + 1);
        slot.waker = None;
        self.free.push(ticket.slot);
    }

    fn is_current(&self, ticket: Ticket) -> bool {
        self.slots[ticket.slot].generation == ticket.generation
    }
}

/// The future of [`Timer::sleep_until`].
#[derive(Debug)]
pub struct Sleep<'a> {
    timer: &'a Shared,
    deadline: Instant,
    ticket: Option<Ticket>,
}

impl Future for Sleep<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer;
        let mut queue = timer.queue.borrow_mut();
        let ticket = match self.ticket {
            Some(ticket) if !queue.is_current(ticket) => return Poll::Ready(()),
            Some(ticket) => ticket,
            None => {
                let now = Instant::now();
                if self.deadline <= now {
                    return Poll::Ready(());
                }
                let ticket = queue.enter(self.deadline);
                self.ticket = Some(ticket);
                if timer.set(&mut queue, self.deadline, now).is_err() {
                    // Without the timerfd the sleeper would never wake; being early is the lesser evil.
                    return Poll::Ready(());
                }
                ticket
            }
        };
        let waker = &mut queue.slots[ticket.slot].waker;
        if !waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
            *waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.timer.queue.borrow_mut().leave(ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn on_a_worker(test: impl AsyncFnOnce(Timer)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let timer = Timer::new().unwrap();
            let driver = timer.clone();
            tokio::select! {
                failed = driver.drive() => panic!("{failed:?}"),
                () = test(timer) => {}
            }
        });
    }

    #[test]
    fn sleepers_wake_in_the_order_of_their_deadlines_and_never_early() {
        on_a_worker(async |timer| {
            let start = Instant::now();
            let order = RefCell::new(Vec::new());
            let sleeper = async |ms: u64| {
                let deadline = start + Duration::from_millis(ms);
                timer.sleep_until(deadline).await;
                assert!(Instant::now() >= deadline);
                order.borrow_mut().push(ms);
            };
            tokio::join!(sleeper(30), sleeper(5), sleeper(0), sleeper(20));
            assert_eq!(*order.borrow(), [0, 5, 20, 30]);
        });
    }

    #[test]
    fn a_sleeper_that_leaves_early_disturbs_nobody_and_frees_its_slot() {
        on_a_worker(async |timer| {
            let start = Instant::now();
            for _ in 0..100 {
                let mut far = Box::pin(timer.sleep_until(start + Duration::from_secs(3600)));
                std::future::poll_fn(|context| {
                    assert!(far.as_mut().poll(context).is_pending());
                    Poll::Ready(())
                })
                .await;
            }
            timer.sleep_until(start + Duration::from_millis(3)).await;
            assert_eq!(timer.shared.queue.borrow().slots.len(), 1);
        });
    }

    #[test]
    fn lateness_of_a_blocked_worker_is_measured() {
        on_a_worker(async |timer| {
            let deadline = Instant::now() + Duration::from_millis(2);
            let blocker = async {
                while Instant::now() < deadline + Duration::from_millis(5) {
                    std::hint::spin_loop();
                }
            };
            tokio::join!(timer.sleep_until(deadline), blocker);
            assert!(timer.take_lag() >= Duration::from_millis(5));
            assert_eq!(timer.take_lag(), Duration::ZERO);
        });
    }
}
