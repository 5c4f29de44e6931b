//! pgbench's tables: created and filled step by step, with the texts and the tables of pgbench 18.
//!
//! Knows nothing of runs and agents. Everything that a user sees goes to the writer it is given; the one thing
//! it draws by itself is the progress bar of a terminal. It is the only room that creates, drops or loads.

mod options;
mod populate;
mod progress;
mod rows;
mod tables;

use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, Instant};

use pgsurge_common::target::Target;
use tokio_util::sync::CancellationToken;

pub use options::{Options, PartitionMethod, Partitioning, Step};
pub use progress::Style;

use crate::observe::{Session, TargetError};

/// How long a cancelled statement may take to end.
const CANCEL_PATIENCE: Duration = Duration::from_secs(5);

/// Where the texts go and how to stop.
pub struct Console<'a> {
    /// Standard error, as a rule.
    pub err: &'a mut (dyn Write + Send),
    /// How progress is shown.
    pub style: Style,
    /// Stops the running statement and everything after it.
    pub cancel: CancellationToken,
}

/// Executes the steps in the order given. What a failed or cancelled step leaves is what the server makes of
/// it: each statement by itself, loading as one transaction.
pub async fn init(
    target: &Target,
    options: &Options,
    console: Console<'_>,
) -> Result<(), TargetError> {
    let opened = tokio::select! {
        opened = Session::open(target) => opened,
        () = console.cancel.cancelled() => return Err(interrupted()),
    };
    let session =
        opened.map_err(|error| error.detail("could not create connection for initialization"))?;
    let canceller = session.canceller(target);
    let cancel = console.cancel.clone();
    let mut work = Work { session, options, console };
    let outcome = {
        let steps = work.steps();
        tokio::pin!(steps);
        tokio::select! {
            outcome = &mut steps => outcome,
            () = cancel.cancelled() => {
                // Whether or not the request arrives, no further statement is begun.
                let _ = tokio::time::timeout(CANCEL_PATIENCE, canceller.cancel()).await;
                tokio::time::timeout(CANCEL_PATIENCE, &mut steps)
                    .await
                    .unwrap_or_else(|_| Err(interrupted()))
            }
        }
    };
    work.session.close().await;
    outcome
}

fn interrupted() -> TargetError {
    TargetError::new("initialization was interrupted")
}

/// One initialization under way.
struct Work<'o, 'c> {
    session: Session,
    options: &'o Options,
    console: Console<'c>,
}

impl Work<'_, '_> {
    async fn steps(&mut self) -> Result<(), TargetError> {
        let start = Instant::now();
        let mut parts = String::new();
        for &step in &self.options.steps {
            let step_start = Instant::now();
            self.step(step).await?;
            let separator = if parts.is_empty() { "" } else { ", " };
            let took = step_start.elapsed().as_secs_f64();
            write!(parts, "{separator}{} {took:.2} s", step.label())
                .expect("writing to a string cannot fail");
        }
        self.say(&format!("done in {:.2} s ({parts}).", start.elapsed().as_secs_f64()));
        Ok(())
    }

    async fn step(&mut self, step: Step) -> Result<(), TargetError> {
        self.say(step.title());
        match step {
            Step::DropTables => self.run(tables::DROP).await,
            Step::CreateTables => self.create().await,
            Step::GenerateHere => self.generate_here().await,
            Step::GenerateThere => {
                self.run("begin").await?;
                self.run(tables::TRUNCATE).await?;
                self.run_all(&tables::server_side(self.options)).await?;
                self.run("commit").await
            }
            Step::Vacuum => self.run_all(&tables::VACUUM.map(str::to_owned)).await,
            Step::PrimaryKeys => self.run_all(&tables::primary_keys(self.options)).await,
            Step::ForeignKeys => self.run_all(&tables::FOREIGN_KEYS.map(str::to_owned)).await,
        }
    }

    async fn create(&mut self) -> Result<(), TargetError> {
        self.run_all(&tables::create(self.options)).await?;
        if let Some(partitioning) = self.options.partitioning {
            self.say(&format!("creating {} partitions...", partitioning.count));
            for number in 1..=partitioning.count {
                self.run(&tables::partition(self.options, partitioning, number)).await?;
            }
        }
        Ok(())
    }

    async fn run_all(&mut self, statements: &[String]) -> Result<(), TargetError> {
        for sql in statements {
            self.run(sql).await?;
        }
        Ok(())
    }

    async fn run(&mut self, sql: &str) -> Result<(), TargetError> {
        self.check_cancelled()?;
        let outcome = self.session.execute(sql).await;
        for notice in self.session.notices() {
            self.say(&notice);
        }
        outcome.map_err(|error| failed(error, sql))
    }

    fn check_cancelled(&self) -> Result<(), TargetError> {
        if self.console.cancel.is_cancelled() { Err(interrupted()) } else { Ok(()) }
    }

    /// One line for the user.
    fn say(&mut self, line: &str) {
        // Standard error that is gone is no reason to leave the tables half made.
        let _ = writeln!(self.console.err, "{line}");
    }
}

fn failed(error: TargetError, sql: &str) -> TargetError {
    error.of("query failed").detail(format!("Query was: {sql}"))
}
