//! How fast this host may open connections: so many at the same time, so many a second, and before the
//! start until a deadline. Shared by all workers of a load; nothing of it is on the hot path.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::Share;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::fullness::Fullness;
use super::timer::Timer;

/// See the module.
#[derive(Debug)]
pub(crate) struct Gate {
    permits: Semaphore,
    pace: Option<Pace>,
    /// No attempt goes on beyond it.
    deadline: Instant,
    /// When the first attempt began.
    begun: OnceLock<Instant>,
    /// Some session was obtained.
    succeeded: AtomicBool,
    /// Watched where fewer sessions than wanted will do.
    fullness: Option<Mutex<Fullness>>,
    /// No further attempt makes sense.
    hopeless: CancellationToken,
}

#[derive(Debug)]
struct Pace {
    gap: Duration,
    next: Mutex<Instant>,
}

impl Gate {
    /// The gate of a share; its deadline counts from now.
    pub(super) fn new(plan: &Plan, share: &Share) -> Self {
        let now = Instant::now();
        let permits = usize::try_from(share.connect_concurrency.max(1)).unwrap_or(1);
        let pace = share.connect_rate_per_s.filter(|rate| *rate > 0.0).map(|rate| Pace {
            gap: Duration::try_from_secs_f64(1.0 / rate).unwrap_or(Duration::MAX / 4),
            next: Mutex::new(now),
        });
        Self {
            permits: Semaphore::new(permits.min(Semaphore::MAX_PERMITS)),
            pace,
            deadline: now + plan.load.connect.timeout.min(Duration::from_secs(86_400)),
            begun: OnceLock::new(),
            succeeded: AtomicBool::new(false),
            fullness: plan.load.allow_fewer_clients.then(Mutex::default),
            hopeless: CancellationToken::new(),
        }
    }

    /// Waits for a place and for its moment.
    pub(super) async fn enter(&self, timer: &Timer) -> SemaphorePermit<'_> {
        let permit = self.permits.acquire().await.expect("this semaphore is never closed");
        if let Some(pace) = &self.pace {
            timer.sleep_until(pace.reserve(Instant::now()).min(self.deadline)).await;
        }
        self.begun.get_or_init(Instant::now);
        permit
    }

    /// The same after the start, for a session in place of a lost one.
    pub(crate) async fn enter_again(&self, timer: &Timer) -> SemaphorePermit<'_> {
        let permit = self.permits.acquire().await.expect("this semaphore is never closed");
        if let Some(pace) = &self.pace {
            timer.sleep_until(pace.reserve(Instant::now())).await;
        }
        permit
    }

    /// When all attempts end.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Time since the first attempt of this host began.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// A session was obtained.
    pub(super) fn succeed(&self) {
        self.succeeded.store(true, Ordering::Relaxed);
        self.watch(Fullness::obtained);
    }

    /// The target refuses a session with an error of this kind, for a reason that may go away.
    pub(super) fn put_off(&self, kind: &str) {
        if self.watch(|fullness| fullness.refused(kind, Instant::now())) == Some(true) {
            self.give_up();
        }
    }

    fn watch<T>(&self, look: impl FnOnce(&mut Fullness) -> T) -> Option<T> {
        let mut fullness = self.fullness.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        Some(look(&mut fullness))
    }

    /// The target refuses a session for a reason that will not go away. Unless others were obtained it
    /// will refuse all of them, so that there is no point in trying.
    pub(super) fn refuse(&self) {
        if !self.succeeded.load(Ordering::Relaxed) {
            self.give_up();
        }
    }

    /// Ends all attempts.
    pub(super) fn give_up(&self) {
        self.hopeless.cancel();
    }

    /// Returns when somebody gave up.
    pub(super) async fn given_up(&self) {
        self.hopeless.cancelled().await;
    }
}

impl Pace {
    fn reserve(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = now.max(*next);
        *next = slot + self.gap;
        slot
    }
}

/// How long to wait after so many attempts have failed before: doubling from 50 ms to 2 s, half of it at
/// random, so that clients that failed together do not try together.
pub(crate) fn pause_after(failures: u32) -> Duration {
    back_off(failures, random())
}

/// A number in [0, 1) that no two processes share.
fn random() -> f64 {
    let bits = RandomState::new().hash_one(Instant::now()) >> 11;
    bits as f64 / (1u64 << 53) as f64
}

fn back_off(failures: u32, random: f64) -> Duration {
    const FIRST: Duration = Duration::from_millis(50);
    const MOST: Duration = Duration::from_secs(2);
    let full = FIRST.saturating_mul(1 << failures.min(10)).min(MOST);
    full.mul_f64(0.5 + random.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_up_to_two_seconds_and_half_of_it_is_random() {
        let ms = |failures, random| back_off(failures, random).as_millis();
        assert_eq!([ms(0, 0.0), ms(0, 1.0)], [25, 50]);
        assert_eq!([ms(1, 0.0), ms(1, 1.0)], [50, 100]);
        assert_eq!([ms(5, 1.0), ms(6, 1.0), ms(u32::MAX, 1.0)], [1600, 2000, 2000]);
    }

    #[test]
    fn slots_are_a_gap_apart_and_none_is_saved_up() {
        let now = Instant::now();
        let gap = Duration::from_millis(10);
        let pace = Pace { gap, next: Mutex::new(now) };
        assert_eq!(pace.reserve(now), now);
        assert_eq!(pace.reserve(now), now + gap);
        let later = now + Duration::from_secs(5);
        assert_eq!(pace.reserve(later), later);
        assert_eq!(pace.reserve(later), later + gap);
    }
}
