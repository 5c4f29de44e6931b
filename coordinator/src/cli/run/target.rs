//! The target before the load, through the coordinator's own session: what it is, whether it has room and
//! tables, and the upkeep that pgbench does.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use pgsurge_common::plan::Plan;
use pgsurge_common::target::Target;

use super::announce;
use super::patience::{unless, unless_cancelled};
use super::plan;
use crate::cli::bench::BenchArgs;
use crate::cli::tell;
use crate::observe::{Before, Canceller, Facts, Session, Tables, Warm, prewarm, upkeep};
use crate::report::summary::PrewarmSummary;
use crate::run::Interrupts;

/// How long sessions of an earlier run may take to make room before the clients are refused.
const ROOM_WITHIN: Duration = Duration::from_secs(2);

/// The session that looks at the target, with what it saw.
pub struct Look {
    pub facts: Facts,
    pub tables: Option<Tables>,
    session: Session,
    canceller: Canceller,
    interrupts: Interrupts,
}

/// The target as it was before the load.
pub struct Observed {
    pub facts: Facts,
    pub tables: Option<Tables>,
    pub before: Before,
}

impl Look {
    /// Opens the session and asks for everything that must be known before anything is prepared.
    pub async fn open(args: &BenchArgs, target: &Target, interrupts: &Interrupts) -> Result<Self> {
        let opening = open_session(target, args.cluster.connect.timeout);
        let mut session = unless(interrupts, opening).await??;
        let canceller = session.canceller(target);
        let looking = look(args, target, &mut session);
        let (facts, tables) = unless_cancelled(interrupts, &canceller, looking).await??;
        Ok(Self { facts, tables, session, canceller, interrupts: interrupts.clone() })
    }

    /// `-s`, or what the tables say.
    pub fn scale(&self, args: &BenchArgs) -> u32 {
        self.tables.as_ref().map(|tables| tables.scale).or(args.scale).unwrap_or(1)
    }

    /// The upkeep before a run.
    pub async fn vacuum(&mut self, all: bool) -> Result<()> {
        let work = async { upkeep(&mut self.session, all, &mut std::io::stderr()).await };
        Ok(unless_cancelled(&self.interrupts, &self.canceller, work).await?)
    }

    /// Loads the cache, where that is wanted.
    pub async fn prewarm(&mut self, args: &BenchArgs) -> Result<Option<PrewarmSummary>> {
        if !args.cluster.prewarm {
            return Ok(None);
        }
        let builtin = args.scripts.iter().all(|script| script.builtin);
        let warm = if builtin { Warm::Pgbench } else { Warm::Database };
        let work = prewarm(&mut self.session, warm);
        let warmed = unless_cancelled(&self.interrupts, &self.canceller, work).await??;
        announce::prewarmed(&warmed);
        Ok(Some(warmed))
    }

    /// Reads the counters and ends the session.
    pub async fn finish(self, plan: &Plan) -> Result<Observed> {
        let Self { facts, tables, session, canceller, interrupts } = self;
        let reading = Before::read(session, &facts, plan::adds_history(&plan.workload));
        let before = unless_cancelled(&interrupts, &canceller, reading).await??;
        Ok(Observed { facts, tables, before })
    }
}

async fn look(
    args: &BenchArgs,
    target: &Target,
    session: &mut Session,
) -> Result<(Facts, Option<Tables>)> {
    let mut facts = Facts::read(session).await?;
    announce::banner(args, &facts)?;
    let tables = read_tables(args, session, target).await?;
    facts.await_room(session, args.clients.into(), ROOM_WITHIN).await?;
    refuse_too_many_clients(args, &facts)?;
    Ok((facts, tables))
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
    if args.scale.is_some() {
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
