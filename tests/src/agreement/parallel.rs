//! The same work on many items, a few at a time: a short run is mostly waiting.
//!
//! Whoever works has a lane, for what must not be shared: pgsurge waits for other sessions of its database to
//! come to rest before it reads the server's counters, so each lane has a database of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Items worked on at the same time, each in a lane.
pub const LANES: usize = 4;

/// The results in the order of the items; the work gets the number of its lane too.
///
/// # Panics
/// If the work panics.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    thread::scope(|scope| {
        for lane in 0..LANES.min(items.len()) {
            let (next, results, work) = (&next, &results, &work);
            scope.spawn(move || {
                while let Some((index, item)) = {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    items.get(index).map(|item| (index, item))
                } {
                    let result = work(lane, item);
                    results.lock().expect("no work panics here").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no work panics here");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
