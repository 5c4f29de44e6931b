//! One look at the server's statistics: every source that can be read, and why others cannot.
//!
//! One message to the server is one transaction, with a time limit that ends with it, so that a pooler may lend the
//! session to somebody else in between.

use std::time::Instant;

use super::source::{Catalog, Kind, MOST_RELATIONS, SOURCES, Source, Statement};
use crate::observe::error::TargetError;
use crate::observe::session::Session;

/// How long one statement may take on the server. Starting a parallel worker commits transactions of its own, which
/// nobody could take off the server's count.
const PATIENCE: &str =
    "set local statement_timeout = '2s'; set local max_parallel_workers_per_gather = 0";

/// Figures about one object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) source: &'static str,
    /// A relation, a kind of process, a wait event; empty where there is only one.
    pub(super) object: String,
    pub(super) figures: Vec<(&'static str, f64)>,
}

/// All figures of one moment.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) at: Instant,
    /// How long it took.
    pub(super) took_s: f64,
    /// Start of the postmaster, which tells two lives of a server apart.
    pub(super) started_us: i64,
    pub(super) rows: Vec<Row>,
    /// When each source that was read was last set to zero, as the server words it.
    pub(super) read: Vec<(&'static str, Option<String>)>,
    /// Sources of which not all relations were read.
    pub(super) curtailed: Vec<&'static str>,
}

impl Reading {
    pub(super) fn figure(&self, source: &str, object: &str, name: &str) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.source == source && row.object == object)?;
        row.figure(name)
    }

    pub(super) fn reset(&self, source: &str) -> Option<&Option<String>> {
        self.read.iter().find(|(name, _)| *name == source).map(|(_, reset)| reset)
    }
}

impl Row {
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// How to read one server.
#[derive(Debug)]
pub(super) struct Reader {
    statements: Vec<(&'static Source, Statement)>,
    /// `checkpoint_warning`, in seconds.
    pub(super) checkpoint_warning_s: Option<f64>,
    /// `max_wal_size`, as the server words it.
    pub(super) max_wal_size: Option<String>,
}

impl Reader {
    /// Asks what the server has; tells `problem` what the role may not read.
    pub(super) async fn new(
        session: &mut Session,
        problem: &mut impl FnMut(String),
    ) -> Result<Self, TargetError> {
        let catalog = Catalog::from_rows(ask(session, &Catalog::sql()).await?);
        let mut statements = Vec::new();
        for source in SOURCES {
            match catalog.statement(source) {
                Ok(Some(statement)) => statements.push((source, statement)),
                Ok(None) => {}
                Err(refusal) => problem(refusal),
            }
        }
        let settings = ask(
            session,
            "select (select setting from pg_catalog.pg_settings where name = 'checkpoint_warning'), \
               current_setting('max_wal_size', true)",
        );
        let mut settings = settings.await?.into_iter().flatten();
        let warning = settings.next().flatten().and_then(|text| text.parse().ok());
        let max_wal_size = settings.next().flatten();
        Ok(Self { statements, checkpoint_warning_s: warning, max_wal_size })
    }

    /// Looks. A source that the server refuses is not asked for again; a session that is lost is an error.
    pub(super) async fn read(
        &mut self,
        session: &mut Session,
        problem: &mut impl FnMut(String),
    ) -> Result<Reading, TargetError> {
        let at = Instant::now();
        let mut reading = Reading {
            at,
            took_s: 0.0,
            started_us: 0,
            rows: Vec::new(),
            read: Vec::new(),
            curtailed: Vec::new(),
        };
        let mut refused = Vec::new();
        for (source, statement) in &self.statements {
            match ask(session, &statement.sql).await {
                Ok(rows) => reading.take(source, statement, rows),
                Err(error) if error.sqlstate.as_deref().is_some_and(of_the_statement) => {
                    problem(format!("{} cannot be read: {}", source.name, first_line(&error)));
                    if error.sqlstate.as_deref() != Some("57014") {
                        refused.push(source.name);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        self.statements.retain(|(source, _)| !refused.contains(&source.name));
        let started =
            "select (extract(epoch from pg_catalog.pg_postmaster_start_time()) * 1000000)::bigint";
        let started = ask(session, started).await?.into_iter().flatten().flatten().next();
        reading.started_us = started.and_then(|text| text.parse().ok()).unwrap_or(0);
        reading.took_s = at.elapsed().as_secs_f64();
        Ok(reading)
    }
}

impl Reading {
    fn take(
        &mut self,
        source: &'static Source,
        asked: &Statement,
        mut rows: Vec<Vec<Option<String>>>,
    ) {
        if source.kind == Kind::Relations && rows.len() > MOST_RELATIONS {
            rows.truncate(MOST_RELATIONS);
            self.curtailed.push(source.name);
        }
        let mut reset = None;
        for row in rows {
            let mut row = row.into_iter();
            let object = row.next().flatten().unwrap_or_default();
            let value = |text: Option<String>| text?.parse::<f64>().ok();
            let figures = asked.names.iter().zip(row.by_ref().take(asked.names.len()));
            let figures = figures.filter_map(|(name, text)| Some((*name, value(text)?))).collect();
            reset = row.next().flatten().or(reset);
            self.rows.push(Row { source: source.name, object, figures });
        }
        self.read.push((source.name, reset));
    }
}

async fn ask(session: &mut Session, sql: &str) -> Result<Vec<Vec<Option<String>>>, TargetError> {
    session.rows(&format!("{PATIENCE}; {sql}")).await
}

/// Whether it was the statement that failed, and the session goes on.
fn of_the_statement(sqlstate: &str) -> bool {
    sqlstate == "57014" || !["57", "08", "53", "XX"].iter().any(|class| sqlstate.starts_with(class))
}

fn first_line(error: &TargetError) -> &str {
    error.message.lines().next().unwrap_or_default()
}
