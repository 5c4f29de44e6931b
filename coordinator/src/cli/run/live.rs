//! The live page of a run (`--web`), where one is asked for.

use std::sync::Arc;

use anyhow::Result;
use pgsurge_common::plan::Plan;
use tokio::sync::watch;

use super::{BenchArgs, INTERVAL, RunResult, tell};
use crate::fleet::AgentHandle;
use crate::web::{Board, Several, Web};

/// What the page shows, and the page itself unless several runs share it.
pub struct Live(Option<(Arc<Board>, Option<Web>)>);

impl Live {
    /// Serves it from now on, so that it shows also how agents are waited for.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn open(args: &BenchArgs, several: Option<&Several>) -> Result<Self> {
        let agents = args.cluster.agents.unwrap_or(0);
        if let Some(several) = several {
            return Ok(Self(Some((several.next(agents), None))));
        }
        let Some(address) = args.cluster.web else { return Ok(Self(None)) };
        let board = Board::new(agents);
        let web = Web::open(address, watch::channel(Arc::clone(&board)).1).await?;
        tell::line(&format_args!("the run can be watched on http://{}/", web.address()));
        Ok(Self(Some((board, Some(web)))))
    }

    /// What is to be told what happens.
    pub fn board(&self) -> Option<Arc<Board>> {
        self.0.as_ref().map(|(board, _)| Arc::clone(board))
    }

    /// All agents are there.
    pub fn planned(&self, plan: &Arc<Plan>, agents: &[AgentHandle]) {
        if let Some((board, _)) = &self.0 {
            let names: Vec<String> =
                agents.iter().map(|agent| agent.facts().name.clone()).collect();
            board.planned(plan, INTERVAL.as_secs_f64(), &names);
        }
    }

    /// Shows the verdict of the report, and ends.
    pub async fn done(self, result: &RunResult) {
        if let Some((board, web)) = self.0 {
            board.done(result.merged.duration, &result.verdict.findings);
            if let Some(web) = web {
                web.close().await;
            }
        }
    }
}
