//! What holds for the server as a whole: version, identity, settings, free slots.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::counters::POLL;
use super::error::TargetError;
use super::session::Session;
use super::slots::Slots;

/// What tells two servers, or two lives of one, apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Start of the postmaster, in microseconds since 1970 by the server's clock.
    pub started_us: i64,
    /// Of the cluster's files, shared by its replicas; absent where the role may not read it.
    pub system_identifier: Option<String>,
}

/// A server, as seen from a session on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `server_version`, for people.
    pub version: String,
    /// `server_version_num`, as 180004.
    pub version_num: u32,
    /// Whether the session reached the server itself: no pooler in between.
    pub direct: bool,
    /// Which server it is.
    pub identity: Identity,
    /// How many more sessions it takes.
    pub slots: Slots,
    /// Settings that differ from the built-in defaults, secrets left out.
    pub settings: BTreeMap<String, String>,
}

impl Facts {
    /// Asks the server.
    pub async fn read(session: &mut Session) -> Result<Self, TargetError> {
        let row =
            session.row(BASICS).await.map_err(|e| e.of("could not read the server's state"))?;
        let mut row = row.into_iter();
        let mut number =
            || -> i64 { row.next().flatten().and_then(|v| v.parse().ok()).unwrap_or(0) };
        let (version_num, backend_pid, started_us) = (number(), number(), number());
        let direct = i64::from(session.key_pid()) == backend_pid && backend_pid != 0;
        // Some services keep this function to themselves.
        let system_identifier = session
            .row("select system_identifier from pg_catalog.pg_control_system()")
            .await
            .ok()
            .and_then(|row| row.into_iter().next().flatten());
        let version_num = u32::try_from(version_num).unwrap_or(0);
        Ok(Self {
            version: session.server_version().to_owned(),
            version_num,
            direct,
            identity: Identity { started_us, system_identifier },
            slots: Slots::read(session, version_num).await?,
            settings: settings(session).await?,
        })
    }
}

impl Facts {
    /// Looks again until there is room for `clients` more sessions, at most for `patience`: those of an
    /// earlier run take a moment to go.
    pub async fn await_room(
        &mut self,
        session: &mut Session,
        clients: u64,
        patience: Duration,
    ) -> Result<(), TargetError> {
        let deadline = Instant::now() + patience;
        while self.slots.refuse(clients).is_some() && Instant::now() < deadline {
            tokio::time::sleep(POLL).await;
            self.slots = Slots::read(session, self.version_num).await?;
        }
        Ok(())
    }
}

const BASICS: &str = "select current_setting('server_version_num'), pg_catalog.pg_backend_pid(), \
    (extract(epoch from pg_catalog.pg_postmaster_start_time()) * 1000000)::bigint";

/// Settings of the server and of the role and database, but not what this session itself asked for.
async fn settings(session: &mut Session) -> Result<BTreeMap<String, String>, TargetError> {
    let rows = session
        .rows(
            "select name, pg_catalog.current_setting(name) from pg_catalog.pg_settings \
             where source not in ('default', 'override', 'client', 'session', 'interactive')",
        )
        .await
        .map_err(|e| e.of("could not read the server's settings"))?;
    let pairs = rows.into_iter().filter_map(|row| {
        let mut row = row.into_iter();
        Some((row.next()??, row.next()??))
    });
    Ok(pairs.filter(|(name, _)| !may_hold_a_secret(name)).collect())
}

/// Connection strings, shell commands and whatever an extension calls a key.
fn may_hold_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words =
        ["conninfo", "_command", "password", "passphrase", "secret", "token", "_key", "credential"];
    name != "password_encryption" && words.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_may_hold_a_secret_are_left_out() {
        for name in
            ["ssl_passphrase_command", "primary_conninfo", "archive_command", "my.API_token"]
        {
            assert!(may_hold_a_secret(name), "{name}");
        }
        for name in ["shared_buffers", "password_encryption", "max_connections", "work_mem"] {
            assert!(!may_hold_a_secret(name), "{name}");
        }
    }
}
