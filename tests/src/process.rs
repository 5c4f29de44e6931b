//! Processes under test: output captured line by line, every wait with a deadline, and none outlives
//! the test that started it.
//!
//! Invariant: a process ends when its [`Running`] is dropped and, by the kernel's doing, when the
//! thread that started it ends in whatever way. So start processes from the test's own thread.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How often a condition without an event of its own is looked at.
const POLL: Duration = Duration::from_millis(10);

/// A command that dies with the thread that starts it (util-linux's `setpriv` asks the kernel for it).
#[must_use]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// A process with its output so far.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
    stdout: Lines,
    stderr: Lines,
}

/// How a process ended, with all it said.
#[derive(Clone, Debug)]
pub struct Finished {
    /// As the operating system tells it.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: String,
    /// All of its standard error.
    pub stderr: String,
}

impl Finished {
    /// The exit code; a process that died of a signal has none.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The same, if the exit code is the expected one.
    ///
    /// # Panics
    /// If it is another, with everything that the process said.
    #[must_use]
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code(), Some(code), "exit status {}\n{self}", self.status);
        self
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "--- stdout\n{}--- stderr\n{}---", self.stdout, self.stderr)
    }
}

impl Running {
    /// Starts a command; `name` is what failures call it.
    ///
    /// # Panics
    /// If it cannot be started.
    #[track_caller]
    pub fn start(name: impl Into<String>, command: &mut Command) -> Self {
        Self::start_with_input(name, command, Stdio::null())
    }

    /// The same with something to read on its standard input.
    ///
    /// # Panics
    /// If it cannot be started.
    #[track_caller]
    pub fn start_with_input(name: impl Into<String>, command: &mut Command, input: Stdio) -> Self {
        let name = name.into();
        command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.spawn().unwrap_or_else(|error| panic!("{name}: {command:?}: {error}"));
        let stdout = Lines::read(child.stdout.take().expect("stdout is piped"));
        let stderr = Lines::read(child.stderr.take().expect("stderr is piped"));
        Self { name, child, stdout, stderr }
    }

    /// Starts a command and waits for its end.
    ///
    /// # Panics
    /// If it cannot be started or has not ended at the deadline.
    #[track_caller]
    pub fn run(name: impl Into<String>, command: &mut Command, deadline: Duration) -> Finished {
        Self::start(name, command).wait(deadline)
    }

    /// The operating system's number of the process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal; a process that has ended already takes no notice.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        let _ = kill_process(pid, signal);
    }

    /// Whether the process has ended.
    ///
    /// # Panics
    /// If the operating system does not know the process.
    #[must_use]
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("the process is a child of this one").is_some()
    }

    /// Waits for the end.
    ///
    /// # Panics
    /// If the process has not ended at the deadline; it is killed then.
    #[must_use]
    #[track_caller]
    pub fn wait(mut self, deadline: Duration) -> Finished {
        let until = Instant::now() + deadline;
        while !self.has_ended() {
            assert!(
                Instant::now() < until,
                "{} has not ended within {deadline:?}\n{}",
                self.name,
                self.said()
            );
            std::thread::sleep(POLL);
        }
        let status = self.child.wait().expect("the process is a child of this one");
        let stdout = self.stdout.all_until_closed();
        let stderr = self.stderr.all_until_closed();
        Finished { status, stdout, stderr }
    }

    /// Waits for a line on standard error that contains `part`, and returns it.
    ///
    /// # Panics
    /// If the deadline or the end of the process comes first.
    #[track_caller]
    #[allow(clippy::must_use_candidate)] // the line is often known
    pub fn wait_for_stderr(&self, part: &str, deadline: Duration) -> String {
        self.stderr.wait_for(part, deadline).unwrap_or_else(|| {
            panic!("{}: no {part:?} on stderr within {deadline:?}\n{}", self.name, self.said())
        })
    }

    /// Waits for a line on standard output that contains `part`, and returns it.
    ///
    /// # Panics
    /// If the deadline or the end of the process comes first.
    #[track_caller]
    #[allow(clippy::must_use_candidate)] // the line is often known
    pub fn wait_for_stdout(&self, part: &str, deadline: Duration) -> String {
        self.stdout.wait_for(part, deadline).unwrap_or_else(|| {
            panic!("{}: no {part:?} on stdout within {deadline:?}\n{}", self.name, self.said())
        })
    }

    /// Standard output so far.
    #[must_use]
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Standard error so far.
    #[must_use]
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    fn said(&self) -> String {
        format!("--- stdout\n{}--- stderr\n{}---", self.stdout(), self.stderr())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a condition holds.
///
/// # Panics
/// If it does not hold at the deadline; `what` says what was waited for.
#[track_caller]
pub fn eventually(what: &str, deadline: Duration, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + deadline;
    while !condition() {
        assert!(Instant::now() < until, "not within {deadline:?}: {what}");
        std::thread::sleep(POLL);
    }
}

/// Lets time pass, for a test whose very subject is a length of time; never in place of a condition.
pub fn let_pass(time: Duration) {
    std::thread::sleep(time);
}

/// Asks again and again until there is an answer, and returns it.
///
/// # Panics
/// If there is none at the deadline; `what` says what was asked for.
pub async fn answered<T>(
    what: &str,
    deadline: Duration,
    mut question: impl AsyncFnMut() -> Option<T>,
) -> T {
    let asking = async {
        loop {
            if let Some(answer) = question().await {
                return answer;
            }
            tokio::time::sleep(POLL).await;
        }
    };
    let answer = tokio::time::timeout(deadline, asking).await;
    answer.unwrap_or_else(|_| panic!("not within {deadline:?}: {what}"))
}

/// The lines of one stream, filled by a thread of its own.
#[derive(Debug)]
struct Lines {
    shared: Arc<(Mutex<Captured>, Condvar)>,
    reader: Option<JoinHandle<()>>,
}

/// What has been read.
#[derive(Debug, Default)]
struct Captured {
    lines: Vec<String>,
    closed: bool,
}

impl Lines {
    fn read(stream: impl Read + Send + 'static) -> Self {
        let shared = Arc::new((Mutex::new(Captured::default()), Condvar::new()));
        let to = Arc::clone(&shared);
        let reader = std::thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while stream.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line).into_owned();
                line.clear();
                lock(&to.0).lines.push(text);
                to.1.notify_all();
            }
            lock(&to.0).closed = true;
            to.1.notify_all();
        });
        Self { shared, reader: Some(reader) }
    }

    fn text(&self) -> String {
        lock(&self.shared.0).lines.concat()
    }

    /// Everything; a grandchild that keeps the stream open is not waited for.
    fn all_until_closed(&mut self) -> String {
        let (read, changed) = &*self.shared;
        let patience = Duration::from_secs(2);
        let waited = changed.wait_timeout_while(lock(read), patience, |read| !read.closed);
        let closed = waited.unwrap_or_else(PoisonError::into_inner).0.closed;
        if let (true, Some(reader)) = (closed, self.reader.take()) {
            let _ = reader.join();
        }
        self.text()
    }

    fn wait_for(&self, part: &str, deadline: Duration) -> Option<String> {
        let until = Instant::now() + deadline;
        let (read, changed) = &*self.shared;
        let mut read = lock(read);
        let mut seen = 0;
        loop {
            if let Some(line) = read.lines[seen..].iter().find(|line| line.contains(part)) {
                return Some(line.trim_end().to_owned());
            }
            seen = read.lines.len();
            let left = until.saturating_duration_since(Instant::now());
            if read.closed || left.is_zero() {
                return None;
            }
            read = changed.wait_timeout(read, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A test that failed while holding the lock must not hide its own message behind a poisoned lock.
fn lock(read: &Mutex<Captured>) -> MutexGuard<'_, Captured> {
    read.lock().unwrap_or_else(PoisonError::into_inner)
}
