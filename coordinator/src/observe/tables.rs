//! pgbench's tables as they are: scale and partitions. Asked only where a built-in script is used.

use super::error::TargetError;
use super::session::Session;
use crate::report::Partitions;

/// What the built-in scripts and the report need to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Rows of `pgbench_branches`: the scale.
    pub scale: u32,
    /// How `pgbench_accounts` is partitioned, if it is.
    pub partitions: Option<Partitions>,
}

impl Tables {
    /// Looks at the first tables of these names in the search path. `database` is for the hint only.
    pub async fn read(session: &mut Session, database: &str) -> Result<Self, TargetError> {
        let hint = format!(
            "Perhaps you need to do initialization (\"pgsurge -i\") in database \"{database}\"."
        );
        let branches = session
            .row("select count(*) from pgbench_branches")
            .await
            .map_err(|error| error.of("could not count number of branches").hint(&hint))?;
        let count = branches.into_iter().next().flatten().unwrap_or_default();
        let scale = count.parse().map_err(|_| {
            TargetError::new(format!("invalid count(*) from pgbench_branches: \"{count}\""))
        })?;
        let rows = session
            .rows(ACCOUNTS)
            .await
            .map_err(|error| error.of("could not look at pgbench_accounts"))?;
        let Some(row) = rows.into_iter().next() else {
            return Err(
                TargetError::new("no pgbench_accounts table found in \"search_path\"").hint(hint)
            );
        };
        Ok(Self { scale, partitions: partitions(row)? })
    }
}

const ACCOUNTS: &str = "select p.partstrat, \
      (select count(*) from pg_catalog.pg_inherits i where i.inhparent = c.oid) \
    from pg_catalog.pg_class c \
    left join pg_catalog.pg_partitioned_table p on p.partrelid = c.oid \
    where c.oid = pg_catalog.to_regclass('pgbench_accounts')";

fn partitions(row: Vec<Option<String>>) -> Result<Option<Partitions>, TargetError> {
    let mut row = row.into_iter();
    let Some(strategy) = row.next().flatten() else { return Ok(None) };
    let method = match strategy.as_str() {
        "r" => "range",
        "h" => "hash",
        other => {
            return Err(TargetError::new(format!("unexpected partition method: \"{other}\"")));
        }
    };
    let count = row.next().flatten().and_then(|n| n.parse().ok()).unwrap_or(0);
    Ok(Some(Partitions { method: method.to_owned(), count }))
}
