//! Prepared statements that a pooler loses: found out once one is missed, and told once for the whole run.
//!
//! A transaction pooler hands its sessions on the server from client to client, and with them whatever
//! these have prepared. On a direct connection the same errors are the script's own doing, as in pgbench.

use super::identity::identify;
use super::life::Client;
use super::reply::Refusal;
use super::trouble::{SqlError, Trouble, Why};
use pgsurge_common::plan::Protocol;
use pgsurge_common::script::{Command, Program, Script};

/// No such prepared statement, one of that name already, and one of that name with other parameters: what
/// an earlier run has left in a session of the pool.
const MISSED: [&str; 3] = ["26000", "42P05", "08P01"];

impl Client<'_> {
    /// Fails for good if an error of the server comes of a pooler that does not keep prepared statements with
    /// the client that made them.
    pub(super) async fn blame_pooler(&mut self, refusal: &Refusal) -> Result<(), Trouble> {
        let station = self.station;
        if station.rules.protocol != Protocol::Prepared
            || !MISSED.contains(&refusal.error.sqlstate())
            || drops_statements(&station.program)
        {
            return Ok(());
        }
        let Some(session) = &mut self.session else { return Ok(()) };
        let in_block = session.is_in_block();
        if in_block {
            // A failed block answers no question.
            session.connection.query(b"ROLLBACK")?;
            session.round_trip(None).await?;
        }
        if identify(session).await?.direct != Some(false) {
            // Where the block is gone, what follows in the script must not be executed without it.
            let own = Trouble::from(Why::Sql(SqlError::new(refusal, None)));
            return if in_block { Err(own) } else { Ok(()) };
        }
        Err(Trouble::from(Why::Hopeless(told(refusal))))
    }
}

fn told(refusal: &Refusal) -> String {
    let server = refusal.error.render(None);
    let server = server.lines().next().unwrap_or_default();
    format!(
        "prepared statements (-M prepared) do not work through this pooler: it hands sessions of the server \
         from client to client ({server}); use -M extended, or give the pooler pool_mode = session or, as \
         PgBouncer from 1.21 on can, max_prepared_statements above 0"
    )
}

/// The script itself may be why a statement is missed.
fn drops_statements(program: &Program) -> bool {
    let statements = program.scripts().iter().flat_map(Script::commands).filter_map(Command::sql);
    let mut texts = statements.map(|sql| String::from_utf8_lossy(sql.text()).to_lowercase());
    texts.any(|text| text.contains("deallocate") || text.contains("discard"))
}
