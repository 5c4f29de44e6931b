//! What happens while a run is on: progress lines or a bar, notices of clients, files that grow.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use jiff::Timestamp;
use pgsurge_common::plan::Plan;
use pgsurge_common::wording::counted;
use pgsurge_proto::message::{Notice, NoticeLevel};
use tokio::sync::mpsc;

use crate::merge::ClusterInterval;
use crate::observe::Starts;
use crate::report::{Bar, Folder, Options, Progress};
use crate::run::RunEvent;
use crate::web::Board;

/// Reads the events of a run.
pub struct Watch {
    plan: Arc<Plan>,
    options: Options,
    folder: Option<Folder>,
    board: Option<Arc<Board>>,
    observer: Option<Starts>,
    names_agents: bool,
    progress: Option<Progress>,
    bar: Option<Bar>,
    started: Option<Timestamp>,
}

/// What is left of watching.
pub struct Watched {
    /// Where the results go.
    pub folder: Option<Folder>,
    /// Wall clock at the start of the measured part; the end of the preparation if there was no start.
    pub started: Timestamp,
}

impl Watch {
    /// `bar` allows one, which only a terminal gets.
    pub fn new(plan: &Arc<Plan>, options: &Options, folder: Option<Folder>, bar: bool) -> Self {
        let drawn = bar && io::stderr().is_terminal();
        Self {
            plan: Arc::clone(plan),
            options: options.clone(),
            folder,
            board: None,
            observer: None,
            names_agents: options.agents > 0,
            progress: None,
            bar: drawn.then(|| Bar::new(&plan.load, options.interval)),
            started: None,
        }
    }

    /// Tells a board what happens, too.
    pub fn on(mut self, board: Option<Arc<Board>>) -> Self {
        self.board = board;
        self
    }

    /// Tells an observer of the server when the load begins.
    pub fn with(mut self, observer: Option<Starts>) -> Self {
        self.observer = observer;
        self
    }

    /// Reads until the run drops its end of the channel.
    pub async fn until_the_end(mut self, mut events: mpsc::Receiver<RunEvent>) -> Watched {
        while let Some(event) = events.recv().await {
            match event {
                RunEvent::Ready => {}
                RunEvent::Starts(instant) => self.starts(instant),
                RunEvent::Interval(interval) => self.interval(&interval),
                RunEvent::Notice { agent, notice } => {
                    let agent = self.names_agents.then_some(agent.as_str());
                    self.say(&shown(agent, &notice));
                }
                RunEvent::Warning(text) => self.say(&format!("pgsurge: warning: {text}")),
                RunEvent::CollectingLogs(agents) => {
                    let agents = counted(agents as u64, "agent");
                    self.say(&format!("pgsurge: collecting the logs of {agents}"));
                }
                RunEvent::Joins(agent) => self.tell(|board| board.joins(&agent)),
                RunEvent::Lost { agent, reason } => {
                    self.tell(|board| board.lost(&agent, &reason));
                    self.say(&format!("pgsurge: warning: agent {agent} was lost: {reason}"));
                }
            }
        }
        if let Some(bar) = &self.bar {
            bar.finish();
        }
        Watched { folder: self.folder, started: self.started.unwrap_or_else(Timestamp::now) }
    }

    /// A later instant replaces one that was called off.
    fn starts(&mut self, instant: Instant) {
        let measured = instant + self.plan.load.warmup;
        let ahead = measured.saturating_duration_since(Instant::now());
        let wall = SystemTime::now() + ahead;
        let started = Timestamp::try_from(wall).unwrap_or_else(|_| Timestamp::now());
        if self.started.replace(started).is_none()
            && let Some(folder) = &mut self.folder
            && let Some(news) = folder.begin(wall)
        {
            self.say(&format!("pgsurge: warning: {news}"));
        }
        self.progress = Progress::new(&self.plan, &self.options, started);
        if let Some(observer) = &self.observer {
            observer.at(instant);
        }
        self.tell(Board::starts);
    }

    fn interval(&mut self, ready: &ClusterInterval) {
        if let Some(news) = self.folder.as_mut().and_then(|folder| folder.record(ready)) {
            self.say(&format!("pgsurge: warning: {news}"));
        }
        if let Some(bar) = &self.bar {
            bar.record(ready);
        }
        self.tell(|board| board.interval(ready));
        let line = self.progress.as_mut().and_then(|p| p.record(ready));
        if let Some(line) = line {
            self.say(&line);
        }
    }

    fn tell(&self, what: impl FnOnce(&Board)) {
        if let Some(board) = &self.board {
            what(board);
        }
    }

    fn say(&self, line: &str) {
        self.tell(|board| board.said(line));
        let print = || {
            let _ = writeln!(io::stderr(), "{line}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

/// Lines of the agent inside this process look like pgbench's own; others name their agent.
fn shown(agent: Option<&str>, notice: &Notice) -> String {
    let origin = agent.map(|name| format!("{name}: ")).unwrap_or_default();
    match notice.level {
        NoticeLevel::Raw => notice.text.clone(),
        NoticeLevel::Info => format!("pgsurge: {origin}{}", notice.text),
        NoticeLevel::Error => format!("pgsurge: error: {origin}{}", notice.text),
    }
}
