//! Loads tables and indexes into the server's cache before a run (`--prewarm`), with `pg_prewarm` where it can be had.
//!
//! An extension that had to be created for it is dropped again. Without it everything is read, which fills the operating
//! system's cache; whatever a sequential scan reads of a large table does not stay in `shared_buffers`.

use std::time::{Duration, Instant};

use super::error::TargetError;
use super::session::Session;
use crate::report::summary::PrewarmSummary;

/// How long all of it may take; what is not loaded by then is left cold.
const WITHIN: Duration = Duration::from_secs(600);
/// Relations that are looked at.
const MOST_RELATIONS: usize = 10_000;
/// Problems that are kept.
const MOST_PROBLEMS: usize = 10;

/// What is to be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warm {
    /// pgbench's tables, partitions included.
    Pgbench,
    /// All user tables of the database.
    Database,
}

/// A table, or an index of one.
struct Relation {
    /// Quoted and qualified where it needs to be.
    name: String,
    blocks: u64,
    /// Of an index: its table and, where one can read in its order, its first column.
    index_of: Option<(String, Option<String>)>,
}

/// Loads; what cannot be loaded is among the problems.
///
/// # Errors
/// The server could not be asked what there is.
pub async fn prewarm(session: &mut Session, warm: Warm) -> Result<PrewarmSummary, TargetError> {
    let began = Instant::now();
    let relations = relations(session, warm).await?;
    let mut report = PrewarmSummary {
        shared_buffers_blocks: shared_buffers(session).await?,
        ..Default::default()
    };
    let function = Function::obtain(session).await;
    report.method = if function.is_ok() { "pg_prewarm" } else { "reads" }.into();
    if let Err(reason) = &function {
        problem(
            &mut report,
            format!(
                "pg_prewarm cannot be had ({reason}): tables are read, of which a large one does not fill shared_buffers"
            ),
        );
    }
    for relation in &relations {
        let left = WITHIN.saturating_sub(began.elapsed()).as_millis();
        if left == 0 {
            problem(&mut report, format!("not all was loaded within {} s", WITHIN.as_secs()));
            break;
        }
        let statement = match &function {
            Ok(function) => Some(function.load(relation)),
            Err(_) => read(relation),
        };
        let Some(statement) = statement else { continue };
        let limited = format!("set local statement_timeout = {left}; {statement}");
        match session.row(&limited).await {
            Ok(row) => {
                let loaded = row.into_iter().next().flatten().and_then(|count| count.parse().ok());
                // Reads count rows, so what they cover is known by its size.
                report.blocks += loaded.filter(|_| function.is_ok()).unwrap_or(relation.blocks);
                report.relations += 1;
            }
            Err(error) => {
                let first = error.message.lines().next().unwrap_or_default();
                problem(&mut report, format!("{} was not loaded: {first}", relation.name));
            }
        }
    }
    if let Ok(Function { created: true, .. }) = function
        && let Err(error) = session.execute("drop extension pg_prewarm").await
    {
        problem(&mut report, format!("the extension pg_prewarm stays: {}", error.message));
    }
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

fn problem(report: &mut PrewarmSummary, text: String) {
    if report.problems.len() < MOST_PROBLEMS {
        report.problems.push(text);
    }
}

/// `pg_prewarm()`, wherever it is.
struct Function {
    schema: String,
    created: bool,
}

impl Function {
    async fn obtain(session: &mut Session) -> Result<Self, String> {
        if let Some(schema) = Self::schema(session).await? {
            return Ok(Self { schema, created: false });
        }
        let created = session.execute("create extension pg_prewarm").await;
        created.map_err(|error| error.message.lines().next().unwrap_or_default().to_owned())?;
        let schema = Self::schema(session).await?;
        let schema = schema.ok_or_else(|| "it is not there after it was created".to_owned())?;
        Ok(Self { schema, created: true })
    }

    async fn schema(session: &mut Session) -> Result<Option<String>, String> {
        let rows = session
            .rows(
                "select pg_catalog.quote_ident(n.nspname) from pg_catalog.pg_extension e \
                 join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'pg_prewarm'",
            )
            .await
            .map_err(|error| error.message)?;
        Ok(rows.into_iter().flatten().flatten().next())
    }

    fn load(&self, relation: &Relation) -> String {
        format!("select {}.pg_prewarm({})", self.schema, literal(&relation.name))
    }
}

/// A statement that reads a relation. An index is read in its order together with its table, block by block as
/// sessions do, where it can be.
fn read(relation: &Relation) -> Option<String> {
    match &relation.index_of {
        None => Some(format!("select count(*) from only {}", relation.name)),
        Some((table, Some(column))) => Some(format!(
            "set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off; \
             set local enable_indexonlyscan = off; \
             select count(*) from (select 1 from only {table} order by {column} offset 0) s"
        )),
        Some((_, None)) => None,
    }
}

fn literal(text: &str) -> String {
    format!("'{}'::regclass", text.replace('\'', "''"))
}

/// Large tables first and indexes last: what comes last stays where not all has room.
async fn relations(session: &mut Session, warm: Warm) -> Result<Vec<Relation>, TargetError> {
    let chosen = match warm {
        Warm::Pgbench => {
            "c.oid in (select p.relid from unnest(array['pgbench_accounts', 'pgbench_branches', 'pgbench_tellers', \
             'pgbench_history']) n, pg_catalog.pg_partition_tree(pg_catalog.to_regclass(n)) p \
             union select pg_catalog.to_regclass(n) from unnest(array['pgbench_accounts', 'pgbench_branches', \
             'pgbench_tellers', 'pgbench_history']) n)"
        }
        Warm::Database => {
            "c.relnamespace not in (select oid from pg_catalog.pg_namespace \
             where nspname like 'pg\\_%' or nspname = 'information_schema')"
        }
    };
    let sql = format!(
        "with tables as (select c.oid from pg_catalog.pg_class c \
           where c.relkind in ('r', 'm') and c.relpersistence <> 't' and {chosen}) \
         select oid::regclass::text, pg_catalog.pg_relation_size(oid) as size, null as owner, null as col, \
           1 as rank from tables \
         union all \
         select i.indexrelid::regclass::text, pg_catalog.pg_relation_size(i.indexrelid), \
           i.indrelid::regclass::text, \
           case when am.amname = 'btree' and i.indkey[0] <> 0 and i.indpred is null \
             then (select pg_catalog.quote_ident(a.attname) from pg_catalog.pg_attribute a \
                   where a.attrelid = i.indrelid and a.attnum = i.indkey[0]) end, 2 \
         from pg_catalog.pg_index i join tables on tables.oid = i.indrelid \
           join pg_catalog.pg_class x on x.oid = i.indexrelid join pg_catalog.pg_am am on am.oid = x.relam \
         where i.indisvalid order by rank, size desc limit {MOST_RELATIONS}"
    );
    let rows = session.rows(&sql).await.map_err(|e| e.of("could not list what to load"))?;
    let size = session.row("select current_setting('block_size')").await?;
    let size = size.into_iter().next().flatten().and_then(|text| text.parse().ok());
    let size: u64 = size.unwrap_or(8192);
    let relation = |row: Vec<Option<String>>| {
        let mut row = row.into_iter();
        let name = row.next().flatten()?;
        let bytes: u64 = row.next().flatten()?.parse().ok()?;
        let table = row.next().flatten();
        let column = row.next().flatten();
        Some(Relation { name, blocks: bytes / size, index_of: table.map(|table| (table, column)) })
    };
    Ok(rows.into_iter().filter_map(relation).filter(|relation| relation.blocks > 0).collect())
}

async fn shared_buffers(session: &mut Session) -> Result<u64, TargetError> {
    let sql = "select setting from pg_catalog.pg_settings where name = 'shared_buffers'";
    let rows = session.rows(sql).await?;
    Ok(rows.into_iter().flatten().flatten().next().and_then(|text| text.parse().ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(index_of: Option<(&str, Option<&str>)>) -> Relation {
        let index_of =
            index_of.map(|(table, column)| (table.to_owned(), column.map(str::to_owned)));
        Relation { name: "\"it's\"".into(), blocks: 1, index_of }
    }

    #[test]
    fn a_name_is_quoted_for_pg_prewarm() {
        let function = Function { schema: "\"S\"".into(), created: false };
        let sql = function.load(&relation(None));
        assert_eq!(sql, "select \"S\".pg_prewarm('\"it''s\"'::regclass)");
    }

    #[test]
    fn an_index_is_read_in_its_order_if_it_has_one() {
        assert_eq!(read(&relation(None)).as_deref(), Some("select count(*) from only \"it's\""));
        let ordered = read(&relation(Some(("t", Some("a"))))).unwrap_or_default();
        assert!(ordered.contains("from only t order by a"), "{ordered}");
        assert_eq!(read(&relation(Some(("t", None)))), None);
    }
}
