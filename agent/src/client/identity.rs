//! Which server is this, and is anything in between? Asked once an agent, so that a cluster does not
//! load two servers unawares.

use super::capture::{Capture, Column, Kind};
use super::reply::Broken;
use super::session::Session;

/// Start time of the postmaster, the process that serves this session, and whether the next question
/// is allowed.
const SERVER: &[u8] = b"SELECT extract(epoch FROM pg_catalog.pg_postmaster_start_time()), \
    pg_catalog.pg_backend_pid(), \
    pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')";

/// What `initdb` gave this cluster of databases.
const SYSTEM: &[u8] = b"SELECT system_identifier FROM pg_catalog.pg_control_system()";

/// What is known of the server; nothing where it does not answer as PostgreSQL does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Equal for two sessions only if they are on the same running server.
    pub(crate) server: Option<String>,
    /// The backend key names the process that serves the session.
    pub(crate) direct: Option<bool>,
}

/// Asks a fresh session. Fails only if the session is lost.
pub(crate) async fn identify(session: &mut Session) -> Result<Identity, Broken> {
    let Some(answers) = ask(session, SERVER).await? else { return Ok(Identity::default()) };
    let [start, process, may_ask] = answers.as_slice() else { return Ok(Identity::default()) };
    let direct = process.parse().ok().map(|pid: i32| pid == session.connection.backend_pid());
    let mut server = format!("postmaster start {start}");
    if may_ask == "t"
        && let Some([system]) = ask(session, SYSTEM).await?.as_deref()
    {
        server = format!("{server}, system {system}");
    }
    Ok(Identity { server: Some(server), direct })
}

/// The values of the only row; `None` if the server refuses or answers otherwise.
async fn ask(session: &mut Session, query: &[u8]) -> Result<Option<Vec<String>>, Broken> {
    let mut capture = Capture::default();
    capture.begin(Kind::OnlyRow);
    session.connection.query(query)?;
    let reply = session.round_trip(Some(&mut capture)).await?;
    let Ok(kept) = capture.finish() else { return Ok(None) };
    if reply.error.is_some() {
        return Ok(None);
    }
    let text = |column: &Column| String::from_utf8_lossy(&column.value).into_owned();
    Ok(Some(kept.iter().map(text).collect()))
}
