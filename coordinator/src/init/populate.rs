//! Step `g`: the rows made here and copied in, as one transaction.

use futures_util::SinkExt;

use super::progress::Progress;
use super::rows::{self, Table};
use super::{Work, failed, tables};
use crate::observe::TargetError;

/// First version that can freeze rows while it copies them.
const FREEZE_SINCE: u32 = 140_000;

impl Work<'_, '_> {
    pub(super) async fn generate_here(&mut self) -> Result<(), TargetError> {
        let version = self.session.row("select current_setting('server_version_num')").await?;
        let version: u32 =
            version.into_iter().next().flatten().and_then(|v| v.parse().ok()).unwrap_or(0);
        self.run("begin").await?;
        self.run(tables::TRUNCATE).await?;
        for table in Table::ALL {
            self.copy(table, version).await?;
        }
        self.run("commit").await
    }

    async fn copy(&mut self, table: Table, version: u32) -> Result<(), TargetError> {
        let name = table.name();
        // Not into a partitioned table, which the server refuses.
        let freeze = version >= FREEZE_SINCE && self.is_ordinary(name).await?;
        let freeze = if freeze { " with (freeze on)" } else { "" };
        let sql = format!("copy {name} from stdin{freeze}");
        self.check_cancelled()?;
        let total = table.per_branch() * u64::from(self.options.scale);
        let mut progress = Progress::new(name, total, self.options.quiet, self.console.style);
        let failed =
            |error: tokio_postgres::Error| failed(TargetError::postgres(&error, None), &sql);
        let mut sink =
            Box::pin(self.session.copy_in(&sql).await.map_err(|e| super::failed(e, &sql))?);
        let mut next = 1;
        while next <= total {
            self.check_cancelled()?;
            let (text, last) = rows::chunk(table, next, total);
            sink.feed(text).await.map_err(failed)?;
            progress.reached(last, self.console.err);
            next = last + 1;
        }
        sink.as_mut().finish().await.map_err(failed)?;
        progress.end(self.console.err);
        Ok(())
    }

    async fn is_ordinary(&mut self, name: &str) -> Result<bool, TargetError> {
        let sql = format!("select relkind from pg_catalog.pg_class where oid = '{name}'::regclass");
        let row = self.session.row(&sql).await.map_err(|error| failed(error, &sql))?;
        Ok(row.into_iter().next().flatten().as_deref() == Some("r"))
    }
}
