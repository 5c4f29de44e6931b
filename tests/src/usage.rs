//! What a whole process cost, as the operating system tells it: processor time in steps of 10 ms, and the
//! peak of its memory, seen every 20 ms.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::process::{Finished, Running};

/// How often the peak of the memory is read; it only grows, so that the last reading counts.
const LOOK: Duration = Duration::from_millis(20);

/// The kernel's unit of processor time in `/proc`, on every Linux.
const TICKS_PER_S: f64 = 100.0;

/// What a process cost from its start to its end.
#[derive(Clone, Debug)]
pub struct Usage {
    /// How it ended and what it said.
    pub finished: Finished,
    /// Processor time of all its threads, in user and kernel mode.
    pub cpu_s: f64,
    /// The part in user mode.
    pub user_s: f64,
    /// Highest resident memory, in kibibytes.
    pub peak_kib: u64,
}

/// Runs a command to its end. The command has to be the program itself or to become it by exec.
///
/// # Panics
/// If it cannot be started or has not ended at the deadline.
#[must_use]
pub fn of(name: &str, command: &mut Command, deadline: Duration) -> Usage {
    let until = Instant::now() + deadline;
    let running = Running::start(name, command);
    let pid = Pid::from_raw(i32::try_from(running.pid()).expect("process ids are small"));
    let pid = pid.expect("a process has an id");
    // Left in the table of processes, where its figures can still be read.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let mut peak_kib = 0;
    while let Ok(None) = waitid(WaitId::Pid(pid), look) {
        assert!(Instant::now() < until, "{name} has not ended within {deadline:?}");
        peak_kib = peak_kib.max(self::peak_kib(running.pid()).unwrap_or(0));
        std::thread::sleep(LOOK);
    }
    let (user_s, system_s) = times(pid).expect("an unreaped process is in /proc");
    let finished = running.wait(Duration::from_secs(1));
    Usage { finished, cpu_s: user_s + system_s, user_s, peak_kib }
}

/// Highest resident memory of a running process so far, in kibibytes.
#[must_use]
pub fn peak_kib(pid: u32) -> Option<u64> {
    memory_kib(pid, "VmHWM:")
}

/// Resident memory of a running process, in kibibytes.
#[must_use]
pub fn resident_kib(pid: u32) -> Option<u64> {
    memory_kib(pid, "VmRSS:")
}

fn memory_kib(pid: u32, what: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(what))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Processor time that a running process has used so far, in seconds.
#[must_use]
pub fn processor_time(pid: u32) -> Option<f64> {
    let (user_s, system_s) = processor_times(pid)?;
    Some(user_s + system_s)
}

/// The same in user and in kernel mode.
#[must_use]
pub fn processor_times(pid: u32) -> Option<(f64, f64)> {
    times(Pid::from_raw(i32::try_from(pid).ok()?)?)
}

/// User and system time in seconds.
fn times(pid: Pid) -> Option<(f64, f64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses, which may hold blanks; these are 14 and 15.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / TICKS_PER_S);
    Some((seconds()?, seconds()?))
}
