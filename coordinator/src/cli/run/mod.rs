//! `pgsurge run`: from checked arguments to a printed report and an exit code.
//!
//! Only joins the rooms, in the order of a run (see `docs/architecture.md`); every decision that needs
//! thought is in one of them.

mod announce;
mod gather;
mod live;
mod observing;
mod patience;
mod plan;
mod result;
mod target;
mod watch;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use pgsurge_common::outcome::ExitCode;
use pgsurge_common::plan::Plan;
use pgsurge_common::plan::split::{Share, SplitBy, SplitRules, split};
use pgsurge_common::script::Program;
use pgsurge_common::target::Target;
use tokio::sync::mpsc;

use super::bench::{BenchArgs, Format};
use super::connection::ConnectionArgs;
use super::tell;
use crate::fleet::AgentHandle;
use crate::observe::{After, Figures, TargetError};
use crate::picture;
use crate::report::{Folder, Options, RunResult};
use crate::run::{self, Aborted, Interrupts, RunError, RunOutcome, RunSpec};
use crate::web::Several;

use live::Live;
use observing::Observing;
use patience::{Beside, unless};
use target::{Look, Observed};

pub use gather::{StartLocalAgent, identity};

/// How long the target may take to let go of the last session before its counters are read anyway.
const SESSIONS_GONE_WITHIN: Duration = Duration::from_secs(10);

/// How long reading the counters may take in all, that wait included.
const COUNTED_WITHIN: Duration = Duration::from_secs(45);

/// Events of a run that may wait to be printed; then the run waits.
const EVENTS: usize = 256;

/// Length of an interval; agents cut theirs to the same.
const INTERVAL: Duration = Duration::from_secs(1);

/// What a run needs besides its arguments.
pub struct Surroundings {
    /// How to start the agent inside this process, where no others are asked for.
    pub local_agent: StartLocalAgent,
    /// What the user wants in the middle of it.
    pub interrupts: Interrupts,
    /// The live page, where runs that follow each other share one.
    pub page: Option<Arc<Several>>,
}

/// Runs a benchmark.
///
/// # Errors
/// Anything that keeps the load from starting; the exit code is 1 then.
pub async fn run(
    args: BenchArgs,
    connection: &ConnectionArgs,
    surroundings: Surroundings,
) -> Result<ExitCode> {
    // Boxed: this future holds all that a run needs on its way.
    match Box::pin(execute(args, connection, surroundings)).await {
        Err(error) if matches!(error.downcast_ref(), Some(RunError::Interrupted)) => {
            tell::line(&error);
            Ok(ExitCode::Interrupted)
        }
        other => other,
    }
}

async fn execute(
    args: BenchArgs,
    connection: &ConnectionArgs,
    surroundings: Surroundings,
) -> Result<ExitCode> {
    announce::seed(&args);
    let draft = plan::workload(&args, args.scale.map_or(1, i64::from));
    let program = Program::compile(&draft)?;
    let target = super::target::resolve_target(connection)?;
    announce::local_target(&args, &target);
    let interrupts = surroundings.interrupts.clone();
    let live = Live::open(&args, surroundings.page.as_deref()).await?;
    let (fleet, fleet_options) = gather::open(&args, surroundings).await?;

    let mut look = Look::open(&args, &target, &interrupts).await?;
    let plan = plan::plan(&args, i64::from(look.scale(&args)), target)?;
    let unwritable = |error| tell::warning(&format_args!("{:#}", anyhow::Error::from(error)));
    let folder = Folder::open(&args.cluster.results, &plan, INTERVAL, unwritable)?;

    let logs = logs_folder(&args, folder.as_ref())?;
    let agents = unless(&interrupts, gather::agents(&args, &fleet)).await??;
    let shares = shares(&args, &plan, &agents)?;
    if !args.no_vacuum {
        look.vacuum(args.vacuum_all).await?;
    }
    let warmed = look.prewarm(&args).await?;
    let observed = look.finish(&plan).await?;
    let observing = Observing::start(&args, &plan, &observed.facts, folder.as_ref());
    observing.ready(&interrupts).await;

    let options = options(&args);
    let plan = Arc::new(plan);
    live.planned(&plan, &agents);
    let (events, receiver) = mpsc::channel(EVENTS);
    let spec = RunSpec {
        plan: Arc::clone(&plan),
        agents: agents.into_iter().zip(shares).collect(),
        fleet: fleet_options,
        options: run::RunOptions { logs, ..run_options(&args) },
        events,
        interrupts: interrupts.clone(),
    };
    let watch = watch::Watch::new(&plan, &options, folder, args.progress.is_none());
    let watch = watch.on(live.board()).with(observing.starts());
    let watching = tokio::spawn(watch.until_the_end(receiver));
    let outcome = load(spec).await;
    let watched = watching.await.expect("watching a run does not panic");
    // A second signal does not wait for agents to say goodbye.
    tokio::select! {
        () = fleet.shutdown() => {}
        () = interrupts.abort.cancelled() => {}
    }
    let outcome = outcome?;
    let aborted = outcome.aborted.clone();
    let observing = observing.stop().await;
    let after = counters_after(&plan.target, &observed, &interrupts).await;
    let sessions = result::sessions(&outcome);
    let several = result::several_servers(&plan.target, &outcome);
    let seen = observing.conclude(several.as_deref(), &interrupts).await;
    let figures = match several {
        Some(reason) => Err(reason),
        None => after
            .map(|after| Figures::between(&observed.before, &after, sessions, seen.own))
            .map_err(|error| format!("could not be read: {error}")),
    };
    let mut server = result::server(observed.facts, observed.tables, figures);
    server.observation = seen.observation;
    server.prewarm = warmed;
    let found = result::Found {
        plan: &plan,
        options,
        program: &program,
        outcome,
        watched: &watched,
        server,
    };
    let result = found.assemble();
    live.done(&result).await;
    let finishing = Finishing { folder: watched.folder, server: seen.written };
    Ok(finish(&args, &result, finishing, aborted.as_ref()))
}

/// Where collected logs go. A default results folder that cannot be made is no error, unless they need it.
fn logs_folder(args: &BenchArgs, folder: Option<&Folder>) -> Result<Option<PathBuf>> {
    match (folder.map(Folder::logs), args.log.as_ref().is_some_and(|log| log.collect)) {
        (_, false) => Ok(None),
        (Some(logs), true) => Ok(Some(logs)),
        (None, true) => bail!(
            "--collect-logs needs a results folder, and there is none; name one with --results"
        ),
    }
}

/// Opens the sessions, starts and measures.
async fn load(spec: RunSpec) -> Result<RunOutcome> {
    let drain = spec.interrupts.drain.clone();
    let started = async {
        let prepared = run::prepare(spec).await?;
        // Before this, an interrupt finds nothing in flight.
        let _acknowledging = Beside::start(announce::interrupt(drain));
        prepared.measure().await
    };
    started.await.map_err(|error| match error {
        RunError::Interrupted => anyhow::Error::from(error),
        other => anyhow::Error::from(other).context(announce::NOT_STARTED),
    })
}

/// Looks at the target once more; a second interrupt does not wait for the run's sessions to go.
async fn counters_after(
    target: &Target,
    observed: &Observed,
    interrupts: &Interrupts,
) -> Result<After, TargetError> {
    tokio::select! {
        after = After::read(target, &observed.before, SESSIONS_GONE_WITHIN) => after,
        () = tokio::time::sleep(COUNTED_WITHIN) => {
            let seconds = COUNTED_WITHIN.as_secs();
            Err(TargetError::new(format!("the server did not answer within {seconds} s")))
        }
        () = interrupts.abort.cancelled() => {
            Err(TargetError::new("a second interrupt ended the wait for the last session"))
        }
    }
}

/// What the results folder still needs.
struct Finishing {
    folder: Option<Folder>,
    /// Whether the readings of the server are on disk.
    server: Result<(), (PathBuf, io::Error)>,
}

/// Prints, keeps and tells. What cannot be written is an error of its own: the figures are on stdout, or at
/// least in the folder.
fn finish(
    args: &BenchArgs,
    result: &RunResult,
    finishing: Finishing,
    aborted: Option<&Aborted>,
) -> ExitCode {
    let mut code = if aborted.is_some() { ExitCode::ClientsUnfinished } else { result.exit_code };
    let printed = if let Some(aborted) = aborted {
        announce::aborted_run(aborted);
        Ok(())
    } else {
        announce::report(args, result)
    };
    let Finishing { folder, server } = finishing;
    let pictures = |files: &Path| if args.cluster.html { picture::write(files) } else { Ok(()) };
    let kept =
        folder.map(|folder| folder.finish(result, |files| server.and_then(|()| pictures(files))));
    let kept = kept.transpose();
    if aborted.is_none() && result.merged.aborted_clients > 0 {
        announce::incomplete();
    }
    match kept {
        Ok(Some(place)) if args.cluster.format != Format::Nothing => announce::results(&place),
        Ok(_) => {}
        Err(error) => code = code.max(announce::not_written(&error.into())),
    }
    if let Err(error) = printed {
        code = code.max(announce::not_written(&error));
    }
    code
}

fn shares(args: &BenchArgs, plan: &Plan, agents: &[AgentHandle]) -> Result<Vec<Share>> {
    let cores = agents.iter().map(|agent| agent.facts().cores).collect::<Vec<_>>();
    Ok(split(&plan.load, &cores, split_rules(args))?)
}

fn split_rules(args: &BenchArgs) -> SplitRules {
    SplitRules {
        by: if args.cluster.split_by_cores { SplitBy::Cores } else { SplitBy::Evenly },
        workers_per_agent: workers_per_agent(args),
    }
}

/// pgbench's default inside one process, each agent's cores in a cluster.
fn workers_per_agent(args: &BenchArgs) -> Option<u32> {
    args.jobs.or(if args.cluster.agents.is_some() { None } else { Some(1) })
}

fn run_options(args: &BenchArgs) -> run::RunOptions {
    run::RunOptions {
        interval: INTERVAL,
        any_server: args.cluster.any_server,
        on_agent_loss: args.cluster.on_agent_loss,
        split: split_rules(args),
        logs: None,
    }
}

fn options(args: &BenchArgs) -> Options {
    Options {
        failures_detailed: args.failures_detailed,
        progress_s: args.progress,
        progress_timestamp: args.progress_timestamp,
        agents: args.cluster.agents.unwrap_or(0),
        workers_per_agent: workers_per_agent(args),
        split_by_cores: args.cluster.split_by_cores,
        interval: INTERVAL,
        lease: args.cluster.lease,
        on_agent_loss: args.cluster.on_agent_loss,
        fail_if: args.cluster.fail_if.clone(),
        require_valid: args.cluster.require_valid,
    }
}

/// Whether stdout holds the report as pgbench prints it.
fn is_text(args: &BenchArgs) -> bool {
    args.cluster.format == Format::Text
}
