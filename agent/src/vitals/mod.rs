//! Is this host the bottleneck? CPU time of a worker thread, memory of the process.
//!
//! Must be read on the thread that it is about. Knows nothing of runs; costs a system call or two a
//! second, never one a transaction.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the calling thread since it was started, in nanoseconds.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or_default()
}

/// Resident memory of this process in bytes; 0 where `/proc` cannot be read.
#[must_use]
pub fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_ascii_whitespace().nth(1)?.parse::<u64>().ok());
    let page = u64::try_from(rustix::param::page_size()).unwrap_or_default();
    pages.unwrap_or_default() * page
}

/// CPU time over wall time of the calling thread, from one look to the next.
#[derive(Debug)]
pub struct CpuMeter {
    wall: Instant,
    cpu_ns: u64,
}

impl CpuMeter {
    /// Starts measuring the calling thread.
    #[must_use]
    pub fn start() -> Self {
        Self { wall: Instant::now(), cpu_ns: thread_cpu_ns() }
    }

    /// The fraction (0 to 1) since the last look or the start. Looks less than a millisecond apart
    /// say 0, since the clocks are too coarse for them.
    pub fn lap(&mut self) -> f64 {
        let next = Self::start();
        let fraction = fraction(
            next.cpu_ns.saturating_sub(self.cpu_ns),
            next.wall.duration_since(self.wall).as_secs_f64(),
        );
        *self = next;
        fraction
    }

    /// The fraction since the start, without beginning anew.
    #[must_use]
    pub fn so_far(&self) -> f64 {
        let cpu_ns = thread_cpu_ns().saturating_sub(self.cpu_ns);
        fraction(cpu_ns, self.wall.elapsed().as_secs_f64())
    }
}

fn fraction(cpu_ns: u64, wall_s: f64) -> f64 {
    if wall_s < 0.001 { 0.0 } else { (cpu_ns as f64 / 1e9 / wall_s).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_of_a_thread_grows_with_its_work_and_memory_is_known() {
        let before = thread_cpu_ns();
        let mut sum = 0u64;
        while thread_cpu_ns() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(thread_cpu_ns() > before);
        assert!(resident_bytes() > 0);
    }

    #[test]
    fn a_fraction_is_never_above_one_nor_taken_from_too_short_a_time() {
        assert!((fraction(500_000_000, 1.0) - 0.5).abs() < 1e-9);
        assert!((fraction(2_000_000_000, 1.0) - 1.0).abs() < 1e-9);
        assert!(fraction(1_000_000, 0.000_1).abs() < 1e-9);
    }
}
