//! The commands of a script, one after the other: sent, answered, timed.

use pgsurge_common::plan::Protocol;
use pgsurge_common::script::{Program, Sql, Step, Store};

use super::capture::{Column, Kind};
use super::life::Client;
use super::reply::Reply;
use super::session::Session;
use super::transaction::Transaction;
use super::trouble::{SqlError, Trouble, Why};
use crate::load::Notice;
use crate::wire::WireError;
use crate::worker::RunTime;

type Result<T> = std::result::Result<T, Trouble>;

impl Client<'_> {
    /// Executes the script from where it stands to its end; returns the time of that.
    pub(super) async fn execute(&mut self, this: &Transaction) -> Result<RunTime> {
        let station = self.station;
        let program: &Program = &station.program;
        let timed = station.rules.time_commands;
        let mut since = if timed { station.now() } else { this.begun };
        loop {
            let step = self.state.next(program);
            if !self.state.debug_output().is_empty() {
                self.show_debug_output();
            }
            match step? {
                Step::Sql(sql) => self.statement(program, sql, this).await?,
                Step::End => return Ok(station.now()),
                Step::Meta => {}
                Step::Sleep(us) => self.nap(us).await,
                Step::StartPipeline => self.start_pipeline(program, this).await?,
                Step::SyncPipeline => self.session()?.sync_pipeline(),
                Step::EndPipeline => self.end_pipeline().await?,
                Step::Shell(line) => Box::pin(self.shell(program, line)).await?,
                Step::SetShell(line) => Box::pin(self.set_shell(program, line)).await?,
            }
            if timed {
                let now = station.now();
                let command = self.state.command();
                station.time_command(this.phase, this.script, command, now.us_since(since));
                since = now;
            }
        }
    }

    async fn statement(&mut self, program: &Program, sql: &Sql, this: &Transaction) -> Result<()> {
        let protocol = self.station.rules.protocol;
        if protocol == Protocol::Prepared && self.session()?.begin_preparing(sql.number()) {
            if self.session()?.in_pipeline() {
                // The statement stands behind an end of the pipeline that was not executed. Preparing it
                // would end the pipeline; as with pgbench the execution will fail for want of it.
                let text =
                    "synchronous command execution functions are not allowed in pipeline mode";
                self.station.say(Notice::error(self.seat.client, text.to_owned()));
            } else {
                self.prepare(sql, this).await?;
            }
        }
        self.queue(sql, protocol)?;
        let session = self.session()?;
        if session.in_pipeline() {
            return Ok(session.flush_long_pipeline().await?);
        }
        if protocol != Protocol::Simple {
            session.connection.sync();
        }
        let reply = self.round_trip(sql.store()).await?;
        if let Some(refusal) = &reply.error {
            Box::pin(self.blame_pooler(refusal)).await?;
            let text = self.text_sent(sql, protocol);
            return Err(Trouble::from(Why::Sql(SqlError::new(refusal, text.as_deref()))));
        }
        if *sql.store() != Store::Nothing {
            self.store(program, sql)?;
        }
        Ok(())
    }

    /// Queues the statement, without a sync point.
    fn queue(&mut self, sql: &Sql, protocol: Protocol) -> Result<()> {
        let station = self.station;
        let variables = self.state.variables();
        let Some(session) = &mut self.session else { return Err(no_session()) };
        let connection = &mut session.connection;
        let name: &[u8] = match protocol {
            Protocol::Simple => {
                connection.query_with(|out| {
                    sql.write_simple(variables, out);
                    Ok::<_, WireError>(())
                })?;
                return Ok(());
            }
            Protocol::Extended => {
                connection.parse(b"", sql.numbered())?;
                b""
            }
            Protocol::Prepared => station.statement_name(sql.number()),
        };
        let slots = sql.parameters();
        connection.bind_with(name, slots.len(), |index, out| {
            Ok::<_, WireError>(variables.write(slots[index], out))
        })?;
        connection.describe_portal();
        connection.execute();
        Ok(())
    }

    /// Prepares a statement in a round trip of its own. If that fails it is only said; the execution
    /// will fail for want of it.
    async fn prepare(&mut self, sql: &Sql, this: &Transaction) -> Result<()> {
        let name = self.station.statement_name(sql.number());
        let session = self.session()?;
        session.connection.parse(name, sql.numbered())?;
        session.connection.sync();
        let reply = self.round_trip(&Store::Nothing).await?;
        if let Some(refusal) = reply.error {
            Box::pin(self.blame_pooler(&refusal)).await?;
            self.note_error(this.phase, refusal.error.sqlstate());
            let text = refusal.error.render(Some(sql.numbered()));
            self.station.say(Notice::error(self.seat.client, text));
        }
        Ok(())
    }

    /// Sends what is queued and waits for the answer.
    async fn round_trip(&mut self, store: &Store) -> Result<Reply> {
        let Some(session) = &mut self.session else { return Err(no_session()) };
        let kind = match store {
            Store::Nothing => None,
            Store::Gset { .. } => Some(Kind::OnlyRow),
            Store::Aset { .. } => Some(Kind::LastRows),
        };
        let capture = kind.map(|kind| {
            let capture = self.capture.get_or_insert_default();
            capture.begin(kind);
            &mut **capture
        });
        self.seat.busy.set(true);
        let reply = session.round_trip(capture).await;
        self.seat.busy.set(false);
        self.has_yielded = true;
        self.heard(reply)
    }

    async fn start_pipeline(&mut self, program: &Program, this: &Transaction) -> Result<()> {
        if self.station.rules.protocol == Protocol::Prepared {
            // Beforehand: an error would otherwise spoil the pipeline, and some statements must come first.
            for sql in self.state.pipeline_statements(program) {
                if self.session()?.begin_preparing(sql.number()) {
                    self.prepare(sql, this).await?;
                }
            }
        }
        self.session()?.open_pipeline();
        Ok(())
    }

    async fn end_pipeline(&mut self) -> Result<()> {
        let seat = self.seat;
        let session = self.session()?;
        seat.busy.set(true);
        let reply = session.end_pipeline().await;
        seat.busy.set(false);
        self.has_yielded = true;
        let Some(refusal) = self.heard(reply)?.error else { return Ok(()) };
        Box::pin(self.blame_pooler(&refusal)).await?;
        let error = SqlError::new(&refusal, None);
        Err(Trouble::from(Why::Sql(error)))
    }

    /// Passes on what the server remarked.
    fn heard(&self, reply: std::result::Result<Reply, super::reply::Broken>) -> Result<Reply> {
        let mut reply = reply?;
        for notice in reply.notices.drain(..) {
            self.station.say(Notice::raw(self.seat.client, notice));
        }
        Ok(reply)
    }

    /// Puts results into variables.
    fn store(&mut self, program: &Program, sql: &Sql) -> Result<()> {
        let Some(capture) = &self.capture else { return Ok(()) };
        let (client, script, command) =
            (self.seat.client, self.state.script(), self.state.command());
        let fail = |query: u32, what: String| {
            let place = format!("client {client} script {script} command {command} query {query}");
            Trouble::from(Why::Text(format!("{place}: {what}")))
        };
        let kept = capture
            .finish()
            .map_err(|wrong| fail(wrong.query, format!("expected one row, got {}", wrong.rows)))?;
        for Column { name, value, query } in kept {
            let stored = self.state.store_column(program, sql, name, Some(value));
            if let Err(complaint) = stored {
                self.station.say(Notice::error(client, complaint));
                let prefix: &[u8] = match sql.store() {
                    Store::Gset { prefix } | Store::Aset { prefix } => prefix,
                    Store::Nothing => b"",
                };
                let name = [prefix, name].concat();
                let name = String::from_utf8_lossy(&name);
                return Err(fail(*query, format!("error storing into variable {name}")));
            }
        }
        Ok(())
    }

    /// The text that the server complained about, where its positions refer to one.
    fn text_sent(&self, sql: &Sql, protocol: Protocol) -> Option<Vec<u8>> {
        match protocol {
            Protocol::Simple => {
                let mut text = Vec::new();
                sql.write_simple(self.state.variables(), &mut text);
                Some(text)
            }
            Protocol::Extended => Some(sql.numbered().to_vec()),
            Protocol::Prepared => None,
        }
    }

    async fn nap(&mut self, us: i64) {
        let Ok(us @ 1..) = u64::try_from(us) else { return };
        let station = self.station;
        let until = station.now().plus(std::time::Duration::from_micros(us));
        station.sleep_until(until, true).await;
        self.has_yielded = true;
    }

    fn show_debug_output(&mut self) {
        let text = std::mem::take(self.state.debug_output());
        let text = String::from_utf8_lossy(text.trim_ascii_end()).into_owned();
        self.station.say(Notice::raw(self.seat.client, text));
    }

    fn session(&mut self) -> Result<&mut Session> {
        self.session.as_mut().ok_or_else(no_session)
    }
}

/// A transaction begins only with a session, so nobody sees this.
fn no_session() -> Trouble {
    Trouble::from(Why::Lost(WireError::Closed, None))
}
