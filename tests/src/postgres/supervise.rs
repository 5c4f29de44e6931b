//! The postmaster's process: start, readiness, end; and that it never outlives the test.
//!
//! A watchdog (a shell that reads its standard input) is told each postmaster's id. When the test process
//! goes, in whatever way, the input ends and the watchdog stops the server and removes the folder.

use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::account::{self, Account};

/// Far beyond what a start or a stop takes on a loaded machine; reaching it is a failure.
pub const PATIENCE: Duration = Duration::from_secs(60);
pub const POLL: Duration = Duration::from_millis(10);

/// How a postmaster is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Sessions are ended, a checkpoint is written.
    Fast,
    /// Without a checkpoint; children are told.
    Immediate,
    /// Without a word to anyone.
    Kill,
}

impl Exit {
    fn signal(self) -> Signal {
        match self {
            Self::Fast => Signal::INT,
            Self::Immediate => Signal::QUIT,
            Self::Kill => Signal::KILL,
        }
    }
}

#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    program: PathBuf,
    account: Option<Account>,
    postmaster: Option<Child>,
    watchdog: Child,
    reports: Option<ChildStdin>,
}

impl Server {
    /// A server that is not started yet, below a folder that holds `data`.
    pub fn new(folder: &Path, program: PathBuf, account: Option<Account>) -> io::Result<Self> {
        let mut watchdog = Command::new("sh")
            .args(["-c", WATCHDOG, "pgsurge-test-watchdog"])
            .arg(folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Out of reach of signals to the test's process group.
            .process_group(0)
            .spawn()?;
        let reports = watchdog.stdin.take();
        let folder = folder.to_path_buf();
        Ok(Self { folder, program, account, postmaster: None, watchdog, reports })
    }

    /// Starts the postmaster and waits until it accepts connections. A taken port is
    /// [`io::ErrorKind::AddrInUse`].
    pub fn start(&mut self, port: u16) -> io::Result<()> {
        assert!(self.postmaster.is_none(), "the server is running already");
        let log = fs::OpenOptions::new().create(true).append(true).open(self.log_path())?;
        let told_before = self.log().len();
        let child = account::command(self.account.as_ref(), &self.program)
            .arg("-D")
            .arg(self.folder.join("data"))
            .args(["-p", &port.to_string()])
            .current_dir("/")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()?;
        self.report(&child.id().to_string());
        self.postmaster = Some(child);
        self.wait_until_ready(told_before)
    }

    fn wait_until_ready(&mut self, told_before: usize) -> io::Result<()> {
        let child = self.postmaster.as_mut().expect("just started");
        let pid = child.id().to_string();
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait()? {
                self.postmaster = None;
                self.report("0");
                let log = self.log();
                let told = &log[told_before..];
                let kind = if told.contains("Address already in use") {
                    io::ErrorKind::AddrInUse
                } else {
                    io::ErrorKind::Other
                };
                return Err(io::Error::new(kind, format!("ended at its start, {status}:\n{told}")));
            }
            // Line 8 of the lock file is the postmaster's own word, the one that pg_ctl waits for.
            let lock =
                fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
            let mut lines = lock.lines();
            if lines.next() == Some(&pid) && lines.nth(6).is_some_and(|s| s.trim() == "ready") {
                return Ok(());
            }
            if Instant::now() > deadline {
                let log = self.log();
                self.end(Exit::Kill);
                return Err(io::Error::new(io::ErrorKind::TimedOut, format!("not ready:\n{log}")));
            }
            thread::sleep(POLL);
        }
    }

    /// Ends the postmaster, if it runs, and waits for it and its children; also one that somebody else has started on the
    /// same data since.
    pub fn end(&mut self, how: Exit) {
        self.end_own(how);
        self.end_successor(how);
    }

    /// A test may have restarted the server by other means: the lock file names who has the data now.
    fn end_successor(&self, how: Exit) {
        let data = self.folder.join("data");
        let lock = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
        let pid = lock.lines().next().and_then(|pid| pid.trim().parse::<u32>().ok());
        let Some(pid) = pid.filter(|pid| works_in(*pid, &data)) else { return };
        let Some(successor) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        let _ = kill_process(successor, how.signal());
        let deadline = Instant::now() + PATIENCE;
        while works_in(pid, &data) {
            if Instant::now() > deadline {
                let _ = kill_process(successor, Signal::KILL);
            }
            thread::sleep(POLL);
        }
    }

    fn end_own(&mut self, how: Exit) {
        let Some(mut child) = self.postmaster.take() else { return };
        let postmaster = Pid::from_child(&child);
        // Held still, it forks no child that the list of children would lack.
        let _ = kill_process(postmaster, Signal::STOP);
        let children = children(child.id());
        let _ = kill_process(postmaster, how.signal());
        let _ = kill_process(postmaster, Signal::CONT);
        let deadline = Instant::now() + PATIENCE;
        while matches!(child.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                let _ = kill_process(postmaster, Signal::KILL);
            }
            thread::sleep(POLL);
        }
        // Orphans of a killed postmaster leave when they notice; until then a new one cannot start.
        while children.iter().any(is_alive) && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        self.report("0");
    }

    /// Sends a signal to the postmaster, if it runs.
    pub fn signal(&self, signal: Signal) {
        if let Some(child) = &self.postmaster {
            let _ = kill_process(Pid::from_child(child), signal);
        }
    }

    pub fn pid(&self) -> Option<u32> {
        self.postmaster.as_ref().map(Child::id)
    }

    pub fn log(&self) -> String {
        fs::read(self.log_path())
            .map(|log| String::from_utf8_lossy(&log).into_owned())
            .unwrap_or_default()
    }

    fn log_path(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn report(&mut self, pid: &str) {
        if let Some(reports) = &mut self.reports {
            // A watchdog that is gone cannot be helped; the handle's own drop still cleans up.
            let _ = writeln!(reports, "{pid}");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end(Exit::Immediate);
        self.reports = None;
        let _ = self.watchdog.wait();
    }
}

/// Whether a process is there and at home in this folder, as a postmaster is in its data.
fn works_in(pid: u32, folder: &Path) -> bool {
    let zombie = Stat::read(pid).is_none_or(|stat| stat.zombie);
    let home = fs::read_link(format!("/proc/{pid}/cwd")).ok();
    !zombie && home.is_some() && home == folder.canonicalize().ok()
}

/// A process by id and start time, since ids come again.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    started: String,
}

fn children(parent: u32) -> Vec<Process> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| {
        let stat = Stat::read(pid)?;
        (stat.parent == parent).then_some(Process { pid, started: stat.started })
    })
    .collect()
}

fn is_alive(process: &Process) -> bool {
    Stat::read(process.pid).is_some_and(|stat| !stat.zombie && stat.started == process.started)
}

struct Stat {
    zombie: bool,
    parent: u32,
    started: String,
}

impl Stat {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // After the name in parentheses: state, parent, and 17 fields on the start time.
        let fields: Vec<_> = stat.rsplit_once(") ")?.1.split(' ').collect();
        Some(Self {
            zombie: *fields.first()? == "Z",
            parent: fields.get(1)?.parse().ok()?,
            started: (*fields.get(19)?).to_owned(),
        })
    }
}

/// Reads process ids until its input ends, then stops the last one named, or who has the data since, and removes the
/// folder.
const WATCHDOG: &str = r#"
pid=0
while read -r line; do pid=$line; done
if [ "$pid" != 0 ] && kill -QUIT "$pid" 2>/dev/null; then
  tries=0
  while kill -0 "$pid" 2>/dev/null && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
  kill -KILL "$pid" 2>/dev/null
fi
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)
if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/cwd")" = "$1/data" ]; then
  kill -KILL "$pid" 2>/dev/null
fi
rm -rf "$1"
"#;
