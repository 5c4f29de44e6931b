//! `pgsurge run`: from checked arguments to a printed report and an exit code.
//!
//! Only joins the rooms, in the order of a run (see `docs/architecture.md`); every decision that needs
//! thought is in one of them.

mod announce;
mod gather;
mod plan;
mod result;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
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
use crate::observe::{After, Before, Facts, Figures, Session, Tables, upkeep};
use crate::report::{Folder, Options, RunResult};
use crate::run::{self, Aborted, Interrupts, RunError, RunOutcome, RunSpec};

pub use gather::{StartLocalAgent, identity};

/// How long the target may take to let go of the last session before its counters are read anyway.
const SESSIONS_GONE_WITHIN: Duration = Duration::from_secs(10);

/// How long sessions of an earlier run may take to make room before the clients are refused.
const ROOM_WITHIN: Duration = Duration::from_secs(2);

/// How long a cancel request may take on its way.
const CANCELLED_WITHIN: Duration = Duration::from_secs(3);

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
}

/// The target as it was before the load.
struct Observed {
    facts: Facts,
    tables: Option<Tables>,
    before: Before,
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
    match execute(args, connection, surroundings).await {
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
    let (fleet, fleet_options) = gather::open(&args, surroundings).await?;

    let patience = args.cluster.connect.timeout;
    let mut session = unless(&interrupts, open_session(&target, patience)).await??;
    let mut facts = Facts::read(&mut session).await?;
    let tables = read_tables(&args, &mut session, &target).await?;
    let scale = tables.as_ref().map(|tables| tables.scale).or(args.scale).unwrap_or(1);
    let plan = plan::plan(&args, i64::from(scale), target)?;
    facts.await_room(&mut session, args.clients.into(), ROOM_WITHIN).await?;
    refuse_too_many_clients(&args, &facts)?;
    let unwritable = |error| tell::warning(&format_args!("{:#}", anyhow::Error::from(error)));
    let folder = Folder::open(&args.cluster.results, &plan, INTERVAL, unwritable)?;

    let agents = unless(&interrupts, gather::agents(&args, &fleet)).await??;
    let shares = shares(&args, &plan, &agents)?;
    announce::banner(&args, &facts)?;
    if !args.no_vacuum {
        vacuum(&args, &mut session, &plan.target, &interrupts).await?;
    }
    let counts_history = plan::adds_history(&plan.workload);
    let before = Before::read(session, &facts, counts_history).await?;
    let observed = Observed { facts, tables, before };

    let options = options(&args);
    let plan = Arc::new(plan);
    let abort = interrupts.abort.clone();
    let acknowledging = tokio::spawn(announce::interrupt(interrupts.drain.clone()));
    let (events, receiver) = mpsc::channel(EVENTS);
    let spec = RunSpec {
        plan: Arc::clone(&plan),
        agents: agents.into_iter().zip(shares).collect(),
        fleet: fleet_options,
        options: run::RunOptions {
            interval: INTERVAL,
            any_server: args.cluster.any_server,
            on_agent_loss: args.cluster.on_agent_loss,
        },
        events,
        interrupts,
    };
    let watch = watch::Watch::new(&plan, &options, folder, args.progress.is_none());
    let watching = tokio::spawn(watch.until_the_end(receiver));
    let outcome = load(spec).await;
    acknowledging.abort();
    let watched = watching.await.expect("watching a run does not panic");
    // A second signal does not wait for agents to say goodbye.
    tokio::select! {
        () = fleet.shutdown() => {}
        () = abort.cancelled() => {}
    }
    let outcome = outcome?;
    let aborted = outcome.aborted.clone();
    let result = conclude(&plan, options, &program, outcome, &watched, observed).await;
    finish(&args, &result, watched.folder, aborted.as_ref())
}

/// Waits, unless the user wants no more of it.
async fn unless<T>(
    interrupts: &Interrupts,
    waited_for: impl Future<Output = T>,
) -> Result<T, RunError> {
    tokio::select! {
        done = waited_for => Ok(done),
        () = interrupts.drain.cancelled() => Err(RunError::Interrupted),
    }
}

/// The upkeep before a run. An interrupt also ends the statement in course, which would else go on.
async fn vacuum(
    args: &BenchArgs,
    session: &mut Session,
    target: &Target,
    interrupts: &Interrupts,
) -> Result<()> {
    let canceller = session.canceller(target);
    let work = async { upkeep(session, args.vacuum_all, &mut std::io::stderr()).await };
    let done = unless(interrupts, work).await;
    if done.is_err() {
        // Whether or not the request arrives, the session ends.
        let _ = tokio::time::timeout(CANCELLED_WITHIN, canceller.cancel()).await;
    }
    Ok(done?)
}

/// Opens the sessions, starts and measures.
async fn load(spec: RunSpec) -> Result<RunOutcome> {
    let started = async { run::prepare(spec).await?.measure().await };
    started.await.map_err(|error| match error {
        RunError::Interrupted => anyhow::Error::from(error),
        other => anyhow::Error::from(other).context(announce::NOT_STARTED),
    })
}

/// Looks at the target once more and puts everything together.
async fn conclude(
    plan: &Plan,
    options: Options,
    program: &Program,
    outcome: RunOutcome,
    watched: &watch::Watched,
    observed: Observed,
) -> RunResult {
    let after = After::read(&plan.target, &observed.before, SESSIONS_GONE_WITHIN).await;
    let sessions = result::sessions(&outcome);
    let figures = after.map(|after| Figures::between(&observed.before, &after, sessions));
    let server = result::server(observed.facts, observed.tables, figures);
    result::Found { plan, options, program, outcome, watched, server }.assemble()
}

/// Prints, keeps and tells.
fn finish(
    args: &BenchArgs,
    result: &RunResult,
    folder: Option<Folder>,
    aborted: Option<&Aborted>,
) -> Result<ExitCode> {
    if let Some(aborted) = aborted {
        announce::aborted_run(aborted);
    } else {
        announce::report(args.cluster.format, result)?;
    }
    if let Some(folder) = folder {
        let place = folder.finish(result)?;
        announce::results(&place);
    }
    if aborted.is_none() && result.merged.aborted_clients > 0 {
        announce::incomplete();
    }
    Ok(if aborted.is_some() { ExitCode::ClientsUnfinished } else { result.exit_code })
}

/// The connection that looks at the target; one that takes the connection and never answers is given up.
async fn open_session(target: &Target, patience: Duration) -> Result<Session> {
    const FAILED: &str = "could not create connection for setup";
    match tokio::time::timeout(patience, Session::open(target)).await {
        Ok(opened) => Ok(opened.context(FAILED)?),
        Err(_) => bail!("{FAILED}: {target} did not answer within {} s", patience.as_secs_f64()),
    }
}

/// Scale and partitions, which only built-in scripts rely on.
async fn read_tables(
    args: &BenchArgs,
    session: &mut Session,
    target: &Target,
) -> Result<Option<Tables>> {
    if !args.scripts.iter().any(|script| script.builtin) {
        return Ok(None);
    }
    let tables = Tables::read(session, &target.database).await?;
    if args.scale.is_some_and(|scale| scale != tables.scale) {
        announce::scale_ignored(tables.scale);
    }
    Ok(Some(tables))
}

/// Said before connecting, since a server that is full says so to each client in turn. Through a pooler it
/// is only a warning: the pooler queues.
fn refuse_too_many_clients(args: &BenchArgs, facts: &Facts) -> Result<()> {
    let Some(refusal) = facts.slots.refuse(args.clients.into()) else { return Ok(()) };
    if facts.direct && !args.cluster.allow_fewer_clients {
        bail!(
            "{refusal}\nhint: lower -c, raise the limit, or take what there is with --allow-fewer-clients"
        );
    }
    let pooler = if facts.direct { "" } else { "; a pooler stands before it and may queue" };
    tell::warning(&format_args!("{refusal}{pooler}"));
    Ok(())
}

fn shares(args: &BenchArgs, plan: &Plan, agents: &[AgentHandle]) -> Result<Vec<Share>> {
    let cores = agents.iter().map(|agent| agent.facts().cores).collect::<Vec<_>>();
    let rules = SplitRules {
        by: if args.cluster.split_by_cores { SplitBy::Cores } else { SplitBy::Evenly },
        workers_per_agent: workers_per_agent(args),
    };
    Ok(split(&plan.load, &cores, rules)?)
}

/// pgbench's default inside one process, each agent's cores in a cluster.
fn workers_per_agent(args: &BenchArgs) -> Option<u32> {
    args.jobs.or(if args.cluster.agents.is_some() { None } else { Some(1) })
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

/// Whether stdout holds nothing but the summary document.
fn is_json(args: &BenchArgs) -> bool {
    args.cluster.format == Format::Json
}
